// Aborts work that may never end, for example a regular expression from a client: it would block the whole process.

import { createContext, Script } from 'node:vm';
import { errorCode } from './errors.ts';

interface Bounded {
  run(milliseconds: number): unknown;
  work: () => unknown;
}

let bounded: Bounded | undefined;
/** The second attempt on a busy machine may last this many times the limit: both attempts block the event loop. */
const MAX_STRETCH_FACTOR = 4;
/** Work that got more than this ratio of the processor was not delayed by other processes. */
const FAIR_SHARE = 0.8;

/**
 * Returns the result of `work`, or rethrows its error. @throws Error if `work` needs more processor time than
 * `milliseconds`
 * Only elapsed time can abort work. Work that got too little processor time is therefore repeated once, with more time,
 * so it must be free of side effects.
 */
export function within<T>(milliseconds: number, work: () => T, processorTime = threadTime): T {
  bounded ??= make();
  bounded.work = work;
  try {
    const began = processorTime();
    const first = attempt(bounded, milliseconds);
    if (first) return first.result as T;
    const share = (processorTime() - began) / milliseconds;
    const stretch = Math.min(MAX_STRETCH_FACTOR, 1 / Math.max(share, 1 / MAX_STRETCH_FACTOR));
    const second = share > FAIR_SHARE ? undefined : attempt(bounded, Math.ceil(milliseconds * stretch));
    if (second) return second.result as T;
  } finally {
    bounded.work = idle;
  }
  throw new Error(`it takes longer than ${milliseconds} ms`);
}

/** Returns a function that tells whether this thread has used more than `milliseconds` of processor time since. */
export function workLimit(milliseconds: number, processorTime = threadTime): () => boolean {
  const end = processorTime() + milliseconds;
  return () => processorTime() > end;
}

/** Returns undefined on timeout. */
function attempt({ run }: Bounded, milliseconds: number): { result: unknown } | undefined {
  try {
    return { result: run(milliseconds) };
  } catch (error) {
    if (errorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return undefined;
  }
}

/** Milliseconds of processor time that this thread has used. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const idle = (): unknown => undefined;

/** Node can abort only scripts, so a script calls the work. */
function make(): Bounded {
  const script = new Script('work()');
  const box = { work: idle };
  const context = createContext(box);
  return Object.assign(box, {
    run: (milliseconds: number): unknown => script.runInContext(context, { timeout: milliseconds }),
  });
}
