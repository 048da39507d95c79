// The metrics of a reference pool for work that has no queue here: hellos of a listener, validations, model changes.

import type { Clock } from '#lib/time/clock.ts';
import type { MetricsRegistry } from './registry.ts';

export class PoolFigures {
  readonly #clock: Clock;
  readonly #update: (milliseconds: number) => void;
  #busy = 0;

  /** @param name For example `pool.listener.link`. `workers` is the limit on parallel work, which may change. */
  constructor(metrics: MetricsRegistry, clock: Clock, name: string, workers: number | (() => number)) {
    this.#clock = clock;
    const timer = metrics.timer(`${name}.work_timer`);
    this.#update = (milliseconds) => timer.update(milliseconds);
    metrics.gauge(`${name}.queue_size`, () => 0);
    metrics.gauge(`${name}.worker_count`, typeof workers === 'number' ? () => workers : workers);
    metrics.gauge(`${name}.busy_workers`, () => this.#busy);
  }

  /** A piece of work begins; call the returned function once when it ends. */
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
