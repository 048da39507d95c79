// `npm run bench -- queues`: the forwarder's dial queues with their configured lengths and workers. A producer offers tasks as fast as
// they are taken; refused ones are offered again after a turn of the event loop. Subjects take turns within each round, and the median of
// the rounds counts.

import { checkRouterConfig, loadRouterConfig } from '../../agent/config/load.ts';
import type { RouterConfig } from '../../agent/config/router-config.ts';
import { writeTemplate } from '../../agent/config/templates.ts';
import { barChart } from '../plot.ts';
import type { Benchmark, Row } from '../report.ts';
import { type QueueSize, SUBJECTS, type Subject, type Task } from './subjects.ts';
import { TlsTarget } from './tls-target.ts';

interface Measured extends Record<string, number> {
  tasks: number;
  p50: number;
  p99: number;
  refused: number;
  memory: number;
}

const COLUMNS = { tasks: '/s', p50: 'ms waited', p99: 'ms waited', refused: 'offers', memory: 'MiB' };
const MIB = 1024 * 1024;

export const queues: Benchmark = async ({ quick, config, progress }) => {
  const sizes = queueSizes(readConfig(config));
  const target = await TlsTarget.open();
  const kinds: Readonly<Record<string, { task: Task; count: number }>> = {
    'no-op tasks': { task: () => Promise.resolve(), count: quick ? 2_000 : 50_000 },
    'TLS dials': { task: () => target.dial(), count: quick ? 20 : 300 },
  };
  const rounds = quick ? 1 : 5;
  const rows: Row[] = [];
  try {
    for (const [queue, size] of Object.entries(sizes)) {
      for (const [kind, { task, count }] of Object.entries(kinds)) {
        const group = `${queue} (queue ${size.length}, workers ${size.workers}): ${count} ${kind}`;
        progress(group);
        rows.push(...(await measureGroup(group, size, task, count, rounds)));
      }
    }
  } finally {
    await target.close();
  }
  const title = 'Dial queues';
  return {
    name: 'queues',
    title,
    columns: COLUMNS,
    yardstick: 'p-queue',
    rows,
    plot: barChart(title, 'tasks', 'tasks per second', rows),
  };
};

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
  if (!loaded.config) throw new Error(`${file} has mistakes; see \`router config check ${file}\``);
  return loaded.config;
}

async function measureGroup(group: string, size: QueueSize, task: Task, count: number, rounds: number): Promise<Row[]> {
  const subjects = Object.entries(SUBJECTS);
  const taken = new Map<string, Measured[]>(subjects.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, make] of subjects) taken.get(name)?.push(await measure(make(size), task, count));
  }
  const medians = new Map([...taken].map(([name, list]) => [name, median(list)]));
  const yardstick = medians.get('p-queue')?.tasks ?? 1;
  return [...medians].map(([subject, values]) => ({ group, subject, values, ratio: values.tasks / yardstick }));
}

async function measure(subject: Subject, task: Task, count: number): Promise<Measured> {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const waits = new Float64Array(count);
  let refused = 0;
  let peak = before;
  const start = performance.now();
  await new Promise<void>((resolve) => {
    let offered = 0;
    let ended = 0;
    const done = () => {
      ended++;
      if (ended === count) resolve();
    };
    const produce = () => {
      while (offered < count) {
        const index = offered;
        const since = performance.now();
        const run = () => {
          waits[index] = performance.now() - since;
          return task();
        };
        if (!subject.offer(run, done)) {
          refused++;
          setImmediate(produce);
          break;
        }
        offered++;
      }
      peak = Math.max(peak, process.memoryUsage().heapUsed);
    };
    produce();
  });
  const seconds = (performance.now() - start) / 1000;
  waits.sort();
  return {
    tasks: count / seconds,
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    refused,
    memory: Math.max(0, peak - before) / MIB,
  };
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The round with the median speed. */
function median(list: readonly Measured[]): Measured {
  const sorted = list.toSorted((a, b) => a.tasks - b.tasks);
  return sorted[Math.floor(sorted.length / 2)] ?? { tasks: 0, p50: 0, p99: 0, refused: 0, memory: 0 };
}
