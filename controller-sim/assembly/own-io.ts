// The context of the connections of a simulator that owns its process: with a thread that takes over while strangers
// cause more work than others should feel.

import { availableParallelism } from 'node:os';
import type { Log } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import type { Clock } from '#lib/time/clock.ts';

const PROGRAM = new URL('./connection-thread.ts', import.meta.url);

/** The thread starts when it is needed, on machines with a further core. */
export function ownIo({ clock, log }: { readonly clock: Clock; readonly log: Log }): IoContext {
  const count = Math.min(1, availableParallelism() - 1);
  return new IoContext({ clock, threads: IoThreads.open({ count, program: PROGRAM, clock, log }) });
}
