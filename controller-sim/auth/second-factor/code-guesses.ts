// Rate-limits wrong TOTP codes per second factor, across sessions, because only a million codes exist.

import type { Clock } from '#lib/clock.ts';
import { ApiError } from '../../errors/errors.ts';

/** Limit on wrong codes per second factor and minute. */
const MOST = 10;
const MINUTE = 60_000;
const MOST_KNOWN = 10_000;

export class CodeGuesses {
  readonly #clock: Clock;
  /** By id of the second factor, oldest first. */
  readonly #guesses = new Map<string, { readonly since: number; count: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called before a code is checked, so that concurrent guesses count. Throws ApiError beyond the limit. */
  begin(mfaId: string): void {
    const now = this.#clock.now();
    const known = this.#guesses.get(mfaId);
    const guesses = known && now - known.since < MINUTE ? known : { since: now, count: 0 };
    if (guesses.count >= MOST) throw new ApiError('RATE_LIMITED');
    guesses.count++;
    if (guesses !== known) this.#guesses.delete(mfaId);
    this.#guesses.set(mfaId, guesses);
    const [oldest] = this.#guesses.keys();
    if (this.#guesses.size > MOST_KNOWN && oldest !== undefined) this.#guesses.delete(oldest);
  }

  wasRight(mfaId: string): void {
    this.#guesses.delete(mfaId);
  }
}
