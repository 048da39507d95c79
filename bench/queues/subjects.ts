// The compared queues: ours, raw p-queue, fastq, and a ring with counted workers, close to the minimum work of a queue.
// All of them get the same tasks from the same producer; only ours and the ring reject when full.

import fastq from 'fastq';
import PQueue from 'p-queue';
import { errorCode } from '#lib/errors.ts';
import { RingQueue } from '#lib/queue/ring-queue.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import { SystemClock } from '#lib/time/clock.ts';

export type Task = () => Promise<void>;

export interface Subject {
  /** Returns false if the queue is full. `done` is called when the task has ended. Only ours knows owners. */
  offer(task: Task, done: () => void, owner?: string): boolean;
}

export interface QueueSize {
  readonly length: number;
  readonly workers: number;
}

/** The yardstick comes first. */
export const SUBJECTS: Readonly<Record<string, (size: QueueSize) => Subject>> = {
  'p-queue': rawPQueue,
  TaskQueue: taskQueue,
  fastq: fastQueue,
  'ideal ring': idealRing,
};

function taskQueue({ length, workers }: QueueSize): Subject {
  const queue = new TaskQueue({ name: 'bench', length, workers, clock: new SystemClock() });
  return {
    offer(task, done, owner) {
      const rejected = queue.rejected;
      const added = queue.add(task, { owner });
      if (queue.rejected > rejected) {
        added.catch(ignoreFull);
        return false;
      }
      void added.finally(done);
      return true;
    },
  };
}

function ignoreFull(error: unknown): void {
  if (errorCode(error) !== 'QUEUE_FULL') throw error;
}

function rawPQueue({ workers }: QueueSize): Subject {
  const queue = new PQueue({ concurrency: workers });
  return {
    offer(task, done) {
      void queue.add(task).finally(done);
      return true;
    },
  };
}

function fastQueue({ workers }: QueueSize): Subject {
  const queue = fastq.promise((task: Task) => task(), workers);
  return {
    offer(task, done) {
      void queue.push(task).finally(done);
      return true;
    },
  };
}

function idealRing({ length, workers }: QueueSize): Subject {
  const ring = new RingQueue<{ task: Task; done: () => void }>(length);
  let busy = 0;
  const start = (entry: { task: Task; done: () => void }) => {
    busy++;
    void entry.task().then(() => {
      busy--;
      entry.done();
      const next = ring.shift();
      if (next) start(next);
    });
  };
  return {
    offer(task, done) {
      if (busy >= workers) return ring.push({ task, done });
      start({ task, done });
      return true;
    },
  };
}
