// The requests and control messages of the simulator as the lab sees them: recorded, and subject to faults.

import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ConnectedRouter } from '../network/connected-router.ts';
import type { Network } from '../network/network.ts';
import type { State } from '../state/state.ts';
import { ControlTraffic } from './control-traffic.ts';
import { Faults } from './faults/faults.ts';
import { StoreFaults } from './faults/store-faults.ts';
import { HttpTraffic } from './http-traffic.ts';
import { Journal } from './journal/journal.ts';
import { LinkTraffic } from './link-traffic.ts';
import { Proxies } from './proxies/proxies.ts';
import { ProxyTargets } from './proxies/proxy-targets.ts';
import { RouterProxies } from './proxies/router-proxies.ts';

export interface LabTrafficComponents {
  readonly state: State;
  /** For rules. */
  readonly clock: Clock;
  /** For connections. */
  readonly wireClock: Clock;
  readonly io: IoContext;
  readonly random: Random;
  readonly network: Pick<Network, 'routers' | 'links' | 'announce'>;
  readonly log: Log;
  /** Where the proxies listen. */
  readonly proxyHost: string;
  /** Puts proxies in front of the routers. */
  readonly ofRouters?: OfRouters;
}

export interface OfRouters {
  /** Where they may lead, beside the router's own address. */
  readonly targets: readonly string[];
  /** The host under which others reach them; undefined: the address on which they listen. */
  readonly host: string | undefined;
}

export class LabTraffic {
  readonly journal: Journal;
  readonly faults: Faults;
  readonly proxies: Proxies;
  /** For the API server. */
  readonly http: HttpTraffic;
  /** For the control channels. */
  readonly control: ControlTraffic;
  readonly links: LinkTraffic;

  constructor({ state, clock, wireClock, io, random, network, log, ...init }: LabTrafficComponents) {
    this.journal = new Journal({ wireClock, log });
    this.faults = new Faults({ state, network, random, wireClock, log });
    this.proxies = new Proxies({ wireClock, io, random, faults: this.faults, host: init.proxyHost });
    new StoreFaults({ wireClock, faults: this.faults }).guard(state);
    const { journal, faults } = this;
    this.links = new LinkTraffic({ state, clock, journal, network });
    this.http = new HttpTraffic(journal, faults);
    const ofRouters = init.ofRouters && this.#ofRouters(init.ofRouters, state, network.routers);
    if (ofRouters) network.announce(ofRouters);
    const prepare = ofRouters && ((router: ConnectedRouter) => ofRouters.prepare(router));
    this.control = new ControlTraffic({ state, clock, journal, faults, ...(prepare && { prepare }) });
  }

  #ofRouters({ targets, host }: OfRouters, state: State, routers: Network['routers']): RouterProxies {
    return new RouterProxies({ state, proxies: this.proxies, routers, targets: new ProxyTargets(targets), host });
  }

  async close(): Promise<void> {
    this.links.close();
    await this.proxies.close();
    this.faults.close();
    this.journal.close();
  }
}
