// The figures of a pool of the reference for work that has no queue of its own here: hellos of a listener, validations, model changes.

import type { Clock } from '#lib/clock.ts';
import type { MetricsRegistry } from './registry.ts';

export class PoolFigures {
  readonly #clock: Clock;
  readonly #update: (milliseconds: number) => void;
  #busy = 0;

  /** `name` such as `pool.listener.link`; `workers` is how much may run at once. */
  constructor(metrics: MetricsRegistry, clock: Clock, name: string, workers: number) {
    this.#clock = clock;
    const timer = metrics.timer(`${name}.work_timer`);
    this.#update = (milliseconds) => timer.update(milliseconds);
    metrics.gauge(`${name}.queue_size`, () => 0);
    metrics.gauge(`${name}.worker_count`, () => workers);
    metrics.gauge(`${name}.busy_workers`, () => this.#busy);
  }

  /** Some work begins; call the returned function once when it ends. */
  begin(): () => void {
    const began = this.#clock.monotonic();
    this.#busy++;
    return () => {
      this.#busy--;
      this.#update(this.#clock.monotonic() - began);
    };
  }

  run<T>(work: () => T): T {
    const end = this.begin();
    try {
      return work();
    } finally {
      end();
    }
  }
}
