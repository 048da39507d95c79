// The router: builds its rooms in the order in which data enters and leaves, owns them, and closes them in reverse.
//
//   config, identity ─► controllers ─► links ─► forwarder ─► circuit ends ─► tunneler, edge listeners ─► health, metrics, web

import { formatAddress } from '#lib/address.ts';
import type { Clock, Timer } from '#lib/clock.ts';
import { SystemClock } from '#lib/clock.ts';
import type { DialQueue } from '#lib/dial-queue.ts';
import { ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { releaseMemory } from '#lib/memory.ts';
import { type Random, systemRandom } from '#lib/random.ts';
import { ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import { resultMessage } from '#wire/message.ts';
import { ownVersionInfo, type VersionInfo } from '#wire/version-info.ts';
import { DataModel } from './access/data-model.ts';
import { ModelSubscription } from './access/subscription.ts';
import type { RouterConfig } from './config/router-config.ts';
import { ClusterView } from './control/cluster-view.ts';
import { Controllers } from './control/controllers.ts';
import { EndpointsFile, endpointsFilePath } from './control/endpoints-file.ts';
import { onFault } from './control/messages/fault.ts';
import { onInspect } from './control/messages/inspect.ts';
import { InterfaceReporter } from './control/messages/interfaces.ts';
import { onPeerStateChanges } from './control/messages/peer-state-changes.ts';
import { onRoute } from './control/messages/route.ts';
import { onServerHello } from './control/messages/server-hello.ts';
import { onSettings } from './control/messages/settings.ts';
import { onUnroute } from './control/messages/unroute.ts';
import { verifyRouter } from './control/messages/verify-router.ts';
import { Egress } from './egress/egress.ts';
import { transportDialer } from './egress/transport.ts';
import { Faulter } from './forwarder/faulter.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { IdleScanner } from './forwarder/idle-scanner.ts';
import { Unrouter } from './forwarder/unrouter.ts';
import { Health, type LinkDetail } from './health/health.ts';
import { Identity } from './identity/identity.ts';
import { CertificateRenewal } from './identity/renewal.ts';
import { IdleMemory } from './idle-memory.ts';
import { EdgeListener } from './ingress/edge/edge-listener.ts';
import { Tunneler } from './ingress/tunnel/tunneler.ts';
import { InspectSocket } from './inspect/inspect-socket.ts';
import { LinkListener } from './link/link-listener.ts';
import { LinkRegistry } from './link/link-registry.ts';
import { LinkReporter } from './link/link-reporter.ts';
import { meteredQueue } from './metrics/metered-queue.ts';
import type { PrometheusPage } from './metrics/prometheus.ts';
import { MetricsRegistry } from './metrics/registry.ts';
import { MetricsReporter } from './metrics/reporter.ts';
import {
  advertisedListeners,
  controlSettings,
  httpProxy,
  linkChannelSettings,
  linkDialerSettings,
  linkListenerSettings,
  xgressOptionsFor,
} from './router-settings.ts';
import { TlsPorts } from './tls-ports.ts';
import { PROGRAM_VERSION } from './version.ts';
import type { WebServer } from './web/web-server.ts';
import { CircuitEnds } from './xgress/circuit-ends.ts';

export interface RouterOptions {
  config: RouterConfig;
  log: Log;
  clock?: Clock;
  random?: Random;
  /** Renew the certificates at once, however long they are still valid. */
  extend?: boolean;
}

/** No controller was reached within ctrl.startupTimeout. */
export class StartupTimeoutError extends ProjectError {
  constructor(milliseconds: number) {
    super('STARTUP_TIMEOUT', `no controller could be reached within ${milliseconds} ms (ctrl.startupTimeout)`);
  }
}

/** Circuits that are open when the router stops get this long to finish. */
export const DRAIN_TIME = 10_000;
export class Router {
  readonly id: string;
  readonly metrics: MetricsRegistry;
  /** Rejects nothing: resolves with the reason when the router cannot go on by itself. */
  readonly failed: Promise<Error>;
  readonly #config: RouterConfig;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #extend: boolean;
  readonly #version: VersionInfo;
  readonly #identity: Identity;
  readonly #owned = new AsyncDisposableStack();
  readonly #controllers: Controllers;
  readonly #links: LinkRegistry;
  readonly #linkListeners: LinkListener[] = [];
  readonly #edgeListeners: EdgeListener[] = [];
  readonly #forwarder: Forwarder;
  readonly #ends: CircuitEnds;
  readonly #egress: Egress;
  readonly #model = new DataModel();
  readonly #health: Health;
  readonly #ports: TlsPorts;
  readonly #rateLimited: DialQueue;
  readonly #faulter: Faulter;
  #tunneler: Tunneler | undefined;
  #webServers: WebServer[] = [];
  #startup: Timer | undefined;
  #draining = false;
  #closing: Promise<void> | undefined;
  #fail: (error: Error) => void = () => undefined;

  private constructor(options: Required<RouterOptions>, identity: Identity) {
    this.#config = options.config;
    this.#log = options.log;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#extend = options.extend;
    this.#identity = identity;
    this.id = identity.id;
    this.#version = ownVersionInfo(PROGRAM_VERSION);
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    this.metrics = new MetricsRegistry(this.#clock, () => this.#random.next());
    this.#ports = new TlsPorts({
      identity,
      log: this.#component('tls'),
      handshakeTimeout: this.#config.tls.handshakeTimeout,
    });
    this.#forwarder = new Forwarder({ clock: this.#clock, log: this.#component('forwarder'), routerId: this.id });
    this.#controllers = this.#makeControllers();
    this.#faulter = new Faulter(
      {
        clock: this.#clock,
        log: this.#component('forwarder'),
        controllers: this.#controllers,
        faults: this.metrics.meter('faults.circuit'),
      },
      this.#config.forwarder.faultTxInterval,
    );
    this.#ends = this.#makeCircuitEnds();
    this.#egress = this.#makeEgress();
    this.#rateLimited = meteredQueue(
      this.metrics,
      this.#clock,
      'pool.rate_limiter',
      this.#config.forwarder.rateLimitedQueueLength,
      this.#config.forwarder.rateLimitedWorkerCount,
    );
    this.#links = this.#makeLinks();
    this.#health = this.#makeHealth();
    this.#registerGauges();
  }

  /** Starts everything that does not need a controller, begins to dial controllers, and resolves. Rejects when the router cannot start. */
  static async start(options: RouterOptions): Promise<Router> {
    const clock = options.clock ?? new SystemClock();
    const identity = await Identity.open({ config: options.config.identity, clock, log: options.log, watch: true });
    const router = new Router(
      { ...options, clock, random: options.random ?? systemRandom, extend: options.extend ?? false },
      identity,
    );
    try {
      await router.#open();
      return router;
    } catch (error) {
      await router.close({ drain: 0 });
      throw error;
    }
  }

  /** What runs, for people and for diagnostics. */
  describe(): Record<string, unknown> {
    return {
      id: this.id,
      version: PROGRAM_VERSION,
      controllers: this.#controllers.all.map(({ id, address, isResponsive, latency }) => ({
        id,
        address,
        isResponsive,
        latencyMs: latency / 1e6,
      })),
      links: this.#links.links.map(({ id, peerId, dialed, iteration, connections }) => ({
        id,
        peerId,
        dialed,
        iteration,
        connections,
      })),
      wantedLinks: this.#links.describe(),
      circuits: this.#forwarder.circuits.size,
      circuitEnds: this.#ends.count,
      terminators: this.#tunneler?.describe() ?? [],
      proxies: (this.#tunneler?.proxies ?? []).map((proxy) => ({ service: proxy.init.service, port: proxy.port })),
      web: this.#webServers.flatMap((server) => server.addresses),
      healthy: this.#health.healthy,
      timers: this.#clock.timers(),
    };
  }

  /**
   * Stops: no new circuits, listeners closed, open circuits get `drain` milliseconds, then everything is closed. A second call waits for
   * the first.
   */
  close(options: { drain?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.drain ?? DRAIN_TIME);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(drain: number): Promise<void> {
    this.#log.info({ routerId: this.id, circuits: this.#ends.count }, 'router stops');
    this.#draining = true;
    this.#startup?.cancel();
    this.#tunneler?.closeListeners();
    for (const listener of this.#edgeListeners) listener.close();
    for (const listener of this.#linkListeners) listener.close();
    await this.#ends.drain(drain);
    await this.#tunneler?.close();
    await this.#owned.disposeAsync();
    this.#log.info({ routerId: this.id }, 'router stopped');
  }

  async #open(): Promise<void> {
    const { config } = { config: this.#config };
    this.#owned.defer(() => this.#identity.close());
    this.#owned.defer(() => this.#ports.close());
    this.#owned.defer(() => this.#controllers.close());
    this.#owned.defer(() => this.#links.close());
    this.#owned.defer(() => this.#rateLimited.close());
    this.#owned.defer(() => this.#faulter.close());
    this.#owned.defer(() => this.#health.close());
    await this.#openDebugging();
    this.#openForwarder();
    await this.#openLinkListeners();
    if (config.edge) this.#openEdge();
    await this.#openListeners();
    await this.#openWeb();
    await this.#openInspection();
    this.#openReports();
    this.#openRenewal();
    this.#openIdleMemory();
    await this.#controllers.start();
    this.#watchStartup();
    this.#log.info({ routerId: this.id, version: PROGRAM_VERSION, config: config.file }, 'router started');
  }

  #component(name: string): Log {
    return this.#log.child({ component: name, routerId: this.id });
  }

  // Rooms ------------------------------------------------------------------------------------------------------------------

  #makeControllers(): Controllers {
    const log = this.#component('control');
    const endpointsFile = new EndpointsFile(endpointsFilePath(this.#config), log);
    const components = { clock: this.#clock, log, random: this.#random, identity: this.#identity, endpointsFile };
    return new Controllers(components, {
      ...controlSettings(this.#config),
      version: this.#version,
      linkListeners: () => advertisedListeners(this.#linkListeners.map(({ settings }) => settings)),
    });
  }

  #makeCircuitEnds(): CircuitEnds {
    return new CircuitEnds({
      clock: this.#clock,
      log: this.#component('xgress'),
      forwarder: this.#forwarder,
      metrics: this.metrics,
      controllers: this.#controllers,
      onUnroutable: (circuitId) => this.#onUnroutable(circuitId),
    });
  }

  #makeEgress(): Egress {
    const egress = new Egress(this.#component('egress'));
    const components = { clock: this.#clock, log: this.#component('egress'), identity: this.#identity };
    for (const binding of ['transport', 'edge_transport'] as const) {
      const connectTimeout = xgressOptionsFor(this.#config, binding).connectTimeout;
      egress.use(
        binding,
        transportDialer(components, {
          connectTimeout,
          encryption: binding === 'edge_transport',
          hopType: `xgress/${binding}`,
        }),
      );
    }
    return egress;
  }

  #makeLinks(): LinkRegistry {
    const { link, forwarder } = this.#config;
    const log = this.#component('link');
    const reporter = new LinkReporter({ clock: this.#clock, log, controllers: this.#controllers });
    const registry = new LinkRegistry(
      {
        clock: this.#clock,
        log,
        random: this.#random,
        forwarder: this.#forwarder,
        metrics: this.metrics,
        reporter,
        dial: {
          clock: this.#clock,
          log,
          random: this.#random,
          identity: this.#identity,
          proxy: httpProxy(this.#config.proxy),
          settings: linkChannelSettings(this.#config),
        },
        dialQueue: meteredQueue(
          this.metrics,
          this.#clock,
          'pool.link.dialer',
          forwarder.linkDialQueueLength,
          forwarder.linkDialWorkerCount,
        ),
        onUnroutable: (circuitId) => this.#onUnroutable(circuitId),
      },
      link.dialers.map((dialer) => linkDialerSettings(link, dialer)),
    );
    this.#controllers.on(ControlType.PeerStateChanges, onPeerStateChanges(registry));
    this.#controllers.on(ControlType.Fault, onFault(registry));
    this.#controllers.onConnect((controller) => reporter.refresh(controller, registry.links));
    this.#missingLink = (linkId) => reporter.missing(linkId);
    return registry;
  }

  #missingLink: (linkId: string) => void = () => undefined;

  #makeHealth(): Health {
    return new Health(
      {
        clock: this.#clock,
        controllers: () => this.#controllers.all,
        links: () => this.#links.links.map((link) => this.#linkDetail(link)),
      },
      this.#config.healthChecks,
    );
  }

  #linkDetail(link: {
    id: string;
    peerId: string;
    connections: readonly { type: string; localAddr: string; remoteAddr: string }[];
  }): LinkDetail {
    const addresses = Object.fromEntries(
      link.connections.map(({ type, localAddr, remoteAddr }) => [type, { localAddr, remoteAddr }]),
    );
    return {
      linkId: link.id,
      destRouterId: link.peerId,
      latency: this.metrics.histogram(`link.${link.id}.latency`).snapshot().mean,
      addresses,
    };
  }

  /** Profiles and the trace of messages: first in, last out, so that they see everything. */
  async #openDebugging(): Promise<void> {
    const { profile, trace } = this.#config;
    const components = { clock: this.#clock, log: this.#component('profile') };
    if (trace?.path !== undefined) {
      const { MessageTrace } = await import('./trace/message-trace.ts');
      const tracing = new MessageTrace(trace.path, this.#clock, this.#component('trace'));
      this.#owned.defer(() => tracing.close());
    }
    if (profile) {
      const { Profiler } = await import('./profile/profiler.ts');
      const profiler = await Profiler.start(components, profile);
      this.#owned.defer(() => profiler?.stop());
    }
  }

  #openForwarder(): void {
    const { forwarder } = this.#config;
    const log = this.#component('forwarder');
    const scanner = new IdleScanner(
      { clock: this.#clock, log, circuits: this.#forwarder.circuits, controllers: this.#controllers },
      { interval: forwarder.idleTxInterval, timeout: forwarder.idleCircuitTimeout },
    );
    const unrouter = new Unrouter(
      { clock: this.#clock, log, forwarder: this.#forwarder },
      forwarder.xgressCloseCheckInterval,
    );
    const routes = meteredQueue(
      this.metrics,
      this.#clock,
      'pool.route.handler',
      forwarder.xgressDialQueueLength,
      forwarder.xgressDialWorkerCount,
    );
    this.#owned.defer(() => scanner.close());
    this.#owned.defer(() => unrouter.close());
    this.#owned.defer(() => routes.close());
    this.#controllers.on(ControlType.Unroute, onUnroute(unrouter));
    this.#controllers.on(
      ControlType.Route,
      onRoute({
        clock: this.#clock,
        log: this.#component('route'),
        forwarder: this.#forwarder,
        egress: this.#egress,
        ends: this.#ends,
        queue: routes,
        onMissingLink: (linkId) => this.#missingLink(linkId),
        optionsFor: (binding) => xgressOptionsFor(this.#config, binding),
        dwellTime: forwarder.xgressDialDwellTime,
        acceptsCircuits: () => !this.#draining,
      }),
    );
  }

  async #openLinkListeners(): Promise<void> {
    const log = this.#component('link');
    for (const listener of this.#config.link.listeners) {
      const port = await this.#ports.at(listener.bind.host, listener.bind.port);
      const settings = linkListenerSettings(listener, port.address.port);
      const components = {
        clock: this.#clock,
        log,
        port,
        identity: this.#identity,
        settings: linkChannelSettings(this.#config),
        verifyRouter: (routerId: string, fingerprints: string[]) =>
          verifyRouter(this.#controllers, routerId, fingerprints),
        onLink: (init: Parameters<LinkRegistry['accepted']>[0]) => this.#links.accepted(init),
      };
      this.#linkListeners.push(new LinkListener(components, settings));
      log.info({ bind: settings.bind, advertise: settings.advertise, groups: settings.groups }, 'link listener open');
    }
  }

  #openEdge(): void {
    const log = this.#component('access');
    const cluster = new ClusterView({
      controllers: this.#controllers,
      clock: this.#clock,
      log: this.#component('control'),
    });
    const subscription = new ModelSubscription({
      clock: this.#clock,
      log,
      random: this.#random,
      controllers: this.#controllers,
      model: this.#model,
      onHistoryReset: () => cluster.reset(),
    });
    this.#owned.defer(() => cluster.close());
    this.#owned.defer(() => subscription.close());
    this.#controllers.on(
      EdgeControlType.ServerHello,
      onServerHello({
        version: this.#version,
        modelIndex: () => this.#model.index,
        listeners: () =>
          this.#edgeListeners.map(({ config: { address, options } }) => ({
            bind: formatAddress(address),
            protocol: address.type,
            bindHost: address.host,
            bindPort: address.port,
            ...options.advertise,
          })),
      }),
    );
  }

  async #openListeners(): Promise<void> {
    for (const listener of this.#config.listeners) {
      const log = this.#component(`listener.${listener.binding}`);
      if (listener.binding === 'edge') {
        const port = await this.#ports.at(listener.address.host, listener.address.port);
        this.#edgeListeners.push(
          new EdgeListener({ clock: this.#clock, log, port, routerId: this.id, version: this.#version }, listener),
        );
      } else if (listener.binding === 'tunnel') {
        if (!this.#tunneler) this.#tunneler = await this.#openTunneler(log, listener.options);
      } else {
        log.warn({ binding: listener.binding }, 'binding is not served yet');
      }
    }
  }

  #openTunneler(log: Log, options: Parameters<typeof Tunneler.open>[1]): Promise<Tunneler> {
    return Tunneler.open(
      {
        clock: this.#clock,
        log,
        controllers: this.#controllers,
        model: this.#model,
        ends: this.#ends,
        egress: this.#egress,
        queue: this.#rateLimited,
        routerId: this.id,
        acceptsCircuits: () => !this.#draining,
      },
      options,
    );
  }

  async #openInspection(): Promise<void> {
    const socket = await InspectSocket.open(this.#config.file, () => this.describe(), this.#component('inspect'));
    if (socket) this.#owned.defer(() => socket.close());
  }

  async #openWeb(): Promise<void> {
    if (this.#config.web.length === 0) return;
    const { WebServer } = await import('./web/web-server.ts');
    const page = await this.#metricsPage();
    for (const web of this.#config.web) {
      const server = await WebServer.open(
        {
          clock: this.#clock,
          log: this.#component('web'),
          identity: this.#identity,
          health: this.#health,
          metrics: page,
        },
        web,
      );
      this.#webServers.push(server);
      this.#owned.defer(() => server.close());
    }
  }

  /** The library of the page is only loaded where somebody wants the page. */
  async #metricsPage(): Promise<PrometheusPage | undefined> {
    if (!this.#config.web.some(({ apis }) => apis.some(({ binding }) => binding === 'metrics'))) return undefined;
    const { PrometheusPage } = await import('./metrics/prometheus.ts');
    const page = new PrometheusPage(this.metrics);
    this.#owned.defer(() => page.close());
    return page;
  }

  /** Without a csr section there is nothing to ask new certificates with (spec, section Sections). */
  #openRenewal(): void {
    const csr = this.#config.csr ?? this.#config.edge?.csr;
    if (!csr) return;
    const renewal = new CertificateRenewal(
      {
        clock: this.#clock,
        log: this.#component('identity'),
        identity: this.#identity,
        controllers: this.#controllers,
      },
      { identity: this.#config.identity, csr },
    );
    this.#owned.defer(() => renewal.close());
    renewal.start({ now: this.#extend });
  }

  #openIdleMemory(): void {
    const memory = new IdleMemory({
      clock: this.#clock,
      isBusy: () => this.#forwarder.circuits.size > 0,
      circuitsSoFar: () => this.#ends.total,
      release: releaseMemory,
    });
    this.#owned.defer(() => memory.close());
  }

  #openReports(): void {
    const { metrics, interfaceDiscovery } = this.#config;
    const reporter = new MetricsReporter(
      {
        clock: this.#clock,
        log: this.#component('metrics'),
        random: this.#random,
        registry: this.metrics,
        controllers: this.#controllers,
        routerId: this.id,
      },
      metrics,
    );
    const interfaces = new InterfaceReporter(
      { controllers: this.#controllers, clock: this.#clock, log: this.#component('control') },
      interfaceDiscovery,
    );
    this.#owned.defer(() => reporter.close());
    this.#owned.defer(() => interfaces.close());
    this.#controllers.on(
      ControlType.InspectRequest,
      onInspect(this.id, (name) => (name === 'router' || name === 'config' ? this.describe() : undefined)),
    );
    this.#controllers.on(ControlType.Settings, onSettings(this.#controllers, this.#component('control')));
    this.#controllers.on(
      ControlType.TogglePipeTraces,
      (controller, message) =>
        void controller.channel.reply(
          message,
          resultMessage(false, 'this router does not trace messages to controllers'),
        ),
    );
  }

  #watchStartup(): void {
    const { startupTimeout } = this.#config.ctrl;
    if (startupTimeout <= 0) return;
    this.#controllers.onConnect(() => this.#startup?.cancel());
    this.#startup = this.#clock.after('startup timeout', startupTimeout, () => {
      if (!this.#controllers.everConnected) this.#fail(new StartupTimeoutError(startupTimeout));
    });
  }

  // Small things -----------------------------------------------------------------------------------------------------------

  #onUnroutable(circuitId: string): void {
    this.#faulter.report(circuitId, this.#forwarder.circuits.get(circuitId)?.owner ?? '');
  }

  #registerGauges(): void {
    this.metrics.gauge('control.channels', () => this.#controllers.all.length);
    this.metrics.gauge('links', () => this.#links.links.length);
    this.metrics.gauge('circuits', () => this.#forwarder.circuits.size);
    this.metrics.gauge('xgress.ends', () => this.#ends.count);
  }
}
