// Promises that are intentionally not awaited. This function logs a failure with a name, instead of ending the process
// with an unhandled rejection.

import { describeError } from './errors.ts';
import type { Log } from './log/log.ts';

/** Runs `task` in the background. A failure is logged as `background task failed`. */
export function background(log: Log, name: string, task: Promise<unknown> | (() => Promise<unknown>)): void {
  const running = typeof task === 'function' ? Promise.try(task) : task;
  running.catch((error: unknown) => logFailure(log, name, error));
}

export function logFailure(log: Log, name: string, error: unknown): void {
  log.error({ task: name, error: describeError(error) }, 'background task failed');
}
