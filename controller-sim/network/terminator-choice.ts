// Selects the terminator and the path of a new circuit by reachability, cost and the service's strategy (reference
// fact: control channel, section 4.3).

import type { Random } from '#lib/random.ts';
import { EdgeErrorCode, PeerDataKey } from '#wire/gen/numbers.ts';
import type { PeerData } from '#wire/peer-data.ts';
import type { Service } from '../state/kinds/service.ts';
import type { Terminator } from '../state/kinds/terminator.ts';
import type { State } from '../state/state.ts';
import { CircuitError, type FailureCause } from './circuit-failure.ts';
import type { ConnectedRouter } from './connected-router.ts';
import type { Links } from './links.ts';
import { cheapestPath, cheapestPaths, type Path, type PathRouter } from './paths.ts';
import { type Candidate, chooseTerminator } from './strategies.ts';
import type { TerminatorCosts } from './terminator-costs.ts';

export interface TerminatorChoiceComponents {
  readonly state: State;
  readonly random: Random;
  readonly links: Links;
  readonly routers: ReadonlyMap<string, ConnectedRouter>;
  readonly costs: TerminatorCosts;
}

export interface Wish {
  readonly service: Service;
  readonly ingressRouter: string;
  readonly instanceId: string;
  readonly peerData: PeerData;
}

export class TerminatorChoice {
  readonly #components: TerminatorChoiceComponents;

  constructor(components: TerminatorChoiceComponents) {
    this.#components = components;
  }

  /** Throws CircuitError if no terminator is reachable. */
  choose({ service, ingressRouter, instanceId, peerData }: Wish, circuitId: string): Candidate {
    const { state, routers, random } = this.#components;
    const all = state.tables.terminator.referring('serviceId', service.id);
    const named = all.filter((terminator) => terminator.instanceId === instanceId);
    const online = named.filter(({ routerId }) => routers.has(routerId));
    // Many hosts of a service are often at few routers.
    const byRouter = Map.groupBy(online, ({ routerId }) => routerId);
    const paths = cheapestPaths(ingressRouter, byRouter.keys(), this.routers(), this.#components.links.values());
    const candidates = [...byRouter].flatMap(([routerId, hosted]) => {
      const path = paths.get(routerId);
      return path ? hosted.map((terminator) => ({ terminator, path, cost: this.#cost(terminator, path) })) : [];
    });
    const stickiness = peerData.get(PeerDataKey.StickinessToken)?.toString();
    const chosen = chooseTerminator(service.terminatorStrategy, candidates, random, stickiness);
    if (chosen) return chosen;
    const reject = (failure: FailureCause, why: string) =>
      new CircuitError(EdgeErrorCode.Internal, why, { circuitId, failure });
    if (all.length === 0) throw reject('NO_TERMINATORS', `service ${service.id} has no terminators`);
    const wanted = `terminators for instanceId ${instanceId}`;
    if (named.length === 0) throw reject('NO_TERMINATORS', `service ${service.id} has no ${wanted}`);
    if (online.length === 0) throw reject('NO_ONLINE_TERMINATORS', `service ${service.id} has no online ${wanted}`);
    const ends = online.map(({ routerId }) => `from r/${ingressRouter} to r/${routerId}`);
    throw reject('NO_PATH', `can't route ${[...new Set(ends)].join(', ')}`);
  }

  /** The cheapest path between two connected routers. */
  path(from: string, to: string): Path | undefined {
    return cheapestPath(from, to, this.routers(), this.#components.links.values());
  }

  /** Connected routers with their costs. */
  routers(): Map<string, PathRouter> {
    const { state, routers } = this.#components;
    const usable = new Map<string, PathRouter>();
    for (const id of routers.keys()) {
      const router = state.tables.router.get(id);
      if (router) usable.set(id, { id, cost: router.cost, noTraversal: router.noTraversal });
    }
    return usable;
  }

  /** Circuits and failures add to the path cost, so that the least busy working terminator is preferred. */
  #cost(terminator: Terminator, path: Path): number {
    return terminator.cost + path.cost + this.#components.costs.get(terminator.id);
  }
}
