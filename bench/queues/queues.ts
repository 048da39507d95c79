// `npm run bench -- queues`: measures the forwarder's dial queues with their configured lengths and workers. A producer
// offers tasks as fast as the queue accepts them, or at a rate (sizing.ts). Subjects take turns within each round; the
// result is the median of the rounds.

import { setTimeout as sleep } from 'node:timers/promises';
import { checkRouterConfig, loadRouterConfig } from '../../agent/config/load.ts';
import type { RouterConfig } from '../../agent/config/router-config.ts';
import { writeTemplate } from '../../agent/config/text/templates.ts';
import { ConfigurationError } from '../../entry/router.ts';
import {
  type Benchmark,
  type BenchmarkOptions,
  type Column,
  isWanted,
  labelOf,
  type Plot,
  type Row,
  type Sizes,
  type Work,
} from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import { measureSizing, SIZING_PLOTS, sizingNotes, sizingOf } from './sizing.ts';
import { type QueueSize, SUBJECTS, type Subject, type Task } from './subjects.ts';
import { TlsTarget } from './tls-target.ts';
import { quantile, WaitTimes } from './wait-times.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  tasks: { unit: '/s', better: 'higher', meaning: 'tasks completed per second' },
  'wait p50': {
    unit: 'ms',
    better: 'lower',
    meaning: 'time from the intention to offer a task until it starts, of half of the tasks',
  },
  'wait p99': { unit: 'ms', better: 'lower', meaning: 'the same, of 99 of 100 tasks' },
  rejected: {
    unit: 'tasks',
    better: 'lower',
    meaning: 'tasks that a full queue rejected when they were offered first',
  },
  retries: { unit: 'offers', better: 'lower', meaning: 'further offers of rejected tasks' },
  memory: { unit: 'MiB', better: 'lower', meaning: 'memory of a queue that is full, or has all tasks' },
};
const PLOTS: readonly Plot[] = [
  { name: 'tasks', title: 'tasks per second', column: 'tasks' },
  { name: 'p50', title: 'typical wait', column: 'wait p50' },
  { name: 'p99', title: 'longest waits', column: 'wait p99' },
  { name: 'memory', title: 'memory of waiting tasks', column: 'memory' },
];
const YARDSTICK = 'p-queue';
const MIB = 1024 * 1024;

interface QueueWork extends Work {
  readonly sizes: Sizes;
  readonly size: QueueSize;
  readonly count: number;
}

interface BurstWork extends QueueWork {
  readonly kind: Kind;
}

type Kind = 'no-op tasks' | 'TLS dials';

/**
 * Tasks of an owner whose tasks hang, as dials of a dead host do: milliseconds of each, and in multiples of the
 * workers.
 */
const HANG = 200;
const HANGING = 4;
/** Milliseconds between two tasks of another owner. */
const PAUSE = 2;
const BESIDE = 'tasks beside an owner whose tasks hang';

export const queues: Benchmark = {
  groups: (options) => {
    const sizing = sizingOf(options, queueSizes(options).egress);
    return (sizing ?? [...burstsOf(options), besideOf(options)]).map(labelOf);
  },
  async measure(options, progress) {
    const sizing = sizingOf(options, queueSizes(options).egress);
    const rounds = sizing ? 1 : options.quick ? 1 : 5;
    const rows = sizing
      ? await measureSizing(sizing, options, { progress, yardstick: YARDSTICK })
      : await measureAll(options, rounds, progress);
    const title = 'Dial queues';
    const notes = sizing ? sizingNotes(sizing) : [];
    const plots = sizing ? SIZING_PLOTS : PLOTS;
    return { name: 'queues', title, columns: COLUMNS, yardstick: YARDSTICK, rows, notes, plots, rounds };
  },
};

async function measureAll(options: BenchmarkOptions, rounds: number, progress: (text: string) => void): Promise<Row[]> {
  const target = await TlsTarget.open();
  const tasks: Readonly<Record<Kind, Task>> = {
    'no-op tasks': () => Promise.resolve(),
    'TLS dials': () => target.dial(),
  };
  const rows: Row[] = [];
  try {
    for (const work of burstsOf(options)) {
      if (!isWanted(work, options)) continue;
      progress(labelOf(work));
      rows.push(...(await measureBurst(work, tasks[work.kind], rounds, collector(options.quick))));
    }
    const beside = besideOf(options);
    if (isWanted(beside, options)) {
      progress(labelOf(beside));
      rows.push(...(await measureBeside(beside, rounds)));
    }
  } finally {
    await target.close();
  }
  return rows;
}

function burstsOf(options: BenchmarkOptions): BurstWork[] {
  const counts: Readonly<Record<Kind, number>> = options.quick
    ? { 'no-op tasks': 2_000, 'TLS dials': 20 }
    : { 'no-op tasks': 50_000, 'TLS dials': 300 };
  return Object.entries(queueSizes(options)).flatMap(([queue, size]) =>
    (['no-op tasks', 'TLS dials'] as const).map((kind) => {
      const count = counts[kind];
      return { group: `${queue}: ${kind}`, sizes: sizesOf(size, count), size, kind, count };
    }),
  );
}

/** Other owners: dials of a live service while those of a dead one hang. */
function besideOf(options: BenchmarkOptions): QueueWork {
  const size = queueSizes(options).egress;
  const count = options.quick ? 20 : 300;
  return { group: `egress: ${BESIDE}`, sizes: sizesOf(size, count), size, count };
}

function sizesOf({ length, workers }: QueueSize, tasks: number): Sizes {
  return { queue: length, workers, tasks };
}

async function measureBeside(work: QueueWork, rounds: number): Promise<Row[]> {
  const subjects = Object.entries(SUBJECTS);
  const measured = new Map<string, Values[]>(subjects.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, make] of subjects) measured.get(name)?.push(await waitsBeside(make(work.size), work));
  return toRows({ group: work.group, sizes: work.sizes }, measured, YARDSTICK);
}

async function waitsBeside(subject: Subject, { size: { workers }, count }: QueueWork): Promise<Values> {
  let isOver = false;
  let hanging = 0;
  const hang = () => {
    while (!isOver && hanging < HANGING * workers && subject.offer(() => sleep(HANG), onHung, 'dead')) hanging++;
  };
  const onHung = () => {
    hanging--;
    hang();
  };
  hang();
  const waits = new Float64Array(count);
  let rejected = 0;
  await Promise.all(
    Array.from(waits, async (_, index) => {
      await sleep(PAUSE * index);
      const since = performance.now();
      const { promise, resolve } = Promise.withResolvers<void>();
      const task = async () => {
        waits[index] = performance.now() - since;
      };
      if (!subject.offer(task, resolve, 'live')) {
        rejected++;
        resolve();
      }
      await promise;
    }),
  );
  isOver = true;
  while (hanging > 0) await sleep(HANG / 4);
  waits.sort();
  return { 'wait p50': quantile(waits, 0.5), 'wait p99': quantile(waits, 0.99), rejected };
}

/** Link and egress dials, and rate-limited requests to controllers. */
function queueSizes({ config }: BenchmarkOptions): Readonly<Record<'link' | 'egress' | 'rate-limited', QueueSize>> {
  const { forwarder } = readConfig(config);
  return {
    link: { length: forwarder.linkDialQueueLength, workers: forwarder.linkDialWorkerCount },
    egress: { length: forwarder.xgressDialQueueLength, workers: forwarder.xgressDialWorkerCount },
    'rate-limited': { length: forwarder.rateLimitedQueueLength, workers: forwarder.rateLimitedWorkerCount },
  };
}

function readConfig(file: string | undefined): RouterConfig {
  const values = { name: 'bench', ctrl: 'tls:127.0.0.1:6262', advertise: '127.0.0.1' };
  const loaded =
    file === undefined
      ? checkRouterConfig(writeTemplate('minimal', values), 'defaults', { beforeEnrollment: true })
      : loadRouterConfig(file, { beforeEnrollment: true });
  if (!loaded.config) throw new ConfigurationError(loaded);
  return loaded.config;
}

/** Measures speed and memory in separate rounds: garbage collection takes time. */
async function measureBurst(
  { group, sizes, size, count }: BurstWork,
  task: Task,
  rounds: number,
  collect: Collect | undefined,
): Promise<Row[]> {
  const subjects = Object.entries(SUBJECTS);
  const measured = new Map<string, Values[]>(subjects.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, make] of subjects) {
      const values = await measureSpeed(make(size), task, count, collect);
      measured.get(name)?.push({ ...values, ...(await measureMemory(make(size), count, collect)) });
    }
  }
  return toRows({ group, sizes }, measured, YARDSTICK);
}

/** Collects garbage, with access to the collector: all of it, or for quick runs only the young. */
type Collect = () => void;

function collector(isQuick: boolean): Collect | undefined {
  const { gc } = globalThis;
  return gc && (() => void gc(isQuick ? { type: 'minor' } : { type: 'major' }));
}

async function measureSpeed(
  subject: Subject,
  task: Task,
  count: number,
  collect: Collect | undefined,
): Promise<Values> {
  collect?.();
  const waits = new WaitTimes(count);
  const start = performance.now();
  await produce(
    subject,
    count,
    (index) => waits.timed(index, task),
    (index) => waits.rejected(index),
  );
  const seconds = (performance.now() - start) / 1000;
  return { tasks: count / seconds, ...waits.values() };
}

/**
 * MiB in use, without garbage, when the producer stops for the first time: the queue rejects an offer, or contains all
 * tasks. The tasks do nothing, so only waiting tasks use memory. Without access to the garbage collector, nothing is
 * measured.
 */
async function measureMemory(subject: Subject, count: number, collect: Collect | undefined): Promise<Values> {
  if (!collect) return {};
  collect();
  const before = process.memoryUsage().heapUsed;
  let held: number | undefined;
  const look = () => {
    if (held !== undefined) return;
    collect();
    held = process.memoryUsage().heapUsed - before;
  };
  await produce(subject, count, () => () => Promise.resolve(), look, look);
  return { memory: Math.max(0, held ?? 0) / MIB };
}

/**
 * Offers `count` tasks as fast as they are accepted, and retries rejected ones after a turn of the event loop; resolves
 * when all have ended.
 */
function produce(
  subject: Subject,
  count: number,
  taskOf: (index: number) => Task,
  onRejected: (index: number) => void,
  onAllOffered: () => void = () => undefined,
): Promise<void> {
  return new Promise((resolve) => {
    let offered = 0;
    let ended = 0;
    const done = () => {
      ended++;
      if (ended === count) resolve();
    };
    const offer = () => {
      while (offered < count) {
        if (!subject.offer(taskOf(offered), done)) {
          onRejected(offered);
          setImmediate(offer);
          return;
        }
        offered++;
      }
      onAllOffered();
    };
    offer();
  });
}
