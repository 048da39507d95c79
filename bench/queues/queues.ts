// `npm run bench -- queues`: measures the forwarder's dial queues with their configured lengths and workers. A producer
// offers tasks as fast as the queue accepts them. Subjects take turns within each round; the result is the median of
// the rounds.

import { setTimeout as sleep } from 'node:timers/promises';
import { checkRouterConfig, loadRouterConfig } from '../../agent/config/load.ts';
import type { RouterConfig } from '../../agent/config/router-config.ts';
import { writeTemplate } from '../../agent/config/templates.ts';
import { ConfigurationError } from '../../agent/index.ts';
import { type Benchmark, type BenchmarkOptions, type Column, isWanted, type Plot, type Row } from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import { type QueueSize, SUBJECTS, type Subject, type Task } from './subjects.ts';
import { TlsTarget } from './tls-target.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  tasks: { unit: '/s', better: 'higher', meaning: 'tasks completed per second' },
  p50: { unit: 'ms', better: 'lower', meaning: 'wait within which half of the tasks start' },
  p99: { unit: 'ms', better: 'lower', meaning: 'wait within which 99 of 100 tasks start' },
  refused: { unit: 'offers', better: 'lower', meaning: 'offers that a full queue rejected; they were retried' },
  memory: { unit: 'MiB', better: 'lower', meaning: 'memory of a queue that is full, or has all tasks' },
};
const PLOTS: readonly Plot[] = [
  { name: 'tasks', title: 'tasks per second', column: 'tasks' },
  { name: 'p50', title: 'typical wait', column: 'p50' },
  { name: 'p99', title: 'longest waits', column: 'p99' },
  { name: 'memory', title: 'memory of waiting tasks', column: 'memory' },
];
const YARDSTICK = 'p-queue';
const MIB = 1024 * 1024;

interface Work {
  readonly group: string;
  readonly size: QueueSize;
  readonly kind: Kind;
  readonly count: number;
}

type Kind = 'no-op tasks' | 'TLS dials';

/** Tasks of an owner whose tasks hang, as dials of a dead host do: milliseconds of each, and in multiples of the workers. */
const HANG = 200;
const HANGING = 4;
/** Milliseconds between two tasks of another owner. */
const PAUSE = 2;
const BESIDE = 'tasks beside an owner whose tasks hang';

export const queues: Benchmark = {
  groups: (options) => [...workOf(options).map(({ group }) => group), besideOf(options).group],
  async measure(options, progress) {
    const rounds = options.quick ? 1 : 5;
    const target = await TlsTarget.open();
    const tasks: Readonly<Record<Kind, Task>> = {
      'no-op tasks': () => Promise.resolve(),
      'TLS dials': () => target.dial(),
    };
    const rows: Row[] = [];
    try {
      for (const work of workOf(options)) {
        if (!isWanted(work.group, options)) continue;
        progress(work.group);
        rows.push(...(await measureGroup(work, tasks[work.kind], rounds, collector(options.quick))));
      }
      const beside = besideOf(options);
      if (isWanted(beside.group, options)) {
        progress(beside.group);
        rows.push(...(await measureBeside(beside, rounds)));
      }
    } finally {
      await target.close();
    }
    const title = 'Dial queues';
    return { name: 'queues', title, columns: COLUMNS, yardstick: YARDSTICK, rows, notes: [], plots: PLOTS, rounds };
  },
};

function workOf({ quick, config }: BenchmarkOptions): Work[] {
  const counts: Readonly<Record<Kind, number>> = quick
    ? { 'no-op tasks': 2_000, 'TLS dials': 20 }
    : { 'no-op tasks': 50_000, 'TLS dials': 300 };
  return Object.entries(queueSizes(readConfig(config))).flatMap(([queue, size]) =>
    (['no-op tasks', 'TLS dials'] as const).map((kind) => {
      const count = counts[kind];
      const group = `${queue} (queue ${size.length}, workers ${size.workers}): ${count} ${kind}`;
      return { group, size, kind, count };
    }),
  );
}

/** Other owners: dials of a live service while those of a dead one hang. */
function besideOf({ quick, config }: BenchmarkOptions): Omit<Work, 'kind'> {
  const size = queueSizes(readConfig(config)).egress as QueueSize;
  const count = quick ? 20 : 300;
  return { group: `egress (queue ${size.length}, workers ${size.workers}): ${count} ${BESIDE}`, size, count };
}

async function measureBeside({ group, size, count }: Omit<Work, 'kind'>, rounds: number): Promise<Row[]> {
  const subjects = Object.entries(SUBJECTS);
  const measured = new Map<string, Values[]>(subjects.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, make] of subjects) measured.get(name)?.push(await waitsBeside(make(size), size, count));
  return toRows(group, measured, YARDSTICK);
}

async function waitsBeside(subject: Subject, { workers }: QueueSize, count: number): Promise<Values> {
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
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), refused: rejected };
}

/** Link and egress dials, and rate-limited requests to controllers. */
function queueSizes({ forwarder }: RouterConfig): Readonly<Record<string, QueueSize>> {
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
async function measureGroup(
  { group, size, count }: Work,
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
  return toRows(group, measured, YARDSTICK);
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
  const waits = new Float64Array(count);
  let rejected = 0;
  const start = performance.now();
  const timed = (index: number): Task => {
    const since = performance.now();
    return () => {
      waits[index] = performance.now() - since;
      return task();
    };
  };
  await produce(subject, count, timed, () => rejected++);
  const seconds = (performance.now() - start) / 1000;
  waits.sort();
  return { tasks: count / seconds, p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), refused: rejected };
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
  onRefused: () => void,
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
          onRefused();
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

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
