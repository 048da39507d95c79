// `npm run bench -- queues --dial-time 50ms --rate 400`: how many workers an egress queue needs. Dials arrive at
// random, at this rate, and each occupies its worker for this time: TCP, TLS handshake, and the time until the server
// answers. The curve goes from half of what is needed, arrivals per second × time of a dial (Little's law), to twice as
// many.

import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchmarkOptions, isWanted, labelOf, type Plot, type Row, type Sizes, type Work } from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import { type QueueSize, SUBJECTS, type Subject, type Task } from './subjects.ts';
import { TargetThread } from './target-thread.ts';
import { WaitTimes } from './wait-times.ts';

export const SIZING_PLOTS: readonly Plot[] = [
  { name: 'sizing-p50', title: 'typical wait', column: 'wait p50', x: 'workers' },
  { name: 'sizing-p99', title: 'longest waits', column: 'wait p99', x: 'workers' },
];
/** Numbers of workers, in multiples of the needed ones. */
const MULTIPLES = [0.5, 0.75, 1, 1.25, 1.5, 2];
/** Seconds of arrivals. */
const FULL = 5;
const QUICK = 0.3;
/** Compared: ours rejects, the other one lets all tasks wait. */
const COMPARED: readonly string[] = ['p-queue', 'TaskQueue'];
/** Seed of the arrivals, the same for each subject. */
const SEED = 20_261_126;

export interface SizingWork extends Work {
  readonly sizes: Sizes;
  readonly size: QueueSize;
  /** Milliseconds. */
  readonly dialTime: number;
  /** Per second. */
  readonly rate: number;
}

/** Undefined without both options. */
export function sizingOf({ dialTime, rate }: BenchmarkOptions, { length }: QueueSize): SizingWork[] | undefined {
  if (dialTime === undefined || rate === undefined) return undefined;
  const needed = (rate * dialTime) / 1_000;
  const counts = new Set(MULTIPLES.map((multiple) => Math.max(1, Math.round(multiple * needed))));
  return Array.from(counts, (workers) => ({
    group: 'egress: dials at a rate',
    sizes: { workers, queue: length, 'dials a second': rate, 'ms of a dial': dialTime },
    size: { length, workers },
    dialTime,
    rate,
  }));
}

/** Lines below the table. */
export function sizingNotes([first]: readonly SizingWork[]): string[] {
  if (!first) return [];
  const needed = ((first.rate * first.dialTime) / 1_000).toLocaleString('en', { maximumFractionDigits: 1 });
  return [
    '',
    `${first.rate.toLocaleString('en')} dials a second × ${first.dialTime} ms keep ${needed} workers busy on average. With fewer, the queue grows until it`,
    'rejects; with a few more, bursts wait shorter.',
  ];
}

export async function measureSizing(
  works: readonly SizingWork[],
  options: BenchmarkOptions,
  { progress, yardstick }: { progress: (text: string) => void; yardstick: string },
): Promise<Row[]> {
  const [first] = works;
  if (!first) return [];
  await using target = await TargetThread.open(first.dialTime);
  const rows: Row[] = [];
  for (const { group, sizes, size, rate } of works) {
    const work = { group, sizes };
    if (!isWanted(work, options)) continue;
    progress(labelOf(work));
    const measured = new Map<string, Values[]>();
    for (const [name, make] of Object.entries(SUBJECTS)) {
      if (!COMPARED.includes(name)) continue;
      measured.set(name, [await waitsAt(make(size), () => target.dial(), rate, options.quick ? QUICK : FULL)]);
    }
    rows.push(...toRows(work, measured, yardstick, { series: group, x: size.workers }));
  }
  return rows;
}

/** Offers each task once, at its time: a router tells the controller when its queue is full. */
async function waitsAt(subject: Subject, task: Task, rate: number, seconds: number): Promise<Values> {
  const times = arrivals(rate, seconds);
  const waits = new WaitTimes(times.length);
  const ended: Promise<void>[] = [];
  const start = performance.now();
  for (const [index, at] of times.entries()) {
    const early = start + at - performance.now();
    if (early > 0) await sleep(early);
    waits.intend(index, start + at);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (subject.offer(waits.timed(index, task), resolve)) ended.push(promise);
    else waits.rejected(index);
  }
  await Promise.all(ended);
  const { retries: _, ...values } = waits.values();
  return { tasks: ended.length / ((performance.now() - start) / 1_000), ...values };
}

/** Milliseconds since the start: random, with exponential pauses. */
function arrivals(rate: number, seconds: number): number[] {
  const times: number[] = [];
  let state = SEED;
  for (let at = 0; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    at += (-Math.log((state + 1) / 2 ** 32) * 1_000) / rate;
    if (at > seconds * 1_000) return times;
    times.push(at);
  }
}
