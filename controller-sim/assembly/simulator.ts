// The simulator: builds the rooms in order, owns them, closes them in reverse order.
//
//   data ─► rules ─► listener ─► network ─► events ─► lab ─► control channels ─► APIs
//
// In a test:
//
//   await using simulator = await startSimulator();
//   simulator.managementUrl, simulator.username, simulator.password, simulator.ca …

import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { OptionError } from '#lib/options.ts';
import { atOnce } from '#lib/slices.ts';
import { validateBody } from '../api/bodies/validate.ts';
import { CONSOLE_PATH } from '../api/server/console.ts';
import { openClient } from '../client/api-client.ts';
import { Cluster } from '../cluster/cluster.ts';
import { DASHBOARD_PATH } from '../dashboard/pages.ts';
import type { Events } from '../events/events.ts';
import type { Simulator as PublicSimulator } from '../interface/simulator.ts';
import { Lab } from '../lab/lab.ts';
import { LabToken } from '../lab/lab-token.ts';
import { LabTraffic } from '../lab/lab-traffic.ts';
import { MAX_JSON_BYTES } from '../lab/seed/max-size.ts';
import { Network } from '../network/network.ts';
import type { State } from '../state/state.ts';
import { DamagedError, StoreError } from '../state/store/store.ts';
import { type Addresses, openListener } from './addresses.ts';
import { openApi } from './api.ts';
import { SimulatorContext } from './context.ts';
import { assembleControl, type Control } from './control.ts';
import { type Data, openData } from './data.ts';
import { assembleEvents } from './events.ts';
import {
  areProxiesHidden,
  checkSimulatorOptions,
  hasDashboard,
  isPredictableForOthers,
  proxyPlace,
  type SimulatorOptions,
} from './options.ts';
import { assembleRules, type Rules } from './rules.ts';

export type { SimulatorOptions } from './options.ts';

/** Milliseconds. */
const DEFAULTS = { enrollmentLifetime: 180 * 60_000 };

/** A simulator with the parts that programs do not see. */
export interface Simulator extends PublicSimulator {
  readonly events: Events;
  readonly lab: Lab;
}

/**
 * Resolves once every port serves. Rejects with OptionError for unknown or invalid options, with the system's error for
 * a port in use, with StoreError for an invalid data file.
 *
 * @param io Shared by its connections; default: a context of its own.
 */
export async function startSimulator(options: SimulatorOptions = {}, io?: IoContext): Promise<Simulator> {
  checkSimulatorOptions(options);
  const owned = new AsyncDisposableStack();
  try {
    return await build(options, owned, io);
  } catch (error) {
    await owned.disposeAsync();
    if (!(error instanceof DamagedError)) throw error;
    const remedy = 'start from a snapshot, or repair or delete the row';
    throw new StoreError(`${options.data ?? 'the store'} is damaged: ${error.message}; ${remedy}`, {
      cause: error.cause,
    });
  }
}

async function build(
  options: SimulatorOptions,
  owned: AsyncDisposableStack,
  io: IoContext | undefined,
): Promise<Simulator> {
  const context = new SimulatorContext(options, owned, io);
  if (isPredictableForOthers(options)) warnOfSeed(context);
  const data = await openData(context);
  const rules = assembleRules(context, data.state);
  const addresses = await openListener(context, data);
  const cluster = await joinCluster(context, data, addresses);
  const network = openNetwork(context, data.state);
  const observers = assembleEvents(context, { state: data.state, network, addresses, cluster });
  const traffic = openTraffic(context, data.state, network);
  const control = assembleControl(context, { data, rules, network, addresses, cluster, traffic });
  const enrollmentLifetime = options.enrollmentLifetime ?? DEFAULTS.enrollmentLifetime;
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= owned.disposeAsync());
  const lab = openLab(context, { data, rules, control, network, traffic, cluster, enrollmentLifetime, close });
  const labToken = options.lab === false ? undefined : new LabToken(context.randomOf('lab'), options.labToken);
  const api = await openApi(context, {
    data,
    rules,
    network,
    observers,
    control,
    addresses,
    cluster,
    lab,
    traffic,
    labToken,
    enrollmentLifetime,
  });
  const seed = await readSeed(options, lab);
  const seeded = await data.storeAdmin((transaction) => seed && atOnce(seed(transaction)));
  data.started();
  if (data.isAdminReplaced) warnOfOthers(context, cluster);
  if (seeded) context.logOf('lab').info({ ...seeded }, 'network seeded');
  lab.snapshots.takeStart();
  addresses.listener.serve({
    http: (socket, connection) => api.accept(socket, connection),
    control: control.server.accept,
  });
  await lab.clock.followOthers();
  observers.reportCluster();
  const { listener, baseUrl, controlAddress, controllerId } = addresses;
  const ca = data.authority.bundle;
  return {
    port: listener.port,
    baseUrl,
    managementUrl: `${baseUrl}/edge/management/v1`,
    clientUrl: `${baseUrl}/edge/client/v1`,
    consoleUrl: options.console === undefined ? undefined : `${baseUrl}${CONSOLE_PATH}`,
    dashboardUrl: hasDashboard(options) ? `${baseUrl}${DASHBOARD_PATH}` : undefined,
    labUrl: labToken && `${baseUrl}/lab/v1`,
    labToken: labToken?.value,
    controlAddress,
    ...data.admin,
    ca,
    controllerId,
    admin: context.own(openClient('management', { baseUrl, ca, ...data.admin })),
    events: observers.events,
    lab,
    seeded,
    reopenEventsFile: observers.reopenFile,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The seed is a small number: everybody can start a simulator with each, and compare the first id. */
function warnOfSeed(context: SimulatorContext): void {
  const { host, advertise } = context.options;
  context
    .logOf('listener')
    .warn(
      { host, advertise },
      'with a seed of random values, other machines can predict the tokens, generated passwords and secrets, also that of the administrator and of the lab; start without --seed-random (seedRandom), or listen on loopback only',
    );
}

/** Two networks may have got one database by mistake. */
function warnOfOthers(context: SimulatorContext, { connectedOthers: controllers }: Cluster): void {
  if (controllers.length > 0)
    context
      .logOf('store')
      .warn(
        { controllers },
        'this start has replaced the administrator of a network with running controllers; a network of its own needs a database of its own',
      );
}

async function joinCluster(context: SimulatorContext, data: Data, addresses: Addresses): Promise<Cluster> {
  const { options, clock } = context;
  const { registry, authority } = data;
  const { controllerId: id, controlAddress, baseUrl } = addresses;
  const self = { id, controlAddress, baseUrl, certPem: authority.listenerCertificate };
  const isEnabled = options.cluster === true || options.store !== undefined;
  return context.own(await Cluster.join({ registry, isEnabled, clock, log: context.logOf('cluster') }, self));
}

function openNetwork(context: SimulatorContext, state: State): Network {
  const { options, clock, ids } = context;
  const random = context.randomOf('network');
  const components = { state, clock, ids, random, log: context.logOf('network') };
  return context.own(new Network(components, { linkVersion: options.linkVersion }));
}

function openTraffic(context: SimulatorContext, state: State, network: Network): LabTraffic {
  const { clock, wireClock, io, options } = context;
  const random = context.randomOf('faults');
  const { proxyRouters = false, proxyTargets: targets = [] } = options;
  const log = context.logOf('lab');
  const { host: proxyHost, name: host } = proxyPlace(options);
  if (areProxiesHidden(options))
    log.warn({ proxyHost }, 'routers and clients of other machines do not reach the proxies; see --proxy-host');
  const init = { state, clock, wireClock, io, random, network, log, proxyHost };
  return context.own(new LabTraffic({ ...init, ...(proxyRouters && { ofRouters: { targets, host } }) }));
}

interface LabParts {
  readonly data: Data;
  readonly rules: Rules;
  readonly control: Control;
  readonly network: Network;
  readonly traffic: LabTraffic;
  readonly cluster: Cluster;
  readonly enrollmentLifetime: number;
  readonly close: () => Promise<void>;
}

function openLab(context: SimulatorContext, { data, rules, control, ...parts }: LabParts): Lab {
  const { state, passwords, authority } = data;
  const { tokens, activity, lockouts, sessionLifetime, dataModel } = control;
  const { clock, wireClock } = context;
  const sessions = { tokens, activity, sessionLifetime };
  const access = { peers: control.server.peers, log: context.logOf('lab') };
  return context.own(
    new Lab({
      ...rules,
      ...parts,
      ...sessions,
      ...access,
      dataModel,
      lockouts,
      state,
      passwords,
      authority,
      clock,
      wireClock,
      validateBody,
    }),
  );
}

/**
 * The change that seeds the network. Rejects with SeedError for mistakes in it, or OptionError for an unreadable file.
 */
async function readSeed({ seed }: SimulatorOptions, lab: Lab) {
  if (seed === undefined) return undefined;
  if (typeof seed !== 'string') return lab.prepareSeed(seed);
  return lab.prepareSeed(readSeedFile(seed), { file: seed });
}

function readSeedFile(file: string): string {
  try {
    return readTextFileSync(file, MAX_JSON_BYTES);
  } catch (error) {
    throw new OptionError(readProblem(file, error));
  }
}
