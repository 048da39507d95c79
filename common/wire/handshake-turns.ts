// When TLS handshakes begin. Each costs one or two milliseconds of processor time, and strangers may ask for as many as they
// like. A few begin at once; more than that begin one after another, and sources take turns. The next one begins when the
// event loop has been idle for half of the time since the last one: so handshakes use half of the processor while nobody
// else needs it. If others do, one begins every 10 ms.

import type { Clock, Timer } from '#lib/clock.ts';
import { TokenBucket } from '#lib/token-bucket.ts';

/** Milliseconds between two handshakes: at least, and in a busy process. */
const PAUSE = 1;
const LONGEST_PAUSE = 10;
/** Handshakes that begin at once: what routers and clients ask for in normal operation. */
const AT_ONCE = { burst: 8, perSecond: 20 };
/** Part of the time since the last one in which an event loop with time for others is idle. */
const IDLE_SHARE = 0.5;

export class HandshakeTurns {
  readonly #clock: Clock;
  readonly #idleTime: () => number;
  /** By source; whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #free: TokenBucket;
  #timer: Timer | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;
  #idleThen = 0;

  /** @param idleTime Milliseconds for which the event loop has waited since the start of the process. */
  constructor(clock: Clock, idleTime: () => number = () => performance.eventLoopUtilization().idle) {
    this.#clock = clock;
    this.#idleTime = idleTime;
    this.#free = new TokenBucket(AT_ONCE, clock.monotonic());
  }

  /** Calls `begin` at once or later. Returns how to give up the place: the client may be gone before. */
  request(source: string, begin: () => void): () => void {
    if (this.#waiting.size === 0 && this.#free.take(this.#clock.monotonic()) !== undefined) {
      this.#begin(begin);
      return () => undefined;
    }
    const own = this.#waiting.get(source) ?? new Set();
    this.#waiting.set(source, own.add(begin));
    this.#look();
    return () => {
      own.delete(begin);
      if (own.size === 0 && this.#waiting.get(source) === own) this.#waiting.delete(source);
    };
  }

  /** Forgets those that wait. */
  close(): void {
    this.#timer?.cancel();
    this.#waiting.clear();
  }

  #begin(begin: () => void): void {
    this.#begunAt = this.#clock.monotonic();
    this.#idleThen = this.#idleTime();
    begin();
  }

  #look(): void {
    this.#timer ??= this.#clock.after('tls handshake', PAUSE, () => {
      this.#timer = undefined;
      const elapsed = this.#clock.monotonic() - this.#begunAt;
      const isIdle = this.#idleTime() - this.#idleThen >= IDLE_SHARE * elapsed;
      if (isIdle || elapsed >= LONGEST_PAUSE) this.#beginNext();
      if (this.#waiting.size > 0) this.#look();
    });
  }

  #beginNext(): void {
    for (const [source, own] of this.#waiting) {
      const [begin] = own;
      if (begin) own.delete(begin);
      this.#waiting.delete(source);
      if (own.size > 0) this.#waiting.set(source, own); // behind the others
      if (begin) this.#begin(begin);
      return;
    }
  }
}
