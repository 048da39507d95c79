// The limits of a dial: one time limit for all its steps (name, connection, proxy, TLS), and a file descriptor.

import { TimeoutError } from '#lib/errors.ts';
import type { IoContext } from '#lib/net/io-context.ts';

export interface DialLimits {
  readonly io: Pick<IoContext, 'clock' | 'clientSockets'>;
  /** Milliseconds; 0 means no limit of our own. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a dial; its signal aborts with the given one or after the timeout. `target` is for the error: `tcp:example:80`.
 */
export async function withinTime<T>(
  target: string,
  { io, timeout, signal }: DialLimits,
  dial: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeout <= 0) return dial(signal);
  const late = io.clock.deadline('egress dial', timeout, () => new TimeoutError(`dialing ${target}`, timeout));
  try {
    return await dial(AbortSignal.any([signal, late.signal]));
  } finally {
    late.timer.cancel();
  }
}
