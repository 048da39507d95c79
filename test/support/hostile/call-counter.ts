// Counts the calls of JavaScript functions, those of packages and of Node included, while something runs: a measure of
// work that is the same on a slow or busy machine. V8 counts them for its coverage reports. Native code (regular
// expressions, TLS, compression) and loops without calls are not counted.

import { type Profiler, Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';

/** Optimized code does not count the calls that it has inlined. */
const OPTIMIZERS = ['turbofan', 'maglev'];
/** Work for four times the input may need so many times the calls: a square needs 16 times. */
export const MAX_GROWTH = 8;

/** The calls since the last look. */
export interface Calls {
  readonly total: number;
  /** Calls of the functions with this name. */
  of(name: string): number;
}

/** Counts from its creation on. One counter at a time. */
export class CallCounter {
  readonly #session = new Session();

  constructor() {
    for (const each of OPTIMIZERS) setFlagsFromString(`--no-${each}`);
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /** The calls since the creation or the last `take`. */
  take(): Calls {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
    const counts = new Map<string, number>();
    let total = 0;
    for (const { functionName, ranges } of result.flatMap(({ functions }) => functions)) {
      const count = ranges[0]?.count ?? 0;
      total += count;
      counts.set(functionName, (counts.get(functionName) ?? 0) + count);
    }
    return { total, of: (name) => counts.get(name) ?? 0 };
  }

  [Symbol.dispose](): void {
    this.#post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
    for (const each of OPTIMIZERS) setFlagsFromString(`--${each}`);
  }

  /** The inspector runs in this thread, so it answers during the call. */
  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, parameters, (error: Error | null, result?: unknown) => {
      if (error) throw error;
      answer = result;
    });
    return answer;
  }
}

/** The calls while `work` runs. */
export async function callsOf(work: () => unknown): Promise<Calls> {
  using counter = new CallCounter();
  await work();
  return counter.take();
}

/** How many times the calls `work` needs for an input that is four times as large. */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  await work(size); // what is computed once only
  const small = await callsOf(() => work(size));
  const large = await callsOf(() => work(4 * size));
  return large.total / small.total;
}
