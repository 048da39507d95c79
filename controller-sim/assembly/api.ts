// Builds the HTTP APIs: components for logins, and the server.

import { IdentityJson } from '../api/edge/identity-json.ts';
import { serveMemberFaults } from '../api/lab/members.ts';
import { ApiServer } from '../api/server/server.ts';
import { DisabledIdentities } from '../auth/disabled-identities.ts';
import { CodeGuesses } from '../auth/second-factor/code-guesses.ts';
import { Jwks } from '../auth/tokens/jwks.ts';
import { UnstoredSessions } from '../auth/unstored-sessions.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { dashboardPages } from '../dashboard/pages.ts';
import type { Lab } from '../lab/lab.ts';
import type { LabToken } from '../lab/lab-token.ts';
import type { LabTraffic } from '../lab/lab-traffic.ts';
import type { Network } from '../network/network.ts';
import { DataIntegrity } from '../state/integrity.ts';
import { Snapshots } from '../state/snapshots.ts';
import type { Addresses } from './addresses.ts';
import type { SimulatorContext } from './context.ts';
import type { Control } from './control.ts';
import type { Data } from './data.ts';
import type { Observers } from './events.ts';
import { hasDashboard } from './options.ts';
import type { Rules } from './rules.ts';

export interface ApiParts {
  readonly data: Data;
  readonly rules: Rules;
  readonly network: Network;
  readonly observers: Observers;
  readonly control: Control;
  readonly addresses: Addresses;
  readonly cluster: Cluster;
  readonly lab: Lab;
  readonly traffic: LabTraffic;
  /** Undefined if the lab API is turned off. */
  readonly labToken: LabToken | undefined;
  /** Milliseconds. */
  readonly enrollmentLifetime: number;
}

/** Rejects with ConsoleError if the folder has no web console. */
export async function openApi(context: SimulatorContext, parts: ApiParts): Promise<ApiServer> {
  const { options, clock, wireClock, io } = context;
  const { state, authority, passwords, registry } = parts.data;
  const attempts = state.others && registry.attempts;
  const { network, cluster, lab, traffic, labToken, enrollmentLifetime } = parts;
  const { events, logins } = parts.observers;
  const { tokens, revocations, activity, sessionLifetime, lockouts, dataModel, routerDialer } = parts.control;
  const { baseUrl, controllerId, controlAddress } = parts.addresses;
  const log = context.logOf('api');
  context.own(new DisabledIdentities({ state, clock, log }));
  lab.snapshots.onRestored(() => lockouts.clear());
  const services = {
    ...parts.rules,
    state,
    authority,
    passwords,
    network,
    events,
    logins,
    tokens,
    revocations,
    dataModel,
    routerDialer,
    activity,
    identityJson: context.own(new IdentityJson(state, network)),
    lockouts,
    jwks: context.own(new Jwks({ clock, log })),
    codeGuesses: new CodeGuesses(clock, attempts),
    unstored: new UnstoredSessions(),
    integrity: new DataIntegrity(state, clock),
    snapshots: new Snapshots(state, clock, options.data),
    lab,
    tap: traffic.http,
    labToken,
    clock,
    wireClock,
    io,
    random: context.randomOf('api'),
    log,
    baseUrl,
    controllerId,
    controlAddress,
    cluster,
    peers: parts.control.server.peers,
    sessionLifetime,
    enrollmentLifetime,
  };
  if (cluster.isEnabled) serveMemberFaults(services);
  return context.own(
    await ApiServer.open(services, {
      console: options.console,
      pages: hasDashboard(options) ? dashboardPages() : [],
    }),
  );
}
