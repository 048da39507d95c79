// The simulator: builds the rooms in order, owns them, closes them in reverse order. In a test:
//
//   await using simulator = await startSimulator();
//   simulator.managementUrl, simulator.username, simulator.password, simulator.ca …

import { joinHostPort } from '#lib/address.ts';
import { SystemClock } from '#lib/clock.ts';
import { IdSource } from '#lib/ids.ts';
import { Listeners } from '#lib/listeners.ts';
import { silentLog } from '#lib/log.ts';
import { type Random, systemRandom } from '#lib/random.ts';
import { ownVersionInfo, PROTOCOL_VERSION } from '#wire/version-info.ts';
import packageJson from '../package.json' with { type: 'json' };
import { Access } from './access/access.ts';
import { ServiceChanges } from './access/service-changes.ts';
import { ShownIdentities } from './api/edge/identity-texts.ts';
import { CONSOLE_PATH } from './api/server/console.ts';
import { ApiServer } from './api/server/server.ts';
import { checkSimulatorOptions, type SimulatorOptions } from './assembly/options.ts';
import { adminUsername, hasAdmin, seedBuiltIns, setAdmin } from './assembly/seed.ts';
import { Activity } from './auth/activity.ts';
import { DisabledIdentities } from './auth/disabled-identities.ts';
import { Jwks } from './auth/jwks.ts';
import { Lockouts } from './auth/lockouts.ts';
import type { LoginAttempt } from './auth/login-attempt.ts';
import { Passwords } from './auth/passwords.ts';
import { Revocations } from './auth/revocations.ts';
import { CodeGuesses } from './auth/second-factor/code-guesses.ts';
import type { ControlContext } from './control-channel/context.ts';
import { ControlServer } from './control-channel/control-server.ts';
import { DataModelFeed } from './control-channel/data-model/data-model-feed.ts';
import { ModelSets } from './control-channel/data-model/model-sets.ts';
import { LegacySessions } from './control-channel/legacy-sessions.ts';
import { RouterDialer } from './control-channel/router-dialer.ts';
import { Events } from './events/events.ts';
import { openSink } from './events/sinks.ts';
import { EventSources } from './events/sources.ts';
import { Listener } from './listener/listener.ts';
import { Network } from './network/network.ts';
import { Authority } from './pki/authority.ts';
import { Tokens } from './pki/tokens.ts';
import { Posture } from './posture/posture.ts';
import { SessionRights } from './posture/session-rights.ts';
import { DataIntegrity } from './state/integrity.ts';
import { Snapshots } from './state/snapshots.ts';
import { State } from './state/state.ts';
import { MemoryStore } from './state/store/memory-store.ts';
import { SqliteStore, StoreError } from './state/store/sqlite-store.ts';
import { DamagedError } from './state/store/store.ts';

export type { SimulatorOptions } from './assembly/options.ts';

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];
const MINUTE = 60_000;
const DEFAULTS = { churnLimit: MINUTE, sessionLifetime: 30 * MINUTE, enrollmentLifetime: 180 * MINUTE };
const Meta = { Port: 'listener.port', ControllerId: 'controller.id' } as const;
const PASSWORD_BYTES = 12;

export class Simulator {
  readonly port: number;
  /** `https://host:port`. */
  readonly baseUrl: string;
  readonly managementUrl: string;
  readonly clientUrl: string;
  /** Where the web console is, if there is one. */
  readonly consoleUrl: string | undefined;
  /** `tls:host:port`, for routers. */
  readonly controlAddress: string;
  readonly username: string;
  /** Undefined when older data keeps its password, which only its hash is known of. */
  readonly password: string | undefined;
  /** PEM: what clients and routers are to trust. */
  readonly ca: string;
  readonly controllerId: string;
  /** What happens, for whoever subscribes. */
  readonly events: Events;
  readonly #owned: AsyncDisposableStack;

  constructor(facts: Omit<Simulator, 'close' | typeof Symbol.asyncDispose>, owned: AsyncDisposableStack) {
    this.port = facts.port;
    this.baseUrl = facts.baseUrl;
    this.managementUrl = facts.managementUrl;
    this.clientUrl = facts.clientUrl;
    this.consoleUrl = facts.consoleUrl;
    this.controlAddress = facts.controlAddress;
    this.username = facts.username;
    this.password = facts.password;
    this.ca = facts.ca;
    this.controllerId = facts.controllerId;
    this.events = facts.events;
    this.#owned = owned;
  }

  /** Closes every connection, then the store. A second call does nothing. */
  async close(): Promise<void> {
    await this.#owned.disposeAsync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Resolves once everything is served. Rejects with OptionError for unknown or wrong options, with the system's error for a port that is taken,
 * with StoreError for a bad data file.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  checkSimulatorOptions(options);
  const owned = new AsyncDisposableStack();
  try {
    return await build(options, owned);
  } catch (error) {
    await owned.disposeAsync();
    if (!(error instanceof DamagedError)) throw error;
    const remedy = 'start from a snapshot, or repair or delete the row';
    throw new StoreError(`${options.data} is damaged: ${error.message}; ${remedy}`, { cause: error.cause });
  }
}

async function build(options: SimulatorOptions, owned: AsyncDisposableStack): Promise<Simulator> {
  const { clock = new SystemClock(), random = systemRandom, log = silentLog, data } = options;
  const ids = new IdSource(random);
  const store = data === undefined ? new MemoryStore() : SqliteStore.open(data);
  owned.defer(() => store.close());
  const state = await State.open({ store, clock, ids, log: log.child({ component: 'state' }) });
  owned.defer(() => state.close());
  const limits = { cost: options.passwordCost, waiting: options.passwordsWaiting };
  const passwords = new Passwords({ clock, random, ...limits });
  owned.defer(() => passwords.close());
  // A password hash and a key: both are made in threads of their own.
  const [admin, authority] = await Promise.all([
    prepare(state, passwords, options, random),
    Authority.open({ state, clock, random }, [...LOOPBACK, ...(options.advertise ?? [])]),
  ]);
  const access = new Access(state);
  owned.defer(() => access.close());

  const serviceChanges = new ServiceChanges({ state, access, clock });
  owned.defer(() => serviceChanges.close());
  const posture = new Posture({ state, access, clock });
  owned.defer(() => posture.close());
  const rights = new SessionRights({ state, access, posture, log: log.child({ component: 'posture' }) });
  owned.defer(() => rights.close());
  const unsubscribe = posture.subscribe((identityId) => serviceChanges.touch(identityId));
  owned.defer(unsubscribe);

  const listener = await Listener.open(
    {
      host: options.host ?? '127.0.0.1',
      port: rememberedPort(state, options.port),
      log: log.child({ component: 'listener' }),
    },
    authority,
  );
  owned.defer(() => listener.close());
  const address = joinHostPort(options.advertise?.[0] ?? '127.0.0.1', listener.port);
  const baseUrl = `https://${address}`;
  const controlAddress = `tls:${address}`;
  const controllerId = state.meta(Meta.ControllerId) ?? `ctrl-${ids.short()}`;
  await state.putMeta(
    new Map([
      [Meta.Port, String(listener.port)],
      [Meta.ControllerId, controllerId],
    ]),
  );

  const network = new Network(
    { state, clock, ids, random, log: log.child({ component: 'network' }) },
    { linkVersion: options.linkVersion },
  );
  owned.defer(() => network.close());
  const events = new Events(log.child({ component: 'events' }));
  owned.defer(() => events.close());
  const logins = new Listeners<LoginAttempt>('logins', log.child({ component: 'api' }));
  const sources = new EventSources({ state, network, events, logins, clock, ids, controllerId });
  owned.defer(() => sources.close());
  if (options.eventsFile !== undefined) {
    const sink = {
      file: options.eventsFile,
      namespaces: options.eventTypes ?? [],
    };
    owned.use(await openSink(events, sink, { log: log.child({ component: 'events' }), clock }));
  }
  const sets = new ModelSets(state, access, authority);
  owned.defer(() => sets.close());
  const feed = new DataModelFeed({ state, sets, clock });
  owned.defer(() => feed.close());
  const sessions = new LegacySessions(state, network, ids);
  owned.defer(() => sessions.close());
  const revocations = new Revocations({ state, clock, log: log.child({ component: 'revocations' }) });
  owned.defer(() => revocations.close());
  const tokens = new Tokens({ authority, clock, issuer: baseUrl, controlAddress });
  const context: ControlContext = {
    state,
    access,
    authority,
    network,
    feed,
    sessions,
    tokens,
    revocations,
    clock,
    controllerId,
    controlAddress,
    log: log.child({ component: 'control' }),
    unverified: new Map(),
  };
  const control = new ControlServer(context, {
    version: ownVersionInfo(packageJson.version),
    apiAddresses: apiAddresses(baseUrl),
    churnLimit: options.churnLimit ?? DEFAULTS.churnLimit,
  });
  owned.defer(() => control.close());
  if (options.dialRouters) {
    const dialer = new RouterDialer(context, control, random);
    owned.defer(() => dialer.close());
  }
  const apiLog = log.child({ component: 'api' });
  const sessionLifetime = options.sessionLifetime ?? DEFAULTS.sessionLifetime;
  const activity = new Activity({ state, clock, log: apiLog, lifetime: sessionLifetime });
  owned.defer(() => activity.close());
  const shownIdentities = new ShownIdentities(state, network);
  owned.defer(() => shownIdentities.close());
  const disabled = new DisabledIdentities({ state, clock, log: apiLog });
  owned.defer(() => disabled.close());
  const lockouts = new Lockouts(state);
  owned.defer(() => lockouts.close());
  const jwks = new Jwks({ clock, log: apiLog });
  owned.defer(() => jwks.close());
  const services = {
    state,
    access,
    authority,
    passwords,
    lockouts,
    codeGuesses: new CodeGuesses(clock),
    revocations,
    jwks,
    activity,
    posture,
    serviceChanges,
    network,
    shownIdentities,
    events,
    logins,
    integrity: new DataIntegrity(state, clock),
    snapshots: new Snapshots(state, clock, data),
    clock,
    random,
    baseUrl,
    controllerId,
    isClusterMember: options.cluster ?? false,
    controlAddress,
    tokens,
    log: apiLog,
    sessionLifetime,
    enrollmentLifetime: options.enrollmentLifetime ?? DEFAULTS.enrollmentLifetime,
  };
  const api = await ApiServer.open(services, options.console);
  owned.defer(() => api.close());
  listener.serve({ http: (socket, connection) => api.accept(socket, connection), control: control.accept });
  if (options.cluster)
    sources.tellLeadership({
      id: controllerId,
      addr: controlAddress,
      version: PROTOCOL_VERSION,
      apiAddresses: JSON.parse(apiAddresses(baseUrl)) as unknown,
    });
  const managementUrl = `${baseUrl}/edge/management/v1`;
  const clientUrl = `${baseUrl}/edge/client/v1`;
  return new Simulator(
    {
      port: listener.port,
      baseUrl,
      managementUrl,
      clientUrl,
      consoleUrl: options.console === undefined ? undefined : `${baseUrl}${CONSOLE_PATH}`,
      controlAddress,
      ...admin,
      ca: authority.bundle,
      controllerId,
      events,
    },
    owned,
  );
}

/** Fills what is missing, and settles who the administrator is. */
async function prepare(
  state: State,
  passwords: Passwords,
  options: SimulatorOptions,
  random: Random,
): Promise<{ username: string; password: string | undefined }> {
  await seedBuiltIns(state);
  const known = adminUsername(state);
  const username = options.username ?? known ?? 'admin';
  const password =
    options.password ?? (hasAdmin(state) ? undefined : random.bytes(PASSWORD_BYTES).toString('base64url'));
  if (password !== undefined || username !== known) await setAdmin(state, passwords, username, password);
  return { username, password };
}

/** Routers remember where they found their controller: a simulator that comes back is there again. */
function rememberedPort(state: State, wanted: number | undefined): number {
  if (wanted !== undefined && wanted !== 0) return wanted;
  const remembered = state.meta(Meta.Port) ?? '0';
  if (!/^\d{1,5}$/.test(remembered)) throw new DamagedError('meta', Meta.Port, 'the value is not a port');
  return Number(remembered);
}

function apiAddresses(baseUrl: string): string {
  const at = (path: string) => [{ url: `${baseUrl}${path}`, version: 'v1' }];
  return JSON.stringify({
    'edge-client': at('/edge/client/v1'),
    'edge-management': at('/edge/management/v1'),
    'edge-oidc': at('/oidc'),
  });
}
