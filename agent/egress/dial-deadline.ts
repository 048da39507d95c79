// The one time limit of a dial, with all its steps: name, connection, proxy, TLS.

import { TimeoutError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';

export interface DialLimits {
  readonly clock: Clock;
  /** Milliseconds; 0 means no limit of our own. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a dial; its signal aborts with the given one or after the timeout. `target` is for the error: `tcp:example:80`.
 */
export async function withinTime<T>(
  target: string,
  { clock, timeout, signal }: DialLimits,
  dial: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeout <= 0) return dial(signal);
  const late = clock.deadline('egress dial', timeout, () => new TimeoutError(`dialing ${target}`, timeout));
  try {
    return await dial(AbortSignal.any([signal, late.signal]));
  } finally {
    late.timer.cancel();
  }
}
