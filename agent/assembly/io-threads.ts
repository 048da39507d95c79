// The threads that carry connections for a router.

import { availableParallelism } from 'node:os';
import type { Log } from '#lib/log/log.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { RouterConfig } from '../config/router-config.ts';

const PROGRAM = new URL('./io-thread.ts', import.meta.url);
const MAX_THREADS = 8;

/**
 * Undefined if the configuration wants none, or Node cannot hand descriptors over. They start when a connection needs
 * them.
 *
 * @param ownsProcess Otherwise the program that contains the router decides about threads, so the default is 0.
 */
export function openIoThreads(
  { runtime: { threads } }: Pick<RouterConfig, 'runtime'>,
  { clock, log, ownsProcess }: { readonly clock: Clock; readonly log: Log; readonly ownsProcess: boolean },
): IoThreads | undefined {
  const count = threads ?? (ownsProcess ? Math.min(MAX_THREADS, availableParallelism() - 1) : 0);
  return IoThreads.open({ count, program: PROGRAM, clock, log });
}
