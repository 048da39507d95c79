// One timer for all circuit ends of this router: it checks retransmissions and timeouts every 100 ms. It runs only
// while ends exist.

import type { Clock, Timer } from '#lib/time/clock.ts';

const INTERVAL = 100;

export interface Ticking {
  /** `now` in milliseconds. */
  tick(now: number): void;
}

export class XgressTicker {
  readonly #clock: Clock;
  readonly #members = new Set<Ticking>();
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: Ticking): void {
    this.#members.add(member);
    this.#timer ??= this.#clock.every('xgress ticker', INTERVAL, () => this.#tick());
  }

  delete(member: Ticking): void {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    for (const member of this.#members) member.tick(now);
  }
}
