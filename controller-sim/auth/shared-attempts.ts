// Counts of failed proofs that all controllers with a common store share. The count of a single controller holds if the
// store does not answer.

import { realClock } from '#lib/time/advancing-clock.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Attempts } from '../state/store/shared-store.ts';

/** Milliseconds until a login no longer waits for the common count. */
const MAX_WAIT_MS = 1_000;

export class SharedAttempts {
  readonly #attempts: Attempts | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock, attempts: Attempts | undefined) {
    this.#clock = clock;
    this.#attempts = attempts;
  }

  /** Whether other controllers may count, too. */
  get isCommon(): boolean {
    return this.#attempts !== undefined;
  }

  /** @returns the count of all controllers; 0 if the store does not answer */
  async add(key: string, milliseconds: number): Promise<number> {
    if (!this.#attempts) return 0;
    const late = Promise.withResolvers<number>();
    const timer = realClock(this.#clock).after('common count of attempts', MAX_WAIT_MS, () => late.resolve(0));
    const added = this.#attempts.add(key, this.#clock.now(), milliseconds).catch(() => 0);
    const count = await Promise.race([added, late.promise]);
    timer.cancel();
    return count;
  }

  /** Does not wait for the store. */
  clear(key: string): void {
    this.#attempts?.clear(key).catch(() => undefined); // it ends by itself
  }
}
