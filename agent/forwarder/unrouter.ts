// Removes circuits. At once if the controller says so; otherwise once their local ends are settled: nothing is on its
// way to them any longer. If that does not happen, for example because the peer failed, or at a router without an end
// of the circuit, when nothing has arrived within the close check interval (reference fact: config, section 9).

import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Forwarder } from './forwarder.ts';

export interface UnrouterComponents {
  clock: Clock;
  log: Log;
  forwarder: Forwarder;
}

/** Limit on checks of one circuit: a peer that keeps sending on an ended circuit cannot keep it forever. */
const MAX_CHECKS = 24;

export class Unrouter {
  readonly #components: UnrouterComponents;
  readonly #interval: number;
  /**
   * Circuits to remove once they are idle, with the time of the next check. Ordered by it, since all wait equally long.
   */
  readonly #waiting = new Map<string, { due: number; checks: number }>();
  readonly #unsubscribe: () => void;
  #timer: Timer | undefined;
  #isClosed = false;

  /** `interval`: milliseconds between checks of an idle circuit, at least 1. */
  constructor(components: UnrouterComponents, interval: number) {
    this.#components = components;
    this.#interval = Math.max(1, interval);
    this.#unsubscribe = components.forwarder.onSettled((circuitId) => {
      if (this.#waiting.has(circuitId) && this.#isSettled(circuitId)) this.#remove(circuitId);
    });
  }

  unroute(circuitId: string, now: boolean): void {
    if (now || this.#isSettled(circuitId)) this.#remove(circuitId);
    else if (!this.#isClosed && this.#isHere(circuitId) && !this.#waiting.has(circuitId)) this.#wait(circuitId, 1);
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting.clear();
  }

  #isSettled(circuitId: string): boolean {
    const ends = this.#components.forwarder.endsOf(circuitId);
    return ends.length > 0 && ends.every(({ isSettled }) => isSettled);
  }

  #isHere(circuitId: string): boolean {
    const { forwarder } = this.#components;
    return forwarder.circuits.get(circuitId) !== undefined || forwarder.endsOf(circuitId).length > 0;
  }

  #wait(circuitId: string, checks: number): void {
    this.#waiting.set(circuitId, { due: this.#components.clock.monotonic() + this.#interval, checks });
    this.#arm();
  }

  /** Arms one timer for all circuits, due with the first of them. */
  #arm(): void {
    const [first] = this.#waiting.values();
    if (this.#timer || first === undefined) return;
    const wait = Math.max(1, first.due - this.#components.clock.monotonic());
    this.#timer = this.#components.clock.after('unroute', wait, () => {
      this.#timer = undefined;
      this.#checkDue();
      this.#arm();
    });
  }

  #checkDue(): void {
    const now = this.#components.clock.monotonic();
    for (const [circuitId, { due, checks }] of this.#waiting) {
      if (due > now) return; // also ends at a circuit that this loop has added again
      this.#waiting.delete(circuitId);
      const ends = this.#components.forwarder.endsOf(circuitId);
      const isActive = ends.some((end) => end.lastReceived > now - this.#interval);
      if (isActive && checks < MAX_CHECKS) this.#wait(circuitId, checks + 1);
      else this.#remove(circuitId);
    }
  }

  #remove(circuitId: string): void {
    this.#waiting.delete(circuitId);
    if (this.#components.forwarder.remove(circuitId)) this.#components.log.debug({ circuitId }, 'circuit removed');
  }
}
