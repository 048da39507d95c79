// The tunneler of a router: hosts services in every mode, and listens for configured services in proxy mode. Transparent
// interception is not served yet: the router says so once and hosts.

import type { Clock } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { DataModel } from '../../access/data-model.ts';
import type { TunnelListenerOptions } from '../../config/router-config.ts';
import type { Controllers } from '../../control/controllers.ts';
import type { Egress } from '../../egress/egress.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import type { Terminators } from '../terminators.ts';
import { Hosting } from './hosting.ts';
import { ProxyListener } from './proxy-listener.ts';
import { takeDownLateCircuits } from './tunnel-circuits.ts';
import { TunnelTerminators } from './tunnel-terminators.ts';

export interface TunnelerComponents {
  clock: Clock;
  log: Log;
  controllers: Controllers;
  model: DataModel;
  ends: CircuitEnds;
  egress: Egress;
  terminators: Terminators;
  routerId: string;
  acceptsCircuits(): boolean;
}

/** Address that proxied services listen on (reference fact: tunnel, section 3.7). */
const PROXY_HOST = '0.0.0.0';

export class Tunneler {
  readonly proxies: ProxyListener[] = [];
  readonly #hosting: Hosting;

  private constructor(components: TunnelerComponents) {
    const { clock, log, controllers, egress, model, routerId } = components;
    const terminators = new TunnelTerminators(components.terminators, controllers);
    this.#hosting = new Hosting({ clock, log, model, terminators, routerId });
    egress.use('tunnel', (request) => this.#hosting.dial(request));
  }

  /** Rejects when a port of proxy mode cannot be had. */
  static async open(components: TunnelerComponents, options: TunnelListenerOptions): Promise<Tunneler> {
    const tunneler = new Tunneler(components);
    takeDownLateCircuits(components.controllers, components.ends);
    if (options.mode.startsWith('tproxy'))
      components.log.warn({ mode: options.mode }, 'transparent interception is not served yet: only hosting');
    try {
      if (options.mode === 'proxy') await tunneler.#listen(components, options);
      return tunneler;
    } catch (error) {
      tunneler.closeListeners();
      tunneler.close();
      throw error;
    }
  }

  get hosted(): number {
    return this.#hosting.count;
  }

  /** No new proxied connections. */
  closeListeners(): void {
    for (const proxy of this.proxies) proxy.close();
  }

  /** Follows the data model no further. */
  close(): void {
    this.#hosting.close();
  }

  async #listen(components: TunnelerComponents, options: TunnelListenerOptions): Promise<void> {
    for (const entry of options.services) {
      const [, service = '', port = '', protocol = 'tcp'] = /^(.+?):(\d+)(?::(tcp|udp))?$/.exec(entry) ?? [];
      if (protocol === 'udp') {
        components.log.warn({ service }, 'udp services are not proxied yet');
        continue;
      }
      try {
        this.proxies.push(
          await ProxyListener.open(components, { service, host: PROXY_HOST, port: Number(port), options }),
        );
      } catch (error) {
        throw new Error(`the proxy port ${port} of service ${service} cannot be had: ${describeError(error)}`, {
          cause: error,
        });
      }
    }
  }
}
