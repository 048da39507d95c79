// Builds the control channels: the data model, the sessions for routers, and the server.

import { ownVersionInfo } from '#wire/channel/version-info.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { Activity } from '../auth/activity.ts';
import { Lockouts } from '../auth/lockouts.ts';
import { Revocations } from '../auth/tokens/revocations.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { ControlContext } from '../control-channel/context.ts';
import { ControlServer } from '../control-channel/control-server.ts';
import { DataModelFeed } from '../control-channel/data-model/data-model-feed.ts';
import { ModelSets } from '../control-channel/data-model/model-sets.ts';
import { LegacySessions } from '../control-channel/legacy-sessions.ts';
import { PosturePeers } from '../control-channel/posture-peers.ts';
import { RouterDialer } from '../control-channel/router-dialer.ts';
import type { LabTraffic } from '../lab/lab-traffic.ts';
import type { Network } from '../network/network.ts';
import { Tokens } from '../pki/tokens.ts';
import { type Addresses, apiAddresses } from './addresses.ts';
import type { SimulatorContext } from './context.ts';
import type { Data } from './data.ts';
import type { Rules } from './rules.ts';

/** Milliseconds. */
const CHURN_LIMIT = 60_000;
const SESSION_LIFETIME = 30 * 60_000;

export interface Control {
  readonly server: ControlServer;
  readonly tokens: Tokens;
  readonly revocations: Revocations;
  readonly activity: Activity;
  readonly lockouts: Lockouts;
  /** Milliseconds. */
  readonly sessionLifetime: number;
  readonly dataModel: DataModelFeed;
  readonly routerDialer: RouterDialer | undefined;
}

interface ControlParts {
  readonly data: Data;
  readonly rules: Rules;
  readonly network: Network;
  readonly addresses: Addresses;
  readonly cluster: Cluster;
  readonly traffic: LabTraffic;
}

export function assembleControl(
  context: SimulatorContext,
  { data, rules, network, addresses, cluster, traffic }: ControlParts,
): Control {
  const { options, clock, wireClock, io, ids } = context;
  const { state, authority } = data;
  const { access, serviceChanges } = rules;
  const { baseUrl, controlAddress, controllerId } = addresses;
  const sets = context.own(new ModelSets(state, access, authority));
  const feed = context.own(new DataModelFeed({ state, sets, clock: wireClock }));
  const sessions = context.own(new LegacySessions(state, network, ids));
  const isLeader = () => cluster.isLeader;
  const revocations = context.own(new Revocations({ state, clock, log: context.logOf('revocations'), isLeader }));
  const tokens = new Tokens({
    authority,
    clock,
    issuer: baseUrl,
    issuers: () => cluster.membership.members.map((member) => member.baseUrl),
    controlAddresses: () => cluster.controlAddresses,
  });
  const sessionLifetime = options.sessionLifetime ?? SESSION_LIFETIME;
  const activity = context.own(
    new Activity({
      state,
      clock,
      log: context.logOf('api'),
      lifetime: sessionLifetime,
      isLeader,
    }),
  );
  const lockouts = context.own(new Lockouts(state, state.others && data.registry.attempts));
  const log = context.logOf('control');
  const shared = {
    state,
    access,
    serviceChanges,
    activity,
    sessionLifetime,
    authority,
    network,
    feed,
    sessions,
    tokens,
    revocations,
    cluster,
    clock,
    wireClock,
    io,
    log,
  };
  const control: ControlContext = { ...shared, controllerId, controlAddress };
  const server = context.own(
    new ControlServer(control, traffic.control, {
      version: ownVersionInfo(packageJson.version),
      apiAddresses: JSON.stringify(apiAddresses(baseUrl)),
      churnLimit: options.churnLimit ?? CHURN_LIMIT,
    }),
  );
  new PosturePeers({ posture: rules.posture, cluster, peers: server.peers, clock: wireClock, log });
  const routerDialer = options.dialRouters
    ? context.own(new RouterDialer(control, server, context.randomOf('dials')))
    : undefined;
  return { server, tokens, revocations, activity, lockouts, sessionLifetime, dataModel: feed, routerDialer };
}
