// Recognizes measurements that other virtual machines disturbed: while one waits for a processor of the host, Linux counts
// steal time. Disturbed measurements are repeated, because their figures describe the neighbors.

import { existsSync, readFileSync } from 'node:fs';

export interface ProcessorTime {
  readonly busy: number;
  readonly stolen: number;
}

/** Part of the busy time that may be stolen. */
const TOLERATED = 0.02;
/** Repetitions of one measurement. The least disturbed one counts. */
const MOST_REPETITIONS = 2;
/** Milliseconds for a measurement with its repetitions. Longer ones are not repeated: disturbances average out. */
const LONGEST = 30_000;
const SOURCE = '/proc/stat';

export class Steal {
  readonly #read: () => ProcessorTime;
  readonly #now: () => number;
  #measurements = 0;
  #repetitions = 0;
  #disturbed = 0;
  #worst = 0;

  /** `read` returns times since any moment, in any unit; `now` returns milliseconds. */
  constructor(read = processorTime, now = () => performance.now()) {
    this.#read = read;
    this.#now = now;
  }

  /** Runs `task`, again if it was disturbed. */
  async undisturbed<T>(task: () => Promise<T>): Promise<T> {
    return this.#leastDisturbed(task, MOST_REPETITIONS);
  }

  /** Runs `task` once, for measurements that cannot be repeated, and counts whether it was disturbed. */
  async once<T>(task: () => Promise<T>): Promise<T> {
    return this.#leastDisturbed(task, 0);
  }

  /** Lines for the report; none if nothing was disturbed. */
  get notes(): string[] {
    if (this.#repetitions === 0 && this.#disturbed === 0) return [];
    const percent = (share: number) => `${Math.ceil(share * 100)} %`;
    const disturbed = `${this.#disturbed} of ${this.#measurements}`;
    return [
      '',
      `other machines took more than ${percent(TOLERATED)} of the processor time; repetitions: ${this.#repetitions}`,
      ...(this.#disturbed > 0
        ? [`measurements that count though disturbed: ${disturbed}, by up to ${percent(this.#worst)}`]
        : []),
    ];
  }

  async #leastDisturbed<T>(task: () => Promise<T>, repetitions: number): Promise<T> {
    this.#measurements++;
    const start = this.#now();
    let best = await this.#observed(task);
    const latest = LONGEST - (this.#now() - start);
    for (let left = repetitions; left > 0 && best.stolen > TOLERATED && this.#now() - start <= latest; left--) {
      this.#repetitions++;
      const next = await this.#observed(task);
      if (next.stolen < best.stolen) best = next;
    }
    if (best.stolen > TOLERATED) {
      this.#disturbed++;
      this.#worst = Math.max(this.#worst, best.stolen);
    }
    return best.result;
  }

  async #observed<T>(task: () => Promise<T>): Promise<{ readonly result: T; readonly stolen: number }> {
    const before = this.#read();
    const result = await task();
    const after = this.#read();
    const stolen = after.stolen - before.stolen;
    return { result, stolen: stolen / Math.max(1, after.busy - before.busy + stolen) };
  }
}

/** The time of all processors since the system started, in hundredths of a second; zero where it is not counted. */
function processorTime(): ProcessorTime {
  const text = existsSync(SOURCE) ? readFileSync(SOURCE, 'latin1') : '';
  const [line = ''] = text.split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = line.split(/ +/).slice(1).map(Number);
  return { busy: user + nice + system + irq + softirq, stolen };
}
