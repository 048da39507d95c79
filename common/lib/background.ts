// Promises that nobody awaits, on purpose. They go through here, so that a failure is logged with a name and counted
// instead of ending the process as an unhandled rejection.

import { describeError } from './errors.ts';
import type { Log } from './log.ts';

/** Lets `task` run on its own. A failure is logged as `background task failed`. */
export function background(log: Log, name: string, task: Promise<unknown> | (() => Promise<unknown>)): void {
  const running = typeof task === 'function' ? Promise.try(task) : task;
  running.catch((error: unknown) => log.error({ task: name, error: describeError(error) }, 'background task failed'));
}
