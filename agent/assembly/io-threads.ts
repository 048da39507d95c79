// The threads that carry connections for a router.

import type { Log } from '#lib/log/log.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { RouterConfig } from '../config/router-config.ts';

const PROGRAM = new URL('./io-thread.ts', import.meta.url);

/** Undefined if the configuration wants none. They start when a connection needs them. */
export function openIoThreads(
  { runtime }: Pick<RouterConfig, 'runtime'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): IoThreads | undefined {
  if (runtime.threads === 0) return undefined;
  return new IoThreads({ count: runtime.threads, program: PROGRAM, clock, log: log.child({ component: 'threads' }) });
}
