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
  readonly #waiting = new Map<string, Timer>();

  /** `interval`: milliseconds between checks of an idle circuit, at least 1. */
  constructor(components: UnrouterComponents, interval: number) {
    this.#components = components;
    this.#interval = Math.max(1, interval);
  }

  unroute(circuitId: string, now: boolean): void {
    if (now) this.#remove(circuitId);
    else if (!this.#waiting.has(circuitId)) this.#wait(circuitId);
  }

  close(): void {
    for (const timer of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
  }

  #wait(circuitId: string): void {
    const timer = this.#components.clock.after('unroute', this.#interval, () => {
      this.#waiting.delete(circuitId);
      const since = this.#components.clock.now() - this.#interval;
      const active = this.#components.forwarder.endsOf(circuitId).some((end) => end.lastReceived > since);
      if (active) this.#wait(circuitId);
      else this.#remove(circuitId);
    });
    this.#waiting.set(circuitId, timer);
  }

  #remove(circuitId: string): void {
    this.#waiting.get(circuitId)?.cancel();
    this.#waiting.delete(circuitId);
    if (this.#components.forwarder.remove(circuitId)) this.#components.log.debug({ circuitId }, 'circuit removed');
  }
}
