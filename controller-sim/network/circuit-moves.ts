// Moves circuits to other paths: after faults, when a link is lost, disabled or becomes expensive, and when another
// path becomes much cheaper (reference fact: control channel, section 4.5). A circuit for which no path can be routed
// ends.
//
//   fault, link ─► reroute ─► cheapest path between its ends ─► Route to each router in turn ─► Unroute to routers left

import { background } from '#lib/background.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { realClock } from '#lib/time/advancing-clock.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { State } from '../state/state.ts';
import type { Circuit } from './circuit.ts';
import { advance, isEnded } from './circuit-states.ts';
import type { ConnectedRouter } from './connected-router.ts';
import type { Links } from './links.ts';
import type { NetworkEvents } from './network-events.ts';
import { costOf, endsOf, type Path } from './paths.ts';
import type { RouteSender } from './route-sender.ts';
import type { TerminatorChoice } from './terminator-choice.ts';

export interface CircuitMovesComponents {
  state: State;
  clock: Clock;
  log: Log;
  links: Links;
  events: NetworkEvents;
  routers: ReadonlyMap<string, ConnectedRouter>;
  sender: RouteSender;
  choice: TerminatorChoice;
  circuits: {
    get(id: string): Circuit | undefined;
    values(): readonly Circuit[];
    remove(id: string, options: { now: boolean }): void;
  };
}

/** Milliseconds between attempts to move a circuit. */
const MOVE_PAUSES = [50, 100, 200, 400, 800];
const MAX_REBALANCED = 4;
const REBALANCE_SHARE = 0.02;
const REBALANCE_LEAST_GAIN = 15;
/** Marks a new path for an existing circuit. */
const REROUTE_ATTEMPT = 99_969_996;

export class CircuitMoves {
  readonly #components: CircuitMovesComponents;
  readonly #closing = new AbortController();

  constructor(components: CircuitMovesComponents) {
    this.#components = components;
  }

  /** Cancels all moves. */
  close(): void {
    this.#closing.abort(new ProjectError('CLOSED', 'the controller is stopping'));
  }

  /** Finds another path for a circuit whose traffic is blocked; without one the circuit ends. */
  reroute(id: string): void {
    const circuit = this.#components.circuits.get(id);
    if (!circuit) return;
    const isIdle = circuit.state === 'up';
    advance(circuit, 'reroute');
    if (isIdle) this.start(circuit);
  }

  /** Starts the move of a circuit that has just become `moving`. */
  start(circuit: Circuit): void {
    background(this.#components.log, 'reroute', this.#move(circuit));
  }

  /** Moves circuits off a lost link. */
  onLinkLost(linkId: string): void {
    for (const { id, path } of this.#components.circuits.values()) if (path.links.includes(linkId)) this.reroute(id);
  }

  /** The cost of a link changed: circuits over it move if there is a better path now. */
  onLinkChanged(linkId: string): void {
    for (const { id, path } of this.#components.circuits.values()) {
      if (!path.links.includes(linkId)) continue;
      const better = this.#components.choice.path(...endsOf(path));
      if (better?.links.join() !== path.links.join()) this.reroute(id);
    }
  }

  /** Moves a few circuits to paths that have become much cheaper. */
  rebalance(): void {
    const { choice, links, circuits } = this.#components;
    const all = circuits.values();
    const max = Math.min(MAX_REBALANCED, Math.max(1, Math.floor(all.length * REBALANCE_SHARE)));
    const routers = choice.routers();
    // Thousands of circuits share the ends of a few; each search visits the whole network.
    const bestPaths = new Map<string, Path | undefined>();
    const bestBetween = (from: string, to: string) => {
      const ends = `${from} ${to}`;
      if (!bestPaths.has(ends)) bestPaths.set(ends, choice.path(from, to));
      return bestPaths.get(ends);
    };
    const better = all.flatMap(({ id, path, state }) => {
      if (state !== 'up') return [];
      const now = costOf(path, routers, links);
      const best = bestBetween(...endsOf(path));
      const saved = now === undefined || !best ? 0 : now - best.cost;
      return saved >= REBALANCE_LEAST_GAIN ? [{ id, saved }] : [];
    });
    better.sort((a, b) => b.saved - a.saved);
    for (const { id } of better.slice(0, max)) this.reroute(id);
  }

  async #move(circuit: Circuit): Promise<void> {
    const { log, circuits } = this.#components;
    do {
      try {
        await this.#moveToBestPath(circuit);
      } catch (error) {
        log.info({ circuitId: circuit.id, error: describeError(error) }, 'circuit ended: no new path could be routed');
        if (!isEnded(circuit)) circuits.remove(circuit.id, { now: true });
      }
      if (isEnded(circuit)) return;
      // A link or router that was lost while the routes were in flight did not yet belong to this circuit.
      if (!this.#isWhole(circuit.path)) advance(circuit, 'reroute');
    } while (advance(circuit, 'moved') === 'moving');
  }

  /** Whether all links of a path are up and all its routers connected. */
  #isWhole(path: Path): boolean {
    const { links, routers } = this.#components;
    return path.links.every((id) => links.get(id)?.isDown === false) && path.routers.every((id) => routers.has(id));
  }

  /**
   * A rejection is not final while both ends are connected. The controller may learn of a link before its other end
   * does. It may also learn of a lost link before it learns of the replacement. Rejects when all attempts failed or the
   * circuit is removed.
   */
  async #moveToBestPath(circuit: Circuit): Promise<void> {
    const { clock, routers, choice } = this.#components;
    const ends = endsOf(circuit.path);
    for (const pause of [...MOVE_PAUSES, undefined]) {
      try {
        const path = choice.path(...ends);
        if (!path) throw new ProjectError('NO_PATH', 'no path');
        return await this.#moveTo(circuit, path);
      } catch (error) {
        const isHopeless = pause === undefined || !ends.every((end) => routers.has(end));
        if (isHopeless || isEnded(circuit)) throw error;
        await realClock(clock).sleep(pause, { name: 'next attempt to move a circuit', signal: this.#closing.signal });
        if (isEnded(circuit)) throw error;
      }
    }
  }

  async #moveTo(circuit: Circuit, path: Path): Promise<void> {
    const { sender, events } = this.#components;
    const before = circuit.path.routers;
    try {
      await this.#routeAgain(circuit, path);
    } catch (error) {
      // The removal reached the routers of the old path; the other routers of the new path need it, too.
      const notified = isEnded(circuit) ? [] : before;
      for (const router of path.routers) if (!notified.includes(router)) sender.unroute(router, circuit.id, true);
      throw error;
    }
    circuit.path = path;
    events.emit({ kind: 'circuit', type: 'pathUpdated', circuit });
    for (const router of before) if (!path.routers.includes(router)) sender.unroute(router, circuit.id, true);
  }

  /** Sends the routes of a new path, one after the other. Rejects if one fails or the circuit is removed meanwhile. */
  async #routeAgain(circuit: Circuit, path: Path): Promise<void> {
    const moved: Circuit = { ...circuit, path };
    const terminator = this.#components.state.tables.terminator.get(circuit.terminatorId);
    // The egress connection exists already; only a router that is both ends at once looks for it in the route.
    const egress = path.routers.length === 1 && terminator ? { terminator, peerData: new Map() } : undefined;
    for (const position of path.routers.keys()) {
      await this.#components.sender.route(moved, position, { attempt: REROUTE_ATTEMPT, egress });
      if (isEnded(circuit)) throw new ProjectError('CIRCUIT_REMOVED', 'the circuit was removed while it moved');
    }
  }
}
