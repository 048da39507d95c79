// The tunneler of a router: hosts services in every mode, and listens for configured services in proxy mode. Transparent
// interception is not served yet: the router says so once and hosts.

import type { Clock } from '#lib/clock.ts';
import type { DialQueue } from '#lib/dial-queue.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { DataModel } from '../../access/data-model.ts';
import type { TunnelListenerOptions } from '../../config/router-config.ts';
import type { Controllers } from '../../control/controllers.ts';
import type { Egress } from '../../egress/egress.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import { Hosting } from './hosting.ts';
import { ProxyListener } from './proxy-listener.ts';
import { Terminators } from './terminators.ts';
import { takeDownLateCircuits } from './tunnel-circuits.ts';

export interface TunnelerComponents {
  clock: Clock;
  log: Log;
  controllers: Controllers;
  model: DataModel;
  ends: CircuitEnds;
  egress: Egress;
  queue: DialQueue;
  routerId: string;
  acceptsCircuits(): boolean;
}

/** Address that proxied services listen on (reference fact: tunnel, section 3.7). */
const PROXY_HOST = '0.0.0.0';
const REMOVE_TIME = 2_000;

export class Tunneler {
  readonly proxies: ProxyListener[] = [];
  readonly #terminators: Terminators;
  readonly #hosting: Hosting;

  private constructor(components: TunnelerComponents) {
    const { clock, log, controllers, queue, egress, model, routerId } = components;
    this.#terminators = new Terminators({
      clock,
      log,
      controllers,
      queue,
      isStatelessBinding: (binding) => binding !== 'tunnel' && egress.has(binding),
    });
    this.#hosting = new Hosting({ clock, log, model, terminators: this.#terminators, routerId });
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
      await tunneler.close();
      throw error;
    }
  }

  /** Terminators with their states, for diagnostics. */
  describe(): ReturnType<Terminators['describe']> {
    return this.#terminators.describe();
  }

  get hosted(): number {
    return this.#hosting.count;
  }

  /** No new proxied connections. */
  closeListeners(): void {
    for (const proxy of this.proxies) proxy.close();
  }

  /** Withdraws the terminators, so that controllers send no more circuits here. */
  async close(): Promise<void> {
    this.#hosting.close();
    await this.#terminators.close(REMOVE_TIME);
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
