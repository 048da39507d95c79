// A dial queue with metrics in the registry, under the names of the reference's pools.

import { TaskQueue } from '#lib/queue/task-queue.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { MetricsRegistry } from './registry.ts';

/** @param name For example `pool.link.dialer`. `length` tasks may wait, `workers` tasks run in parallel. */
export function meteredQueue(
  metrics: MetricsRegistry,
  clock: Clock,
  name: string,
  length: number,
  workers: number,
): TaskQueue {
  const work = metrics.timer(`${name}.work_timer`);
  const wait = metrics.timer(`${name}.wait_timer`);
  const queue = new TaskQueue({
    name,
    length,
    workers,
    clock,
    onWork: (milliseconds) => work.update(milliseconds),
    onWait: (milliseconds) => wait.update(milliseconds),
  });
  metrics.gauge(`${name}.queue_size`, () => queue.depth);
  metrics.gauge(`${name}.worker_count`, () => queue.workers);
  metrics.gauge(`${name}.busy_workers`, () => queue.busy);
  metrics.gauge(`${name}.rejected`, () => queue.rejected);
  return queue;
}
