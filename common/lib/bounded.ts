// Work that may never come to an end, such as a regular expression that somebody has sent, is cut off: everything else would wait for it.

import { createContext, Script } from 'node:vm';
import { errorCode } from './errors.ts';

interface Bounded {
  run(milliseconds: number): unknown;
  work: () => unknown;
}

let bounded: Bounded | undefined;
/** The second attempt on a busy machine may last so many times the limit. */
const LONGEST_STRETCH = 20;
/** Work that had more of the processor than this in its time was not held up by others. */
const FAIR_SHARE = 0.8;

/**
 * Returns the result of `work`, and throws what it throws. Throws Error when `work` needs more than so many milliseconds of the
 * processor. Only elapsed time can cut work off: work that got too little of the processor in that time is repeated once, with more time.
 * So it must be free of side effects.
 */
export function within<T>(milliseconds: number, work: () => T, processorTime = threadTime): T {
  bounded ??= make();
  bounded.work = work;
  try {
    const began = processorTime();
    const first = attempt(bounded, milliseconds);
    if (first) return first.result as T;
    const share = (processorTime() - began) / milliseconds;
    const stretch = Math.min(LONGEST_STRETCH, 1 / Math.max(share, 1 / LONGEST_STRETCH));
    const second = share > FAIR_SHARE ? undefined : attempt(bounded, Math.ceil(milliseconds * stretch));
    if (second) return second.result as T;
  } finally {
    bounded.work = idle;
  }
  throw new Error(`it takes longer than ${milliseconds} ms`);
}

/** Undefined when the time is over. */
function attempt({ run }: Bounded, milliseconds: number): { result: unknown } | undefined {
  try {
    return { result: run(milliseconds) };
  } catch (error) {
    if (errorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return undefined;
  }
}

/** Milliseconds of the processor that this thread has used. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const idle = (): unknown => undefined;

/** Only scripts can be cut off, so one of them calls the work. */
function make(): Bounded {
  const script = new Script('work()');
  const box = { work: idle };
  const context = createContext(box);
  return Object.assign(box, {
    run: (milliseconds: number): unknown => script.runInContext(context, { timeout: milliseconds }),
  });
}
