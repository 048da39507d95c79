// Measures all subjects on one path, as a program on the far machine. Its argument is a job as JSON; it prints one line
// of JSON for each measurement, and for each shape that the path should take. The subjects take turns within each
// round.

import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#lib/errors.ts';
import { ours, ROOT, reference } from '../data/subjects.ts';
import { quantile } from '../quantile.ts';
import type { Load, Ports, TransferOutcome, WatchedOutcome } from './load.ts';
import { carried, type PathSubject, runLoad, startPlain, startRouters } from './network.ts';
import {
  BESIDE_PLAIN,
  type BenchPath,
  type Change,
  type Direction,
  type PathShape,
  type Transfer,
  transferName,
} from './paths.ts';

export interface Job {
  readonly path: BenchPath;
  readonly near: string;
  /** The device of this machine. */
  readonly device: string;
  readonly directory: string;
  readonly rounds: number;
  /** Duration of one transfer. */
  readonly seconds: number;
  readonly transfers: readonly Transfer[];
  /** Measures a transfer beside one without routers, too. */
  readonly isBeside: boolean;
  /** Measures new circuits, too. */
  readonly circuits: number;
  /** Measures the path while it changes. */
  readonly changes: readonly Change[];
}

/** A printed line. Times in milliseconds. */
export type WorkerLine = Measurement | { readonly shape: PathShape };

export interface Measurement {
  readonly subject: string;
  readonly group: string;
  readonly values: Readonly<Record<string, number>>;
}

const OURS = 'edgeweave';
const MIB = 1024 * 1024;
/** Milliseconds between two loads: the buffers of the last one become empty. */
const PAUSE = 700;
/** Share of a transfer's time after which light traffic is measured: the transfer has found its rate. */
const LIGHT_AFTER = 0.3;
const AT_ONCE = 32;
/** Least duration of a transfer, and of light traffic alone: in seconds, and in round trips of the path. */
const ROUND_TRIPS = 40;
const LIGHT_SECONDS = 3;
const LIGHT_ROUND_TRIPS = 25;
/** Transfers that share a path need more time to find their parts. */
const BESIDE = 2;
/** Seconds for which a transfer runs before the path changes, and after a change until it should have adapted. */
const BEFORE_CHANGES = 5;
const ADAPTION = 2;
const CHANGES_ROUNDS = 2;

async function run(job: Job): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const plain = stack.use(await startPlain(job.directory));
  const subjects = [plain];
  const software = [ours(OURS, ROOT), ...(process.env.ZITI_BIN ? [reference(process.env.ZITI_BIN)] : [])];
  const transit = job.path.transit ?? 0;
  for (const each of software) {
    try {
      subjects.push(stack.use(await startRouters(each, { near: job.near, transit, directory: job.directory })));
    } catch (error) {
      process.stderr.write(`${each.name} did not start: ${describeError(error)}\n`);
    }
  }
  /** Round trips of light traffic alone, of this round. */
  const alone = new Map<PathSubject, readonly number[]>();
  const measure = (subject: PathSubject, transfer: Transfer) =>
    measureTransfer(job, subject, transfer, alone.get(subject) ?? []);
  const measures: [string, (subject: PathSubject) => Promise<Record<string, number>>][] = [
    ...job.transfers.map((transfer): (typeof measures)[number] => [
      transferName(transfer),
      (subject) => measure(subject, transfer),
    ]),
    ...(job.isBeside
      ? [[BESIDE_PLAIN, (subject) => measureBeside(job, subject, plain)] as (typeof measures)[number]]
      : []),
    ...(job.circuits > 0
      ? [['new circuits', (subject) => measureCircuits(job, subject)] as (typeof measures)[number]]
      : []),
  ];
  await sleep(PAUSE * 5); // routers dial the further connections of their links
  const [first] = job.transfers;
  const measureAlone = async () => {
    for (const subject of subjects)
      await orReport(subject, 'light traffic alone', async () => {
        alone.set(subject, await lightAlone(job, subject.ports));
      });
  };
  if (first) {
    await measureAlone();
    for (const subject of subjects) await report(subject, 'fresh link, 1 upload', () => measure(subject, first));
  }
  for (let round = 0; round < job.rounds; round++) {
    if (first && round > 0) await measureAlone();
    for (const [group, measureGroup] of measures)
      for (const subject of subjects) await report(subject, group, () => measureGroup(subject));
  }
  const changesRounds = job.changes.length > 0 ? Math.min(job.rounds, CHANGES_ROUNDS) : 0;
  for (let round = 0; round < changesRounds; round++)
    for (const subject of subjects) await orReport(subject, 'changes', () => measureChanges(job, subject));
}

async function report(
  subject: PathSubject,
  group: string,
  measure: () => Promise<Record<string, number>>,
): Promise<void> {
  await orReport(subject, group, async () => print({ subject: subject.name, group, values: await measure() }));
}

/** A subject that fails in a group has no values there. */
async function orReport(subject: PathSubject, group: string, measure: () => Promise<void>): Promise<void> {
  try {
    await measure();
  } catch (error) {
    process.stderr.write(`${subject.name}, ${group}: ${describeError(error)}\n`);
  }
  await sleep(PAUSE);
}

function print(line: WorkerLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function measureTransfer(
  job: Job,
  { ports, transitMemory }: PathSubject,
  { direction, count }: Transfer,
  alone: readonly number[],
): Promise<Record<string, number>> {
  const { near, device, directory } = job;
  const { shape } = job.path;
  const seconds = Math.max(job.seconds, ROUND_TRIPS * roundTripOf(shape));
  const before = carried(device);
  const load: Load = { kind: 'transfer', direction, count, seconds, lightAfter: seconds * LIGHT_AFTER, ports };
  const { bytes, seconds: passedSeconds, light } = await runLoad<TransferOutcome>(near, load, directory);
  const passed = carried(device) - before;
  const total = bytes.reduce((sum, each) => sum + each, 0);
  const memory = transitMemory();
  return {
    throughput: total / passedSeconds / MIB,
    share: shareOf(shape, direction, total / passedSeconds),
    'light p50': quantile(light, 0.5) / quantile(alone, 0.5),
    'light p99': quantile(light, 0.99) / quantile(alone, 0.99),
    carried: passed / Math.max(1, total),
    ...(count > 1 && { fairness: fairness(bytes) }),
    ...(memory !== undefined && { memory: memory / MIB }),
  };
}

/** Milliseconds of round trips of one byte while nothing else is on the path. */
async function lightAlone({ path: { shape }, near, directory }: Job, ports: Ports): Promise<readonly number[]> {
  const seconds = Math.max(LIGHT_SECONDS, LIGHT_ROUND_TRIPS * roundTripOf(shape));
  return (await runLoad<{ light: number[] }>(near, { kind: 'light', seconds, ports }, directory)).light;
}

/** Percent of the rate of the path. */
function shareOf({ rate, rateBack = rate }: PathShape, direction: Direction, bytesPerSecond: number): number {
  const mbits = { up: rate, down: rateBack, both: rate + rateBack }[direction];
  return (100 * bytesPerSecond) / (mbits * 125_000);
}

/** One upload, while another one passes the path without routers. */
async function measureBeside(job: Job, { ports }: PathSubject, plain: PathSubject): Promise<Record<string, number>> {
  const { near, directory, path } = job;
  const seconds = BESIDE * Math.max(job.seconds, ROUND_TRIPS * roundTripOf(path.shape));
  const upload = (own: Ports): Load => {
    return { kind: 'transfer', direction: 'up', count: 1, seconds, lightAfter: seconds, ports: own };
  };
  const [own, other] = await Promise.all(
    [ports, plain.ports].map((each) => runLoad<TransferOutcome>(near, upload(each), directory)),
  );
  const share = (outcome: TransferOutcome | undefined) =>
    outcome ? shareOf(path.shape, 'up', (outcome.bytes[0] ?? 0) / outcome.seconds) : Number.NaN;
  return { share: share(own), 'other share': share(other) };
}

/** Seconds. */
function roundTripOf({ delay }: PathShape): number {
  return (2 * delay) / 1_000;
}

/** One upload, and light traffic beside it, while the path changes: prints what holds some time after each change. */
async function measureChanges(job: Job, subject: PathSubject): Promise<void> {
  const { path, changes, near, directory } = job;
  const alone = quantile(await lightAlone(job, subject.ports), 0.5);
  const seconds = changes.reduce((sum, change) => sum + change.seconds, BEFORE_CHANGES);
  const [outcome, changed] = await Promise.all([
    runLoad<WatchedOutcome>(near, { kind: 'watched', seconds, ports: subject.ports }, directory),
    playChanges(changes),
  ]);
  print({ shape: path.shape });
  for (const [{ name, shape, seconds }, at] of changed) {
    if (shape.isStopped) continue;
    const [from, to] = [at + ADAPTION * 1_000, at + seconds * 1_000];
    const added = 1_000 * (roundTripOf(shape) - roundTripOf(path.shape));
    const light = quantile(within(outcome.light, from, to), 0.5) / (alone + added);
    const values = { ...rateBetween(outcome, shape, from, to), 'light p50': light };
    print({ subject: subject.name, group: `changes, ${name}`, values });
  }
}

/** Returns the time of each change. */
async function playChanges(changes: readonly Change[]): Promise<[Change, number][]> {
  const changed: [Change, number][] = [];
  await sleep(BEFORE_CHANGES * 1_000);
  for (const change of changes) {
    print({ shape: change.shape });
    changed.push([change, Date.now()]);
    await sleep(change.seconds * 1_000);
  }
  return changed;
}

function within(values: WatchedOutcome['light'], from: number, to: number): number[] {
  return values.filter(([at]) => at >= from && at < to).map(([, value]) => value);
}

function rateBetween({ arrived, ended }: WatchedOutcome, shape: PathShape, from: number, to: number) {
  const reached = (time: number) => arrived.findLast(([at]) => at < time) ?? [time, 0];
  const [[begin, before], [end, after]] = [reached(from), reached(to)];
  const perSecond = ((after - before) * 1_000) / (end - begin);
  return { throughput: perSecond / MIB, share: (100 * perSecond) / (shape.rate * 125_000), ended };
}

async function measureCircuits(
  { near, directory, circuits, path: { shape } }: Job,
  { ports }: PathSubject,
): Promise<Record<string, number>> {
  const load: Load = { kind: 'circuits', count: circuits, atOnce: AT_ONCE, ports };
  const { times, perSecond } = await runLoad<{ times: number[]; perSecond: number }>(near, load, directory);
  const roundTrip = 2 * shape.delay;
  return {
    circuits: perSecond,
    'first byte p50': quantile(times, 0.5) / roundTrip,
    'first byte p99': quantile(times, 0.99) / roundTrip,
  };
}

/** Jain's index: 1 if all are equal, 1 / n if one has everything. */
function fairness(values: readonly number[]): number {
  const sum = values.reduce((total, each) => total + each, 0);
  return sum ** 2 / (values.length * values.reduce((total, each) => total + each ** 2, 0));
}

process.once('SIGTERM', () => process.exit(1)); // ends the programs that it has started
await run(JSON.parse(process.argv[2] ?? '') as Job);
process.exit();
