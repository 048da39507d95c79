// Recognizes measurements that others disturbed: other virtual machines (while this one waits for a processor of the
// host, Linux counts steal time), and other programs of this machine. Disturbed measurements are repeated, because
// their figures describe the neighbors.

import { availableParallelism } from 'node:os';
import { type ProcessorTimes, readProcessorTimes } from './processor-times.ts';

/** Shares of the processor time. */
export interface TakenShares {
  /** By other machines, of the time in which this one had work. */
  readonly stolen: number;
  /** By other programs of this machine, of all time. */
  readonly others: number;
}

/**
 * Shares that do not count as a disturbance. The kernel's own work for a benchmark counts as that of another program.
 */
export const TOLERATED: TakenShares = { stolen: 0.02, others: 0.05 };
/** Repetitions of one measurement. The least disturbed one counts. */
const MAX_REPETITIONS = 2;
/** Milliseconds for a measurement with its repetitions. Longer ones are not repeated: disturbances average out. */
const MAX_WAIT_MS = 30_000;

export interface DisturbanceSources {
  times(): ProcessorTimes;
  /** Milliseconds. */
  now(): number;
  /** The unit of `times`, in milliseconds. */
  readonly unit: number;
  readonly cores: number;
}

const MACHINE: DisturbanceSources = {
  times: readProcessorTimes,
  now: () => performance.now(),
  unit: 10,
  cores: availableParallelism(),
};

export class Disturbance {
  readonly #sources: DisturbanceSources;
  #measurements = 0;
  #repetitions = 0;
  #disturbed = 0;
  #worst: TakenShares = { stolen: 0, others: 0 };

  constructor(sources: DisturbanceSources = MACHINE) {
    this.#sources = sources;
  }

  /** Runs `task`, again if it was disturbed. */
  async undisturbed<T>(task: () => Promise<T>): Promise<T> {
    return this.#leastDisturbed(task, MAX_REPETITIONS);
  }

  /** Runs `task` once, for measurements that cannot be repeated, and counts whether it was disturbed. */
  async once<T>(task: () => Promise<T>): Promise<T> {
    return this.#leastDisturbed(task, 0);
  }

  /** Runs `task`, and tells what others took meanwhile. */
  async observed<T>(task: () => Promise<T>): Promise<{ readonly result: T; readonly taken: TakenShares }> {
    const { times, now, unit, cores } = this.#sources;
    const [before, start] = [times(), now()];
    const result = await task();
    const after = times();
    const [busy, stolen, own] = [after.busy - before.busy, after.stolen - before.stolen, after.own - before.own];
    const all = Math.max(1, ((now() - start) * cores) / unit);
    return {
      result,
      taken: { stolen: stolen / Math.max(1, busy + stolen), others: Math.min(1, Math.max(0, busy - own) / all) },
    };
  }

  /** Lines for the report; none if nothing was disturbed. */
  get notes(): string[] {
    if (this.#repetitions === 0 && this.#disturbed === 0) return [];
    return [
      '',
      `other machines took more than ${percent(TOLERATED.stolen)} of the processor time, or other programs more than ${percent(TOLERATED.others)}; repetitions: ${this.#repetitions}`,
      ...(this.#disturbed > 0
        ? [
            `measurements that count though disturbed: ${this.#disturbed} of ${this.#measurements}; the worst: ${describeTaken(this.#worst)}`,
          ]
        : []),
    ];
  }

  async #leastDisturbed<T>(task: () => Promise<T>, repetitions: number): Promise<T> {
    this.#measurements++;
    const { now } = this.#sources;
    const start = now();
    let best = await this.observed(task);
    const latest = MAX_WAIT_MS - (now() - start);
    for (let left = repetitions; left > 0 && isDisturbed(best.taken) && now() - start <= latest; left--) {
      this.#repetitions++;
      const next = await this.observed(task);
      if (severity(next.taken) < severity(best.taken)) best = next;
    }
    if (isDisturbed(best.taken)) {
      this.#disturbed++;
      if (severity(best.taken) > severity(this.#worst)) this.#worst = best.taken;
    }
    return best.result;
  }
}

export function isDisturbed(taken: TakenShares): boolean {
  return severity(taken) > 1;
}

/** `other machines 3 %, other programs 12 % of the processor time`. */
export function describeTaken({ stolen, others }: TakenShares): string {
  return `other machines ${percent(stolen)}, other programs ${percent(others)} of the processor time`;
}

/** Above 1 for a disturbance. */
function severity({ stolen, others }: TakenShares): number {
  return Math.max(stolen / TOLERATED.stolen, others / TOLERATED.others);
}

function percent(share: number): string {
  return `${Math.ceil(share * 100 - 1e-9)} %`;
}
