// Ends idle UDP sessions: UDP does not signal an end, so a session without traffic is closed after a timeout. One timer
// serves all sessions of an owner; it runs only while sessions exist.

import type { Clock, Timer } from '#lib/time/clock.ts';

export interface Idling {
  /** Time of the last datagram in either direction, in milliseconds of the clock's `monotonic`. */
  readonly lastActive: number;
  /** Called once the session exceeds the timeout. The sweeper no longer tracks it then. */
  onIdle(): void;
}

export interface IdleLimits {
  /** Milliseconds without traffic. */
  readonly timeout: number;
  /** Milliseconds between two sweeps. */
  readonly interval: number;
}

export class IdleSweeper {
  readonly #clock: Clock;
  readonly #limits: IdleLimits;
  readonly #sessions = new Set<Idling>();
  #timer: Timer | undefined;

  constructor(clock: Clock, limits: IdleLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(session: Idling): void {
    this.#sessions.add(session);
    this.#timer ??= this.#clock.every('idle UDP sessions', this.#limits.interval, () => this.#sweep());
  }

  delete(session: Idling): void {
    this.#sessions.delete(session);
    if (this.#sessions.size === 0) this.close();
  }

  /** Stops sweeping. The sessions stay open; their owners close them. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #sweep(): void {
    const idleSince = this.#clock.monotonic() - this.#limits.timeout;
    for (const session of this.#sessions) {
      if (session.lastActive > idleSince) continue;
      this.delete(session);
      session.onIdle();
    }
  }
}
