// The router: builds its rooms in the order of the data flow, owns them, and closes them in reverse order.
//
//   config, identity ─► controllers ─► circuits ─► links ─► health ─► ingress ─► web, inspection, reports

import { ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { LogLevels } from '#lib/log/log-levels.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { checkOptions, port as isPort, notEmpty, type OptionCheck } from '#lib/options.ts';
import { type Random, systemRandom } from '#lib/random.ts';
import { count } from '#lib/text/count.ts';
import { type Clock, SystemClock } from '#lib/time/clock.ts';
import { assembleCircuits, type Circuits, serveRoutes } from './assembly/circuits.ts';
import { RouterContext } from './assembly/context.ts';
import { assembleControllers, type OpenListeners, openControlListeners } from './assembly/controllers.ts';
import { type Ingress, openIngress, usesModel } from './assembly/ingress.ts';
import { assembleInspections } from './assembly/inspections.ts';
import { openIoThreads } from './assembly/io-threads.ts';
import { assembleLinks, type Links, linkListenerOpener, type OpenLinkListener } from './assembly/links.ts';
import { managedLinks } from './assembly/managed-links.ts';
import {
  assembleHealth,
  type Debugging,
  openApiProxy,
  openDebugging,
  openIdleMemory,
  openRenewal,
  openReports,
  openWeb,
} from './assembly/operations.ts';
import { openOperator } from './assembly/operator.ts';
import { peersOf } from './assembly/peers.ts';
import { TlsPorts } from './assembly/tls-ports.ts';
import type { RouterConfig } from './config/router-config.ts';
import { isServed } from './config/unserved.ts';
import type { ClusterView } from './control/cluster-view.ts';
import type { Controllers } from './control/controllers.ts';
import { recordPath } from './control/endpoints-file.ts';
import { Drain } from './drain/drain.ts';
import { QuiesceMarker } from './drain/quiesce-marker.ts';
import type { Health } from './health/health.ts';
import { Identity } from './identity/identity.ts';
import type { CertificateRenewal } from './identity/renewal.ts';
import { ProxyModeError } from './ingress/tunnel/tunneler.ts';
import type { RouterDescription } from './interface/description.ts';
import type { CloseOptions, ProxyOptions, Router as RunningRouter } from './interface/router.ts';
import { ManagedConfig } from './managed/managed-config.ts';
import { PROGRAM_VERSION } from './version.ts';
import type { ApiProxy } from './web/api-proxy.ts';
import type { WebServer } from './web/web-server.ts';

export interface RouterOptions {
  config: RouterConfig;
  log: Log;
  /** Levels of `log`, which operators may change. */
  logLevels?: LogLevels;
  clock?: Clock;
  /** Shared by the connections of the router; default: a context of its own. */
  io?: IoContext;
  /** The time of day by which certificates are renewed, if tests move it; default: `clock`. */
  calendar?: Clock;
  random?: Random;
  /** Renew the certificates at once, regardless of their remaining validity. */
  extend?: boolean;
  /**
   * The process belongs to the router: while idle, it collects garbage and returns memory to the system. A router in
   * another program leaves both to that program.
   */
  ownsProcess?: boolean;
}

/** No controller was reached within ctrl.startupTimeout. */
export class StartupTimeoutError extends ProjectError {
  constructor(milliseconds: number) {
    super('STARTUP_TIMEOUT', `no controller could be reached within ${milliseconds} ms (ctrl.startupTimeout)`);
  }
}

/** Milliseconds that open circuits get to finish when the router stops. */
const DRAIN_TIME = 10_000;
const CLOSE_CHECKS: Readonly<Record<keyof CloseOptions, OptionCheck>> = {
  drain: (value) =>
    typeof value === 'number' && value >= 0 ? undefined : 'It must be a number of milliseconds, at least 0.',
  hurry: (value) => (value instanceof AbortSignal ? undefined : 'It must be an AbortSignal.'),
};
const PROXY_CHECKS: Readonly<Record<keyof ProxyOptions, OptionCheck>> = {
  host: notEmpty,
  port: isPort,
};

export class Router implements RunningRouter {
  /** Never rejects: resolves with the reason if the router cannot continue. */
  readonly failed: Promise<Error>;
  /** Resolves when the controller has deleted the router at an operator's request: close it then. */
  readonly decommissioned: Promise<void>;
  readonly #context: RouterContext;
  readonly #debugging: Debugging;
  readonly #ports: TlsPorts;
  readonly #listeners: OpenListeners = { link: [], control: [] };
  readonly #controllers: Controllers;
  readonly #cluster: ClusterView;
  readonly #circuits: Circuits;
  readonly #links: Links;
  readonly #health: Health;
  #ingress: Ingress = {
    edgeListeners: [],
    fabricListeners: [],
    tunneler: undefined,
    sdk: undefined,
    terminators: undefined,
    model: undefined,
  };
  #webServers: readonly WebServer[] = [];
  #apiProxy: ApiProxy | undefined;
  #drain: Drain | undefined;
  #renewal: CertificateRenewal | undefined;
  #closing: Promise<void> | undefined;
  readonly #fail: (error: Error) => void;
  readonly #onDecommissioned: () => void;

  private constructor(context: RouterContext, debugging: Debugging) {
    const { config, identity } = context;
    this.#context = context;
    this.#debugging = debugging;
    const [failed, decommissioned] = [Promise.withResolvers<Error>(), Promise.withResolvers<void>()];
    this.failed = failed.promise;
    this.#fail = failed.resolve;
    this.decommissioned = decommissioned.promise;
    this.#onDecommissioned = decommissioned.resolve;
    const { handshakeTimeout } = config.tls;
    this.#ports = new TlsPorts({ io: context.io, identity, log: context.component('tls'), handshakeTimeout });
    context.own(this.#ports);
    const { controllers, cluster } = assembleControllers(context, this.#listeners);
    this.#controllers = controllers;
    this.#cluster = cluster;
    this.#circuits = assembleCircuits(context, this.#controllers);
    this.#links = assembleLinks(context, this.#controllers, this.#circuits);
    this.#health = assembleHealth(context, this.#controllers, this.#links);
  }

  /**
   * Starts all parts that do not need a controller, starts to dial controllers, and resolves. Rejects if the router
   * cannot start.
   */
  static async start(options: RouterOptions): Promise<Router> {
    const {
      config,
      log,
      logLevels,
      clock = new SystemClock(),
      calendar,
      random,
      extend = false,
      ownsProcess = false,
    } = options;
    const owned = new AsyncDisposableStack();
    try {
      const identity = await Identity.open({ config: config.identity, clock, log, watch: true });
      owned.defer(() => identity.close());
      const threads = openIoThreads(config, { clock, log, ownsProcess });
      if (threads) owned.defer(() => threads.close());
      const io = options.io ?? new IoContext({ clock, threads });
      const context = new RouterContext({
        ...{ config, log, clock, io, calendar, identity, owned },
        random: random ?? systemRandom,
      });
      const router = new Router(context, await openDebugging(context));
      await router.#open(extend, logLevels);
      openIdleMemory(context, ownsProcess);
      return router;
    } catch (error) {
      await owned.disposeAsync();
      throw error;
    }
  }

  get id(): string {
    return this.#context.routerId;
  }

  /** The state of the router in one line: `1 controller, 2 links, 40 circuits`. */
  get summary(): string {
    const circuits = this.#circuits.forwarder.circuits.size;
    const parts = [
      count(this.#controllers.all.length, 'controller'),
      count(this.#links.registry.links.length, 'link'),
      count(circuits, 'circuit'),
    ];
    if (this.#drain?.status.state === 'draining') parts.push('drains');
    return parts.join(', ');
  }

  /**
   * Listens for a service (TCP) and dials it for each client, until the router closes. @returns the port; `port` 0: a
   * free one. Rejects with OptionError, with ListenError for a port in use, and with ProxyModeError for a router that
   * listens for none.
   */
  async openProxy(service: string, options: ProxyOptions = {}): Promise<number> {
    checkOptions('openProxy', options, PROXY_CHECKS);
    const { host = '127.0.0.1', port = 0 } = options;
    const { tunneler } = this.#ingress;
    if (!tunneler) throw new ProxyModeError();
    return tunneler.openProxy(service, host, port);
  }

  /** The state of all rooms, for people and for diagnostics. */
  describe(): RouterDescription {
    const { clock } = this.#context;
    const { forwarder, ends } = this.#circuits;
    const { registry, wanted } = this.#links;
    const { edgeListeners, fabricListeners, tunneler, sdk, terminators, model } = this.#ingress;
    const { main, threads } = this.#context.threads.inspect();
    return {
      id: this.id,
      version: PROGRAM_VERSION,
      controllers: this.#controllers.all.map(({ id, address, isResponsive, latency }) => ({
        id,
        address,
        isResponsive,
        latencyMs: latency / 1e6,
      })),
      notConnected: this.#controllers.notConnected.map(({ id, endpoints, problem }) => ({ id, endpoints, ...problem })),
      links: registry.links.map(({ id, peerId, dialed, iteration, connections }) => ({
        id,
        peerId,
        dialed,
        iteration,
        connections,
      })),
      wantedLinks: wanted.describe(),
      notDialed: wanted.notDialed(),
      circuits: forwarder.circuits.size,
      circuitEnds: ends.count,
      terminators: terminators?.describe() ?? [],
      linkListeners: this.#listeners.link.map(({ settings: { bind, advertise } }) => ({ bind, advertise })),
      controlListeners: this.#listeners.control.map(({ settings: { bind, advertise } }) => ({ bind, advertise })),
      edgeListeners: edgeListeners.map(({ config }) => config.options.advertise),
      sdkClients: sdk?.clients.count ?? 0,
      hostedHealth: tunneler?.health ?? [],
      proxies: tunneler?.proxies ?? [],
      interception: tunneler?.interception,
      mainThread: main,
      threads,
      fabricListeners: fabricListeners.map(({ binding, port }) => ({ binding, port })),
      web: this.#webServers.flatMap((server) => server.addresses),
      apiProxy: this.#apiProxy?.address,
      healthy: this.#health.healthy,
      starting: this.#health.starting,
      drain: this.#drain?.status,
      closing: this.#closing !== undefined,
      renewing: this.#renewal?.isRenewing ?? false,
      dataModel: model && { index: Number(model.index), timeline: model.timeline },
      timers: clock.timers(),
    };
  }

  /** The bytes in both directions of each circuit whose client is at this router, since it opened; by circuit id. */
  circuitBytes(): Map<string, number> {
    return this.#circuits.ends.carried();
  }

  /**
   * Stops: rejects new circuits, closes listeners, waits for open circuits for `drain` milliseconds or until `hurry`
   * aborts, then closes all rooms. A second call waits for the first. Rejects with OptionError.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkOptions('close', options, CLOSE_CHECKS);
    const { drain = DRAIN_TIME, hurry } = options;
    this.#closing ??= this.#close(drain, hurry);
    await this.#closing;
  }

  /**
   * Loads the certificates again and continues in a new trace file; open channels keep their certificates. Rejects if
   * the certificates are unusable; the old ones stay in use then.
   */
  async reload(): Promise<void> {
    this.#debugging.reopen();
    await this.#context.reloadIdentities();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(drain: number, hurry: AbortSignal | undefined): Promise<void> {
    const { log, owned } = this.#context;
    const { ends } = this.#circuits;
    log.info({ routerId: this.id, circuits: ends.count }, 'router is stopping');
    this.#drain?.stop();
    this.#ingress.tunneler?.closeListeners();
    for (const listener of this.#ingress.edgeListeners) listener.close();
    for (const listener of this.#ingress.fabricListeners) listener.close();
    for (const listener of this.#listeners.link) listener.close();
    await ends
      .whenEmpty(drain, hurry)
      .catch(() => log.info({ circuits: ends.count }, 'router stops waiting for circuits'));
    ends.cut();
    await this.#drain?.close();
    await owned.disposeAsync();
    log.info({ routerId: this.id }, 'router stopped');
  }

  async #open(extend: boolean, logLevels: LogLevels | undefined): Promise<void> {
    const context = this.#context;
    const controllers = this.#controllers;
    const circuits = this.#circuits;
    const links = this.#links;
    serveRoutes(context, controllers, circuits, (linkId) => links.reporter.missing(linkId));
    await openControlListeners(context, controllers, this.#listeners, this.#ports);
    const openLinkListener = linkListenerOpener(context, controllers, links, this.#ports, this.#listeners.link);
    for (const [index, listener] of context.config.link.listeners.entries())
      if (isServed(listener.bind)) await openLinkListener(listener, `link.listeners[${index}]`);
    const peers = () => peersOf(context.config, controllers, links);
    this.#ingress = await openIngress(context, { controllers, cluster: this.#cluster, peers }, circuits, this.#ports);
    const managed = this.#followManagedConfig(openLinkListener);
    const drain = this.#assembleDrain();
    const { terminators, model } = this.#ingress;
    const rooms = { health: this.#health, controllers, links, terminators, model };
    this.#webServers = await openWeb(context, rooms, this.#ports);
    this.#apiProxy = await openApiProxy(context, this.#ports);
    const reporter = openReports(context, controllers, circuits, links);
    const describe = () => this.describe();
    const inspected = { controllers, circuits, links, ingress: this.#ingress, reporter, managed, describe };
    const inspections = assembleInspections(context, inspected);
    await openOperator(context, {
      controllers,
      drain,
      logLevels,
      inspections,
      links,
      linkListeners: this.#listeners.link,
      ingress: this.#ingress,
      health: this.#health,
      onDecommissioned: this.#onDecommissioned,
      channels: () => this.#channels(),
    });
    this.#renewal = openRenewal(context, controllers, extend);
    await controllers.start();
    this.#watchStartup();
    this.#debugging.started();
    context.log.info({ routerId: this.id, version: PROGRAM_VERSION, config: context.config.file }, 'router started');
  }

  /** Names of the open channels. */
  #channels(): string[] {
    return [
      ...this.#controllers.all.map(({ channel }) => channel.name),
      ...this.#links.registry.links.map(({ id }) => `link ${id}`),
      ...(this.#ingress.sdk?.clients.channelNames() ?? []),
    ];
  }

  /** Undefined for a router without a data model, which cannot receive configuration. */
  #followManagedConfig(open: OpenLinkListener): ManagedConfig | undefined {
    const context = this.#context;
    const { config, routerId } = context;
    const { model } = this.#ingress;
    if (!model || !usesModel(config)) return undefined;
    const subsystem = managedLinks(context, {
      controllers: this.#controllers,
      links: this.#links,
      listeners: this.#listeners.link,
      open,
      closePorts: () => this.#ports.closeUnused(),
    });
    const log = context.component('managed-config');
    const managed = context.own(new ManagedConfig({ log, model, routerId }, subsystem, config.managedConfig.allow));
    return managed;
  }

  #assembleDrain(): Drain {
    const context = this.#context;
    const { ends, forwarder } = this.#circuits;
    const { terminators } = this.#ingress;
    this.#drain = new Drain({
      clock: context.clock,
      log: context.component('drain'),
      controllers: this.#controllers,
      ends,
      terminators,
      circuits: () => forwarder.circuits.size,
      marker: new QuiesceMarker(recordPath(context.config, this.id, 'quiesced'), context.component('drain')),
      onChange: (isDraining) => {
        context.isDraining = isDraining;
      },
    });
    return this.#drain;
  }

  #watchStartup(): void {
    const { config, clock, owned } = this.#context;
    const { startupTimeout } = config.ctrl;
    if (startupTimeout <= 0) return;
    const timer = clock.after('startup timeout', startupTimeout, () => {
      if (!this.#controllers.everConnected) this.#fail(new StartupTimeoutError(startupTimeout));
    });
    this.#controllers.onConnect(() => timer.cancel());
    owned.defer(() => timer.cancel());
  }
}
