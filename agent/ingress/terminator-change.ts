// Changes of the cost and precedence of one terminator that its controller does not have yet. A change that could not be
// sent is sent later, with what changed meanwhile: a lost one would leave traffic at a host that is not healthy.

import type { TerminatorPrecedence } from '#wire/gen/edge_control_pb.js';
import { retryWait } from './terminator-retry.ts';

export interface WeightChange {
  readonly cost?: number;
  readonly precedence?: TerminatorPrecedence;
}

export class TerminatorChange {
  #waiting: WeightChange | undefined;
  #isSending = false;
  #failures = 0;
  /** In milliseconds of the caller's clock. */
  #notBefore = 0;

  /** Newer values replace older ones, and are sent at once. */
  add(change: WeightChange): void {
    this.#waiting = { ...this.#waiting, ...change };
    this.#failures = 0;
    this.#notBefore = 0;
  }

  /** Whether there is something to send now. One change is sent at a time: a later one must not arrive first. */
  isDue(now: number): boolean {
    return this.#waiting !== undefined && !this.#isSending && this.#notBefore <= now;
  }

  /** Returns what to send. End it with `ended` or `failed`. */
  begin(): WeightChange {
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
    if (this.#waiting === undefined) this.#notBefore = now + retryWait(++this.#failures);
    this.#waiting = { ...change, ...this.#waiting };
    return Math.max(0, this.#notBefore - now);
  }
}
