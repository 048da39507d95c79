// Measures all subjects on one path, as a program on the far machine. Its argument is a job as JSON; it prints one line of
// JSON for each measurement. The subjects take turns within each round.

import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#lib/errors.ts';
import { ours, ROOT, reference } from '../data/subjects.ts';
import type { Load, TransferOutcome } from './load.ts';
import { carried, type PathSubject, runLoad, startPlain, startRouters } from './network.ts';
import { type BenchPath, type Transfer, transferName } from './paths.ts';

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
  /** Measures new circuits, too. */
  readonly circuits: number;
}

/** A printed line. Times in milliseconds. */
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
const LIGHT_SECONDS = 1.5;

async function run(job: Job): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const subjects = [stack.use(await startPlain(job.directory))];
  const software = [ours(OURS, ROOT), ...(process.env.ZITI_BIN ? [reference(process.env.ZITI_BIN)] : [])];
  const transit = job.path.transit ?? 0;
  for (const each of software) {
    try {
      subjects.push(stack.use(await startRouters(each, { near: job.near, transit, directory: job.directory })));
    } catch (error) {
      process.stderr.write(`${each.name} did not start: ${describeError(error)}\n`);
    }
  }
  const measures: [string, (subject: PathSubject) => Promise<Record<string, number>>][] = [
    ...job.transfers.map((transfer): (typeof measures)[number] => [
      transferName(transfer),
      (subject) => measureTransfer(job, subject, transfer),
    ]),
    ...(job.circuits > 0
      ? [['new circuits', (subject) => measureCircuits(job, subject)] as (typeof measures)[number]]
      : []),
  ];
  await sleep(PAUSE * 5); // routers dial the further connections of their links
  const [first] = job.transfers;
  if (first)
    for (const subject of subjects)
      await report(subject, 'fresh link, 1 upload', () => measureTransfer(job, subject, first));
  for (let round = 0; round < job.rounds; round++)
    for (const [group, measure] of measures)
      for (const subject of subjects) await report(subject, group, () => measure(subject));
}

/** A subject that fails in a group has no values there. */
async function report(
  subject: PathSubject,
  group: string,
  measure: () => Promise<Record<string, number>>,
): Promise<void> {
  try {
    const measurement: Measurement = { subject: subject.name, group, values: await measure() };
    process.stdout.write(`${JSON.stringify(measurement)}\n`);
  } catch (error) {
    process.stderr.write(`${subject.name}, ${group}: ${describeError(error)}\n`);
  }
  await sleep(PAUSE);
}

async function measureTransfer(
  { path: { shape }, near, device, directory, seconds }: Job,
  { ports, transitMemory }: PathSubject,
  { direction, count }: Transfer,
): Promise<Record<string, number>> {
  const alone = await runLoad<{ light: number[] }>(near, { kind: 'light', seconds: LIGHT_SECONDS, ports }, directory);
  const before = carried(device);
  const load: Load = { kind: 'transfer', direction, count, seconds, lightAfter: seconds * LIGHT_AFTER, ports };
  const { bytes, seconds: passedSeconds, light } = await runLoad<TransferOutcome>(near, load, directory);
  const passed = carried(device) - before;
  const total = bytes.reduce((sum, each) => sum + each, 0);
  const memory = transitMemory();
  return {
    throughput: total / passedSeconds / MIB,
    share: (100 * total) / passedSeconds / (shape.rate * 125_000),
    'light p50': quantile(light, 0.5) / quantile(alone.light, 0.5),
    'light p99': quantile(light, 0.99) / quantile(alone.light, 0.99),
    carried: passed / Math.max(1, total),
    ...(count > 1 && { fairness: fairness(bytes) }),
    ...(memory !== undefined && { memory: memory / MIB }),
  };
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

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Jain's index: 1 if all are equal, 1 / n if one has everything. */
function fairness(values: readonly number[]): number {
  const sum = values.reduce((total, each) => total + each, 0);
  return sum ** 2 / (values.length * values.reduce((total, each) => total + each ** 2, 0));
}

process.once('SIGTERM', () => process.exit(1)); // ends the programs that it has started
await run(JSON.parse(process.argv[2] ?? '') as Job);
process.exit();
