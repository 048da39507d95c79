// Wait times between attempts, as an endless generator: tests take values from it without timers.

import type { Random } from '../random.ts';

export interface BackoffPolicy {
  /** Milliseconds. The first wait is `min`; jitter applies to later ones. */
  readonly min: number;
  readonly max: number;
  readonly factor: number;
  /** Half width of the uniform jitter that is added to `factor`; 0 for none. */
  readonly jitter: number;
}

/** The wait after `previous` (0 or less before the first): previous × (factor ± jitter), within [min, max]. */
export function nextBackoff(policy: BackoffPolicy, previous: number, random: Random): number {
  const factor = Math.max(1, policy.factor + (random.next() * 2 - 1) * policy.jitter);
  return Math.min(policy.max, Math.max(policy.min, Math.max(previous, 0) * factor));
}

/** Endless wait times in milliseconds. */
export function* backoff(policy: BackoffPolicy, random: Random): Generator<number, never> {
  let wait = 0;
  for (;;) {
    wait = nextBackoff(policy, wait, random);
    yield wait;
  }
}
