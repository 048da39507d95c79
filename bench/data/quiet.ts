// Waits until routers are idle: some clean up long after a load, which would slow the next subject.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Subject } from './subjects.ts';

type Busy = Pick<Subject, 'name' | 'usage'>;

/** Seconds of processor time within one interval. */
const TOLERATED = 0.02;
/** Milliseconds that routers get. */
const MAX_WAIT_MS = 120_000;

export class Quiet {
  readonly #interval: number;
  readonly #longest: number;
  readonly #missed = new Map<string, number>();

  /** @param interval Milliseconds during which the routers must be idle. */
  constructor(interval: number, longest = MAX_WAIT_MS) {
    this.#interval = interval;
    this.#longest = longest;
  }

  /** Resolves when all routers of these subjects are idle, or when they have not become idle for a long time. */
  async reached(subjects: readonly Busy[]): Promise<void> {
    let busy: readonly Busy[] = subjects;
    for (let waited = 0; waited < this.#longest; waited += this.#interval) {
      const before = new Map(subjects.map((subject) => [subject, spent(subject)]));
      await sleep(this.#interval);
      busy = subjects.filter((subject) => spent(subject) - (before.get(subject) ?? 0) > TOLERATED);
      if (busy.length === 0) return;
    }
    for (const { name } of busy) this.#missed.set(name, (this.#missed.get(name) ?? 0) + 1);
  }

  /** Lines for the report; none if all became idle. */
  get notes(): string[] {
    const lines = [...this.#missed].map(
      ([name, count]) => `${name}: its routers did not become idle within ${this.#longest / 1_000} s, ${count} times`,
    );
    return lines.length === 0 ? [] : ['', ...lines];
  }
}

/** Seconds of processor time that the routers of the subject have used. */
export function spent({ usage }: Pick<Subject, 'usage'>): number {
  return usage().reduce((total, { cpu }) => total + cpu, 0);
}
