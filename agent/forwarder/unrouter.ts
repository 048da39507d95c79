// Takes circuits down. At once when the controller says so; otherwise when nothing has arrived for their local end within the
// close check interval, so that data which is still on its way is delivered (reference fact: config, section 9).

import type { Clock, Timer } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import type { Forwarder } from './forwarder.ts';

export interface UnrouterComponents {
  clock: Clock;
  log: Log;
  forwarder: Forwarder;
}

export class Unrouter {
  readonly #components: UnrouterComponents;
  readonly #interval: number;
  /** Circuits that end when they are idle, by when they are looked at next; in that order, since all wait equally long. */
  readonly #waiting = new Map<string, number>();
  #timer: Timer | undefined;

  /** `interval`: milliseconds between checks of an idle circuit, at least 1. */
  constructor(components: UnrouterComponents, interval: number) {
    this.#components = components;
    this.#interval = Math.max(1, interval);
  }

  unroute(circuitId: string, now: boolean): void {
    if (now) this.#remove(circuitId);
    else if (this.#components.forwarder.circuits.get(circuitId) && !this.#waiting.has(circuitId)) this.#wait(circuitId);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting.clear();
  }

  #wait(circuitId: string): void {
    this.#waiting.set(circuitId, this.#components.clock.now() + this.#interval);
    this.#arm();
  }

  /** One timer for all, for the first that is due. */
  #arm(): void {
    const [first] = this.#waiting.values();
    if (this.#timer || first === undefined) return;
    const wait = Math.max(1, first - this.#components.clock.now());
    this.#timer = this.#components.clock.after('unroute', wait, () => {
      this.#timer = undefined;
      this.#checkDue();
      this.#arm();
    });
  }

  #checkDue(): void {
    const now = this.#components.clock.now();
    for (const [circuitId, due] of [...this.#waiting]) {
      if (due > now) return;
      this.#waiting.delete(circuitId);
      const active = this.#components.forwarder
        .endsOf(circuitId)
        .some((end) => end.lastReceived > now - this.#interval);
      if (active) this.#waiting.set(circuitId, now + this.#interval);
      else this.#remove(circuitId);
    }
  }

  #remove(circuitId: string): void {
    this.#waiting.delete(circuitId);
    if (this.#components.forwarder.remove(circuitId)) this.#components.log.debug({ circuitId }, 'circuit removed');
  }
}
