// Rate-limits wrong TOTP codes per second factor, across sessions, because only a million codes exist.

import { BoundedMap } from '#lib/queue/bounded-map.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Attempts } from '../../state/store/shared-store.ts';
import { SharedAttempts } from '../shared-attempts.ts';

/** Limit on wrong codes per second factor and minute. */
const MAX_GUESSES = 10;
const MINUTE = 60_000;
const MAX_KNOWN = 10_000;

export class CodeGuesses {
  readonly #clock: Clock;
  readonly #shared: SharedAttempts;
  /** By id of the second factor, oldest first. */
  readonly #guesses = new BoundedMap<string, { readonly since: number; count: number }>(MAX_KNOWN);

  constructor(clock: Clock, attempts?: Attempts) {
    this.#clock = clock;
    this.#shared = new SharedAttempts(clock, attempts);
  }

  /** Called before a code is checked, so that concurrent guesses count. Rejects with ApiError beyond the limit. */
  async begin(mfaId: string): Promise<void> {
    const now = this.#clock.now();
    const known = this.#guesses.get(mfaId);
    const guesses = known && now - known.since < MINUTE ? known : { since: now, count: 0 };
    if (guesses.count >= MAX_GUESSES) throw new ApiError('RATE_LIMITED');
    guesses.count++;
    if (guesses !== known) this.#guesses.delete(mfaId);
    this.#guesses.set(mfaId, guesses);
    if ((await this.#shared.add(keyOf(mfaId), MINUTE)) > MAX_GUESSES) throw new ApiError('RATE_LIMITED');
  }

  wasRight(mfaId: string): void {
    this.#guesses.delete(mfaId);
    this.#shared.clear(keyOf(mfaId));
  }
}

function keyOf(mfaId: string): string {
  return `code ${mfaId}`;
}
