// The tunneler of a router: hosts services in every mode, listens for services in proxy mode, and intercepts services
// in tproxy mode (reference fact: tunnel, section 3).

import { ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { DataModel } from '../../access/data-model.ts';
import type { TunnelListenerOptions } from '../../config/router-config.ts';
import type { Controllers } from '../../control/controllers.ts';
import type { Egress } from '../../egress/egress.ts';
import type { HostedHealth, InterceptionDescription, ProxyDescription } from '../../interface/description.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import { IdleSweeper } from '../../xgress/clients/idle-sweeper.ts';
import type { Terminators } from '../terminators/terminators.ts';
import { Hosting } from './hosting.ts';
import { OwnRights } from './own-rights.ts';
import { ProxyListeners } from './proxy-listeners.ts';
import { ServiceDialer } from './service-dialer.ts';
import type { ChangesMarker } from './system/changes-marker.ts';
import { LocalRoutes } from './system/local-routes.ts';
import { Interception } from './tproxy/interception.ts';
import { removeLateCircuits } from './tunnel-circuits.ts';
import { TunnelTerminators } from './tunnel-terminators.ts';

export interface TunnelerComponents {
  clock: Clock;
  io: IoContext;
  log: Log;
  controllers: Controllers;
  model: DataModel;
  ends: CircuitEnds;
  egress: Egress;
  terminators: Terminators;
  random: Random;
  marker: ChangesMarker;
  routerId: string;
  acceptsCircuits(): boolean;
  /** Hosts that the router itself must reach: controllers, their proxy, peers of links. Names or addresses. */
  peers(): Iterable<string>;
}

export interface TunnelerInit {
  /** The listener's key in the configuration. */
  readonly key: string;
  readonly options: TunnelListenerOptions;
}

/** Only the modes proxy and tproxy listen for clients. */
export class ProxyModeError extends ProjectError {
  constructor() {
    super('PROXY_MODE', 'this router listens for no services; use a tunnel listener with the mode proxy or tproxy');
  }
}

/** Listen address of proxied services in proxy mode (reference fact: tunnel, section 3.7). */
const PROXY_HOST = '0.0.0.0';
/** Listen address of services with proxy.v1 in tproxy mode. */
const INTERCEPTION_HOST = '127.0.0.1';

export class Tunneler {
  readonly #hosting: Hosting;
  readonly #rights: OwnRights;
  readonly #sweeper: IdleSweeper;
  readonly #routes: LocalRoutes;
  readonly #marker: ChangesMarker;
  #proxies: ProxyListeners | undefined;
  #interception: Interception | undefined;

  private constructor(components: TunnelerComponents, options: TunnelListenerOptions) {
    const { clock, io, log, controllers, egress, model, marker, routerId } = components;
    this.#sweeper = new IdleSweeper(clock, idleLimits(options));
    this.#marker = marker;
    this.#rights = new OwnRights(components);
    this.#routes = new LocalRoutes({ clock, log, marker, routerId });
    this.#hosting = new Hosting({
      io,
      log,
      model,
      terminators: new TunnelTerminators(components.terminators, controllers, log),
      sweeper: this.#sweeper,
      routes: this.#routes,
      rights: this.#rights,
      routerId,
    });
    egress.use('tunnel', (request) => this.#hosting.dial(request));
  }

  /** Rejects with ListenError for a port in proxy mode, or if this machine or user cannot intercept. */
  static async open(components: TunnelerComponents, { key, options }: TunnelerInit): Promise<Tunneler> {
    const tunneler = new Tunneler(components, options);
    removeLateCircuits(components.controllers, components.ends);
    try {
      if (options.mode === 'proxy')
        await tunneler.#openProxies(components, options, PROXY_HOST, { key, services: options.services });
      if (options.mode.startsWith('tproxy')) await tunneler.#intercept(components, options);
      return tunneler;
    } catch (error) {
      tunneler.closeListeners();
      await tunneler.close();
      throw error;
    }
  }

  /**
   * Listens for a service beside those of the configuration, until the tunneler closes. @returns the port; rejects with
   * ListenError for a port in use, and with ProxyModeError in other modes
   */
  openProxy(service: string, host: string, port: number): Promise<number> {
    if (!this.#proxies) throw new ProxyModeError();
    return this.#proxies.add(service, host, port);
  }

  /** Ports of proxied services. */
  get proxies(): ProxyDescription[] {
    return this.#proxies?.describe() ?? [];
  }

  /** The interception of tproxy mode. */
  get interception(): InterceptionDescription | undefined {
    return this.#interception?.describe();
  }

  /** The health checks of hosted services. */
  get health(): HostedHealth[] {
    return this.#hosting.health;
  }

  get hosted(): number {
    return this.#hosting.count;
  }

  /** Accepts no further circuits of clients. */
  closeListeners(): void {
    this.#proxies?.close();
    this.#interception?.closeListeners();
  }

  /** Stops following the data model, and reverts its changes to this machine. */
  async close(): Promise<void> {
    this.#rights.close();
    await this.#hosting.close();
    await this.#interception?.close();
    this.#sweeper.close();
    await this.#routes.close();
    this.#marker.clear();
  }

  async #intercept(components: TunnelerComponents, options: TunnelListenerOptions): Promise<void> {
    this.#interception = await Interception.open(
      {
        ...components,
        dialer: new ServiceDialer({ ...components, options, rights: this.#rights }),
        routes: this.#routes,
      },
      options,
      idleLimits(options),
    );
    await this.#openProxies(components, options, INTERCEPTION_HOST, { key: '', services: [] });
  }

  async #openProxies(
    components: TunnelerComponents,
    options: TunnelListenerOptions,
    host: string,
    { key, services }: { key: string; services: readonly string[] },
  ): Promise<void> {
    this.#proxies = await ProxyListeners.open(
      { ...components, dialer: new ServiceDialer({ ...components, options, rights: this.#rights }) },
      { host, timeout: options.getCircuitTimeout, idle: idleLimits(options) },
      services.map((entry, index) => ({ entry, key: `${key}.options.services[${index}]` })),
    );
  }
}

function idleLimits({ udpIdleTimeout: timeout, udpCheckInterval: interval }: TunnelListenerOptions) {
  return { timeout, interval };
}
