// `npm run bench -- path`: measures transfers over emulated wide-area paths, and the light traffic beside them: plain
// TCP, two routers, and, if ZITI_BIN names its binary, two routers of the reference. It needs Linux and root; elsewhere
// it measures nothing and says why.

import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  type Benchmark,
  type BenchmarkOptions,
  type Column,
  type Findings,
  isWanted,
  type Plot,
  type Row,
} from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import { workFolder } from '../work-folder.ts';
import { BESIDE_PLAIN, type BenchPath, PATHS, type PathShape, transferName, transfersOf } from './paths.ts';
import { onMachine, TwoMachines, whyNoPath } from './two-machines.ts';
import type { Job, Measurement, WorkerLine } from './worker.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  throughput: { unit: 'MiB/s', better: 'higher', meaning: 'bytes that arrived, of all connections together' },
  share: {
    unit: '%',
    better: 'higher',
    meaning: 'the same, as a part of the rate of the path, in each direction used',
  },
  'other share': { unit: '%', better: 'higher', meaning: 'part of the rate that a plain TCP transfer beside it gets' },
  'light p50': {
    unit: '×',
    better: 'lower',
    meaning: 'typical round trip of one byte beside the transfer, relative to alone',
  },
  'light p99': { unit: '×', better: 'lower', meaning: 'the same, of the slowest of 100' },
  carried: {
    unit: 'B',
    better: 'lower',
    meaning: 'bytes that the path carried, both ways, for each byte that arrived',
  },
  fairness: { unit: '', better: 'higher', meaning: "Jain's index of the connections: 1 if all got the same" },
  memory: { unit: 'MiB', better: 'lower', meaning: 'resident memory of the router between the ends' },
  ended: { unit: '', better: 'lower', meaning: 'connections that did not survive the changes of the path' },
  circuits: { unit: '/s', better: 'higher', meaning: 'circuits opened, used once and closed, 32 in parallel' },
  'first byte p50': {
    unit: 'RTT',
    better: 'lower',
    meaning: 'time until the first echoed byte, in round trips of the path',
  },
  'first byte p99': { unit: 'RTT', better: 'lower', meaning: 'the same, of the slowest of 100' },
  'delay factor': {
    unit: '×',
    better: 'lower',
    meaning: 'typical round trip of one byte beside one upload, relative to alone',
  },
};
const PLOTS: readonly Plot[] = [
  { name: 'throughput', title: 'one transfer', column: 'share', x: 'ms of delay, one way' },
  { name: 'see-saw', title: 'light traffic against throughput', column: 'delay factor', x: '% of the rate' },
];
const YARDSTICK = 'plain TCP';
const ONE_UPLOAD = transferName({ direction: 'up', count: 1 });
const FRESH = `fresh link, ${ONE_UPLOAD}`;
const NEW_CIRCUITS = 'new circuits';
const CHANGES = 'changes';

interface Sizes {
  readonly rounds: number;
  readonly seconds: number;
  readonly circuits: number;
}

const FULL: Sizes = { rounds: 3, seconds: 5, circuits: 320 };
const QUICK: Sizes = { rounds: 1, seconds: 1, circuits: 32 };

export const path: Benchmark = {
  groups: (options) => pathsFor(options).flatMap((each) => groupsOf(each)),
  async measure(options, progress) {
    const sizes = options.quick ? QUICK : FULL;
    const reason = whyNoPath();
    if (reason !== undefined) {
      progress(`skipping the emulated paths: ${reason}`);
      return findings([], [`not measured: ${reason}`], sizes);
    }
    if (!process.env.ZITI_BIN) progress('skipping the reference: ZITI_BIN is not set');
    const rows: Row[] = [];
    const notes: string[] = [];
    const wanted = pathsFor(options).filter((each) => groupsOf(each).some((group) => isWanted(group, options)));
    for (const together of inTurns(wanted)) {
      progress(together.map(({ name }) => name).join(', and beside it '));
      const outcomes = await Promise.all(together.map((each) => measurePath(each, sizes, options, progress)));
      for (const [index, { measured, skipped }] of outcomes.entries()) {
        notes.push(...skipped);
        rows.push(...rowsOf(together[index] as BenchPath, measured));
      }
    }
    return findings(rows, notes, sizes);
  },
};

function findings(rows: readonly Row[], notes: readonly string[], { rounds }: Sizes): Findings {
  const title = 'Wide-area paths';
  return { name: 'path', title, columns: COLUMNS, yardstick: YARDSTICK, rows, notes, plots: PLOTS, rounds };
}

/** Rounds of paths that are not measured in every detail. */
const OTHER_ROUNDS = 2;

/** Paths that need at most so many Mbit/s together run at once: two cores carry that, and a run needs less time. */
const RATE_AT_ONCE = 300;

function inTurns(paths: readonly BenchPath[]): readonly BenchPath[][] {
  const turns: BenchPath[][] = [];
  let rate = Number.POSITIVE_INFINITY;
  for (const path of paths) {
    const own = Math.max(path.shape.rate, path.shape.rateBack ?? 0);
    if (rate + own > RATE_AT_ONCE) {
      turns.push([]);
      rate = 0;
    }
    rate += own;
    turns.at(-1)?.push(path);
  }
  return turns;
}

/** A quick run has one path. */
function pathsFor({ quick }: BenchmarkOptions): readonly BenchPath[] {
  return quick ? PATHS.slice(0, 1) : PATHS;
}

function groupsOf(each: BenchPath): string[] {
  const groups = [FRESH, ...transfersOf(each).map(transferName)];
  if (hasBeside(each)) groups.push(BESIDE_PLAIN);
  if (each.isMain) groups.push(NEW_CIRCUITS);
  if (each.changes) groups.push(CHANGES);
  return groups.map((group) => `${each.name}: ${group}`);
}

/** Whether a transfer is measured beside one of plain TCP. */
function hasBeside({ isMain, isUnsteady }: BenchPath): boolean {
  return isMain === true || isUnsteady === true;
}

async function measurePath(
  each: BenchPath,
  { rounds, seconds, circuits }: Sizes,
  options: BenchmarkOptions,
  progress: (text: string) => void,
): Promise<{ measured: Measurement[]; skipped: string[] }> {
  using folder = workFolder();
  const directory = join(folder.path, 'path');
  mkdirSync(directory);
  await using machines = await TwoMachines.open();
  machines.setShape(each.shape);
  if (each.congestionControl !== undefined && !machines.setCongestionControl(each.congestionControl))
    return { measured: [], skipped: [`${each.name}: not measured; ${machines.notes.join('; ')}`] };
  const isGroup = (group: string) => isWanted(`${each.name}: ${group}`, options);
  const job: Job = {
    path: each,
    near: machines.near,
    device: machines.farDevice,
    directory,
    rounds: each.isMain ? rounds : Math.min(rounds, OTHER_ROUNDS),
    seconds,
    transfers: transfersOf(each).filter((transfer) => isGroup(transferName(transfer))),
    isBeside: hasBeside(each) && isGroup(BESIDE_PLAIN),
    circuits: each.isMain && isGroup(NEW_CIRCUITS) ? circuits : 0,
    changes: isGroup(CHANGES) && !options.quick ? (each.changes ?? []) : [],
  };
  const skipped: string[] = [];
  const measured = await runWorker(machines.far, job, {
    onShape: (shape) => machines.setShape(shape),
    onProblem: (line) => {
      skipped.push(`${each.name}: ${line}`);
      progress(line);
    },
  });
  return { measured, skipped };
}

/** Runs the worker on the far machine. `onProblem` receives its lines of standard error. */
async function runWorker(
  far: string,
  job: Job,
  { onShape, onProblem }: { onShape(shape: PathShape): void; onProblem(line: string): void },
): Promise<Measurement[]> {
  const [program, ...args] = onMachine(far, [
    process.execPath,
    join(import.meta.dirname, 'worker.ts'),
    JSON.stringify(job),
  ]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => child.kill('SIGTERM');
  process.once('exit', stop);
  const measured: Measurement[] = [];
  createInterface(child.stdout).on('line', (text) => {
    const line = JSON.parse(text) as WorkerLine;
    if ('shape' in line) onShape(line.shape);
    else measured.push(line);
  });
  createInterface(child.stderr).on('line', onProblem);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  process.off('exit', stop);
  if (code !== 0) throw new Error(`the measurement of ${job.path.name} ended with code ${code}`);
  return measured;
}

function rowsOf(each: BenchPath, measured: readonly Measurement[]): Row[] {
  const { name, shape, isPlotted, transit } = each;
  const rows: Row[] = [];
  for (const [group, own] of Map.groupBy(measured, (each) => each.group)) {
    const bySubject = new Map<string, Values[]>();
    for (const { subject, values } of own) bySubject.set(subject, [...(bySubject.get(subject) ?? []), values]);
    const isPoint = transfersOf(each).map(transferName).includes(group) && transit === undefined;
    const point = isPoint ? { series: group, x: shape.delay } : undefined;
    for (const [subject, rounds] of bySubject) bySubject.set(subject, withoutGaps(rounds));
    rows.push(...toRows(`${name}: ${group}`, bySubject, YARDSTICK, point));
    if (group === ONE_UPLOAD && isPlotted) rows.push(...seeSaw(name, bySubject));
  }
  return rows;
}

/**
 * Without the columns that a round lacks: JSON has null for the quantiles of light traffic that never got an answer.
 */
function withoutGaps(rounds: readonly Values[]): Values[] {
  const isMeasured = ([column]: [string, unknown]) => rounds.every((values) => Number.isFinite(values[column]));
  return rounds.map((values) => Object.fromEntries(Object.entries(values).filter(isMeasured)));
}

/** One dot for each subject: its throughput, and the delay that it adds to light traffic. */
function seeSaw(name: string, bySubject: ReadonlyMap<string, readonly Values[]>): Row[] {
  return Array.from(bySubject, ([subject, rounds]) => {
    const delays = new Map([[subject, rounds.map((values) => ({ 'delay factor': values['light p50'] ?? 0 }))]]);
    const shares = rounds.map((values) => values.share ?? 0).toSorted((a, b) => a - b);
    const x = shares[shares.length >> 1] ?? 0;
    return toRows(`${name}: light traffic against throughput`, delays, YARDSTICK, { series: name, x });
  }).flat();
}
