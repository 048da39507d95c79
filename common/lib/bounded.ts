// Work that may never come to an end, such as a regular expression that somebody has sent, is cut off: everything else would wait for it.

import { createContext, Script } from 'node:vm';
import { errorCode } from './errors.ts';

interface Bounded {
  run(milliseconds: number): unknown;
  work: () => unknown;
}

let bounded: Bounded | undefined;

/** Answers what `work` answers, and throws what it throws. Throws Error when it takes longer. */
export function within<T>(milliseconds: number, work: () => T): T {
  bounded ??= make();
  bounded.work = work;
  try {
    return bounded.run(milliseconds) as T;
  } catch (error) {
    if (errorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new Error(`it takes longer than ${milliseconds} ms`);
  }
}

/** Only scripts can be cut off, so one of them calls the work. */
function make(): Bounded {
  const script = new Script('work()');
  const box = { work: (): unknown => undefined };
  const context = createContext(box);
  return Object.assign(box, {
    run: (milliseconds: number): unknown => script.runInContext(context, { timeout: milliseconds }),
  });
}
