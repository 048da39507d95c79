// Measures the steps of a load: how many were done and failed, how long they took, and why they failed.

import { describeError } from '#lib/errors.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { StageReport } from './interface.ts';

/** Limit on the times that a stage keeps: a random sample beyond it. */
const MAX_TIMES = 100_000;
/** Limit on the reasons of a stage; further ones are counted together. */
const MAX_REASONS = 20;
/** Characters of a reason. */
const MAX_REASON_LENGTH = 200;
const OTHERS = 'other reasons';

class Stage {
  readonly #times: number[] = [];
  readonly #reasons = new Map<string, number>();
  #done = 0;
  #failed = 0;
  #first = Number.POSITIVE_INFINITY;
  #last = 0;
  #max = 0;

  start(now: number): void {
    this.#first = Math.min(this.#first, now);
  }

  done(begun: number, now: number, random: Random): void {
    this.#done += 1;
    this.#last = now;
    const time = now - begun;
    this.#max = Math.max(this.#max, time);
    if (this.#times.length < MAX_TIMES) this.#times.push(time);
    else {
      const place = Math.floor(random.next() * this.#done);
      if (place < MAX_TIMES) this.#times[place] = time;
    }
  }

  failed(error: unknown): void {
    this.#failed += 1;
    const text = describeError(error).slice(0, MAX_REASON_LENGTH);
    const reason = this.#reasons.has(text) || this.#reasons.size < MAX_REASONS ? text : OTHERS;
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }

  report(group: string, step: string): StageReport {
    const sorted = this.#times.toSorted((a, b) => a - b);
    const at = (share: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
    const seconds = (this.#last - this.#first) / 1_000;
    return {
      group,
      step,
      done: this.#done,
      failed: this.#failed,
      perSecond: seconds > 0 ? rounded(this.#done / seconds) : this.#done,
      p50: at(0.5),
      p99: at(0.99),
      max: rounded(this.#max),
      errors: [...this.#reasons].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count),
    };
  }
}

/** The stages of all groups, in the order of their first start. */
export class Stages {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #stages = new Map<string, { readonly group: string; readonly step: string; readonly stage: Stage }>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Runs and measures a step. Resolves with its result; undefined if it failed. */
  async run<T>(group: string, step: string, work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
    const stage = this.#of(group, step);
    const begun = this.#clock.monotonic();
    stage.start(begun);
    try {
      const result = await work();
      stage.done(begun, this.#clock.monotonic(), this.#random);
      return { result };
    } catch (error) {
      stage.failed(error);
      return undefined;
    }
  }

  report(): StageReport[] {
    return [...this.#stages.values()].map(({ group, step, stage }) => stage.report(group, step));
  }

  #of(group: string, step: string): Stage {
    const key = `${group} ${step}`;
    const known = this.#stages.get(key);
    if (known) return known.stage;
    const stage = new Stage();
    this.#stages.set(key, { group, step, stage });
    return stage;
  }
}

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}
