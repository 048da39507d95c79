// There are only a million one-time passwords: who has guessed wrong too often has to wait, whatever session he is in.

import type { Clock } from '#lib/clock.ts';
import { ApiError } from '../../errors/errors.ts';

/** Wrong codes for one second factor in a minute. */
const MOST = 10;
const MINUTE = 60_000;
const MOST_KNOWN = 10_000;

export class CodeGuesses {
  readonly #clock: Clock;
  /** By the id of the second factor, the oldest first. */
  readonly #guesses = new Map<string, { readonly since: number; count: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Before a code is looked at: guesses that are made at the same time count too. Throws ApiError when there were too many. */
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
