// Changes of the cost and precedence of one terminator that its controller does not have yet. A change that could not
// be sent is sent later, with what changed meanwhile: a lost one would leave traffic at a host that is not healthy.

import { TokenBucket } from '#lib/queue/token-bucket.ts';
import type { TerminatorPrecedence } from '#wire/gen/edge_control_pb.js';
import { retryWait } from './terminator-retry.ts';

export interface WeightChange {
  readonly cost?: number;
  readonly precedence?: TerminatorPrecedence;
}

/** Changes of one terminator that are sent: an SDK client may change its service as often as it likes. */
const RATE = { burst: 10, perSecond: 1, ahead: 1 };

export class TerminatorChange {
  readonly #rate: TokenBucket;
  #waiting: WeightChange | undefined;
  #isSending = false;
  #failures = 0;
  #retryAt = 0;
  /** The rate allows the next change at this time. */
  #allowedAt = 0;

  /** `now` is a monotonic time in milliseconds, here and below. */
  constructor(now: number) {
    this.#rate = new TokenBucket(RATE, now);
  }

  /** Newer values replace older ones, and do not wait for a retry. */
  add(change: WeightChange): void {
    this.#waiting = { ...this.#waiting, ...change };
    this.#failures = 0;
    this.#retryAt = 0;
  }

  /** Whether there is something to send now. One change is sent at a time: a later one must not arrive first. */
  isDue(now: number): boolean {
    return this.#waiting !== undefined && !this.#isSending && Math.max(this.#retryAt, this.#allowedAt) <= now;
  }

  /** Returns what to send. End it with `ended` or `failed`. */
  begin(now: number): WeightChange {
    this.#allowedAt = now + (this.#rate.take(now) ?? 0);
    const change = this.#waiting ?? {};
    this.#waiting = undefined;
    this.#isSending = true;
    return change;
  }

  ended(): void {
    this.#isSending = false;
    this.#failures = 0;
  }

  /** Returns the milliseconds until the next attempt. */
  failed(change: WeightChange, now: number): number {
    this.#isSending = false;
    if (this.#waiting === undefined) this.#retryAt = now + retryWait(++this.#failures);
    this.#waiting = { ...change, ...this.#waiting };
    return Math.max(0, this.#retryAt - now);
  }
}
