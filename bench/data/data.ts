// `npm run bench -- data`: measures the data path of two routers beside a bare chain of as many TLS connections. If
// ZITI_BIN names its binary, it also measures two routers of the reference. All of them run in parallel and take turns;
// the result is the median of the rounds. Load generator, targets and routers share the machine, so only ratios are
// comparable. Where threads matter, our routers are also measured with other numbers of them than by default; what a
// router would carry on more cores is computed from their processor time.

import { accessSync, constants, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeError } from '#lib/errors.ts';
import { keepCompiledCode } from '#lib/process/memory.ts';
import { serverCertificate } from '../certificate.ts';
import { Disturbance } from '../disturbance.ts';
import { ratioText } from '../figure.ts';
import { type Benchmark, type Column, isWanted, type Plot, type Row, UsageError } from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import { workFolder } from '../work-folder.ts';
import { capacityRows, ROUTERS } from './capacity.ts';
import { block, circuits, idle, push, roundTrips, saturate } from './load.ts';
import { Quiet, spent } from './quiet.ts';
import {
  ours,
  ROOT,
  reference,
  type Software,
  type Subject,
  startBareChain,
  startNetwork,
  startTargets,
} from './subjects.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  throughput: { unit: 'MiB/s', better: 'higher', meaning: 'bytes of all connections together' },
  'cpu entry': { unit: 's/GiB', better: 'lower', meaning: 'processor time of the entry router' },
  'cpu exit': { unit: 's/GiB', better: 'lower', meaning: 'processor time of the exit router' },
  'serial entry': { unit: 's/GiB', better: 'lower', meaning: 'the part of `cpu entry` on the thread that decides' },
  'serial exit': { unit: 's/GiB', better: 'lower', meaning: 'the part of `cpu exit` on the thread that decides' },
  computed: {
    unit: 'GiB/s',
    better: 'higher',
    meaning: 'computed, not measured: min(1 / serial, cores / cpu) of the router that carries less',
  },
  circuits: { unit: '/s', better: 'higher', meaning: 'circuits opened, used once and closed' },
  'cpu circuit': { unit: 'ms', better: 'lower', meaning: 'processor time of both routers for one circuit' },
  p50: { unit: 'ms', better: 'lower', meaning: 'time within which half of the round trips complete' },
  p99: { unit: 'ms', better: 'lower', meaning: 'time within which 99 of 100 round trips complete' },
  'p99.9': { unit: 'ms', better: 'lower', meaning: 'time within which 999 of 1,000 round trips complete' },
  memory: { unit: 'MiB', better: 'lower', meaning: 'resident memory, of the larger router unless both are named' },
};
const PLOTS: readonly Plot[] = [
  { name: 'throughput', title: 'throughput', column: 'throughput' },
  { name: 'cpu-entry', title: 'processor time of the entry router', column: 'cpu entry' },
  { name: 'cpu-exit', title: 'processor time of the exit router', column: 'cpu exit' },
  { name: 'circuits', title: 'circuits per second', column: 'circuits' },
  { name: 'p50', title: 'typical round trip', column: 'p50' },
  { name: 'p99', title: 'longest round trips', column: 'p99' },
  { name: 'memory', title: 'memory', column: 'memory' },
];
const YARDSTICK = 'bare chain';
const OURS = 'edgeweave';
/** Numbers of threads with which our routers are also measured: none, and so many that they carry links, too. */
const THREADS = [0, 2];
const [WITHOUT_THREADS, WITH_THREADS] = THREADS.map((count) => `${OURS}, ${count} threads`) as [string, string];
const REFERENCE = 'reference';
/** Subjects for which the capacity of machines with so many cores is computed. They would run more threads there. */
const COMPUTED = [WITH_THREADS, REFERENCE];
const MIB = 1024 * 1024;

interface Sizes {
  readonly rounds: number;
  /** MiB of all connections together in one round. */
  readonly mib: number;
  /** MiB before the first throughput of a subject, which V8 needs to compile its code. */
  readonly warmUp: number;
  readonly roundTrips: number;
  readonly circuits: number;
  readonly sustained: { readonly before: number; readonly counted: number };
  readonly idle: number;
  /** Milliseconds during which all routers must be idle before a measurement. */
  readonly quietTime: number;
}

const FULL: Sizes = {
  rounds: 3,
  mib: 512,
  warmUp: 1_024,
  roundTrips: 2_000,
  circuits: 3_000,
  sustained: { before: 6_000, counted: 4_000 },
  idle: 5_000,
  quietTime: 500,
};
const QUICK: Sizes = {
  rounds: 1,
  mib: 8,
  warmUp: 8,
  roundTrips: 50,
  circuits: 10,
  sustained: { before: 20, counted: 10 },
  idle: 10,
  quietTime: 50,
};
/** Circuits that are opened in parallel. */
const AT_ONCE = 16;
const CONNECTIONS = [1, 4, 16];
/** Capacity is computed from the group with the most connections. */
const CAPACITY_FROM = encrypted(16);

/** Connections of the warm-up. */
const WARM_UP_CONNECTIONS = 4;
const warm = new WeakSet<Subject>();

/** Measures one subject once. */
type Measure = (subject: Subject) => Promise<Values>;

interface Case {
  readonly group: string;
  readonly rounds: number;
  readonly measure: Measure;
  /** Also with other numbers of threads. */
  readonly isVaried?: boolean;
}

export const data: Benchmark = {
  groups({ quick, beside }) {
    checkPrograms(beside);
    const sizes = quick ? QUICK : FULL;
    return cases(sizes, new Quiet(sizes.quietTime)).map(({ group }) => group);
  },
  async measure(options, progress) {
    const sizes = options.quick ? QUICK : FULL;
    keepCompiledCode(); // loads and targets must cost every subject the same
    using folder = workFolder();
    await using stack = new AsyncDisposableStack();
    const quiet = new Quiet(sizes.quietTime);
    const wanted = cases(sizes, quiet).filter(({ group }) => isWanted(group, options));
    const software = softwareFor(
      options.beside,
      wanted.some(({ isVaried }) => isVaried),
    );
    if (!process.env.ZITI_BIN) progress('skipping the reference: ZITI_BIN is not set');
    const subjects = await startSubjects(stack, folder.path, software, progress);
    const rows: Row[] = [];
    const disturbance = new Disturbance();
    for (const { group, rounds, measure, isVaried = false } of wanted) {
      progress(group);
      const measured = subjects.filter(({ threads }) => isVaried || threads === undefined);
      const values = await inTurns(measured, rounds, { measure, quiet, disturbance });
      rows.push(...toRows(group, values, YARDSTICK));
      if (group === CAPACITY_FROM) rows.push(...capacityRows(group, values, COMPUTED));
    }
    const title = 'Data path of two routers';
    const { rounds } = sizes;
    const others = [...ratioNotes(rows, comparisons(subjects)), ...disturbance.notes, ...quiet.notes];
    return { name: 'data', title, columns: COLUMNS, yardstick: YARDSTICK, rows, notes: others, plots: PLOTS, rounds };
  },
};

/** Fails before the start if a program to measure is missing. */
function checkPrograms(beside: string | undefined): void {
  if (beside !== undefined && !existsSync(join(beside, 'tools', 'run.mjs')))
    throw new UsageError(`--beside ${beside} is not a checkout of this project: it has no file tools/run.mjs`);
  const binary = process.env.ZITI_BIN;
  if (!binary) return;
  try {
    accessSync(binary, constants.X_OK);
    if (!statSync(binary).isFile()) throw new Error(`${binary} is not a file`);
  } catch (error) {
    const remedy = 'set it to the program `ziti`, or unset ZITI_BIN to skip the reference';
    throw new UsageError(`ZITI_BIN cannot be run: ${describeError(error)}; ${remedy}`);
  }
}

/** @param isVaried Also ours with other numbers of threads. */
function softwareFor(beside: string | undefined, isVaried: boolean): Software[] {
  const binary = process.env.ZITI_BIN;
  return [
    ours(OURS, ROOT),
    ...(isVaried ? [ours(WITHOUT_THREADS, ROOT, THREADS[0]), ours(WITH_THREADS, ROOT, THREADS[1])] : []),
    ...(beside === undefined ? [] : [ours('beside', resolve(beside))]),
    ...(binary ? [reference(binary)] : []),
  ];
}

async function startSubjects(
  stack: AsyncDisposableStack,
  directory: string,
  software: readonly Software[],
  progress: (text: string) => void,
): Promise<Subject[]> {
  const targets = await startTargets({ directory, started: stack });
  const pem = join(directory, 'chain.pem');
  const { key, cert } = await serverCertificate();
  writeFileSync(pem, `${cert}\n${key}`);
  const subjects = [stack.use(await startBareChain(targets, pem, directory))];
  for (const each of software) {
    progress(`starting ${each.name}`);
    const own = join(directory, each.name.replaceAll(/\W+/g, '-'));
    mkdirSync(own);
    subjects.push(stack.use(await startNetwork(each, targets, own)));
  }
  return subjects;
}

function cases(sizes: Sizes, quiet: Quiet): Case[] {
  const once = (group: string, measure: Measure): Case => ({ group, rounds: 1, measure });
  const often = (group: string, measure: Measure): Case => ({ group, rounds: sizes.rounds, measure });
  const varied = (each: Case): Case => ({ ...each, isVaried: true });
  const echo: Measure = ({ entries }) => latency(entries.echo, sizes.roundTrips);
  const slowEcho: Measure = ({ entries }) => latency(entries.echo, sizes.roundTrips / 10);
  return [
    once('resident after the start', async (subject) => ({ memory: resident(subject) })),
    varied(once('round trip on fresh routers', echo)),
    ...CONNECTIONS.map((count) =>
      varied(often(encrypted(count), (subject) => throughput(subject, 'sink', count, sizes))),
    ),
    ...CONNECTIONS.map((count) =>
      often(`not encrypted, ${connections(count)}`, (subject) => throughput(subject, 'plain', count, sizes)),
    ),
    varied(
      often(`one router as entry and exit, encrypted, ${connections(4)}`, (subject) =>
        throughput(subject, 'local', 4, sizes),
      ),
    ),
    often('round trip right after a bulk transfer', async (subject) => {
      await push(subject.entries.sink, sizes.mib / 4, 1);
      return echo(subject);
    }),
    varied(often('round trip beside a saturated circuit', (subject) => beside(subject, saturate, 'sink', slowEcho))),
    once('round trip beside a stuck circuit', (subject) => beside(subject, block, 'stuck', echo)),
    often('circuits per second', (subject) => circuitRate(subject, quiet, 0, sizes.circuits)),
    often('circuits per second, sustained', (subject) =>
      circuitRate(subject, quiet, sizes.sustained.before, sizes.sustained.counted),
    ),
    once('resident after load', async (subject) => ({ memory: resident(subject) })),
    once('10,000 idle circuits, both routers', (subject) => idleMemory(subject, sizes.idle)),
  ];
}

function encrypted(count: number): string {
  return `encrypted, ${connections(count)}`;
}

function connections(count: number): string {
  return `${count} ${count === 1 ? 'connection' : 'connections'}`;
}

async function throughput(
  subject: Subject,
  entry: 'sink' | 'plain' | 'local',
  connections: number,
  { mib, warmUp }: Sizes,
): Promise<Values> {
  if (!warm.has(subject)) await push(subject.entries.sink, warmUp / WARM_UP_CONNECTIONS, WARM_UP_CONNECTIONS);
  warm.add(subject);
  const before = subject.usage();
  const values: Record<string, number> = {
    throughput: await push(subject.entries[entry], mib / connections, connections),
  };
  const after = subject.usage();
  for (const [index, router] of (entry === 'local' ? ROUTERS.slice(0, 1) : ROUTERS).entries()) {
    const [first, last] = [before[index], after[index]];
    if (!first || !last) continue;
    values[`cpu ${router}`] = ((last.cpu - first.cpu) * 1024) / mib;
    if (subject.hasEventLoop) values[`serial ${router}`] = ((last.main - first.main) * 1024) / mib;
  }
  return values;
}

/**
 * Circuits per second, without those before, and the processor time of both routers for one, including the cleanup
 * after it closed.
 */
async function circuitRate(subject: Subject, quiet: Quiet, before: number, counted: number): Promise<Values> {
  const start = spent(subject);
  await circuits(subject.entries.echo, before, AT_ONCE);
  const rate = await circuits(subject.entries.echo, counted, AT_ONCE);
  await quiet.reached([subject]);
  return { circuits: rate, 'cpu circuit': ((spent(subject) - start) * 1_000) / (before + counted) };
}

async function latency(port: number, count: number): Promise<Values> {
  const times = await roundTrips(port, count);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), ...(count >= 1_000 && { 'p99.9': at(0.999) }) };
}

async function beside(
  subject: Subject,
  start: typeof saturate,
  entry: 'sink' | 'stuck',
  measure: Measure,
): Promise<Values> {
  const heavy = await start(subject.entries[entry]);
  try {
    const values = await measure(subject);
    if (heavy.destroyed) throw new Error(`the load beside the measurement of ${subject.name} ended early`);
    return values;
  } finally {
    heavy.destroy();
  }
}

/** Growth of both routers with that many open circuits, scaled to 10,000. */
async function idleMemory(subject: Subject, count: number): Promise<Values> {
  const sum = () => subject.usage().reduce((total, each) => total + each.resident, 0);
  const before = sum();
  const sockets = await idle(subject.entries.echo, count, AT_ONCE);
  const grown = sum() - before;
  for (const socket of sockets) socket.destroy();
  return { memory: ((grown / MIB) * 10_000) / count };
}

/** MiB of the larger of the two. */
function resident(subject: Subject): number {
  return Math.max(...subject.usage().map((each) => each.resident)) / MIB;
}

async function inTurns(
  subjects: readonly Subject[],
  rounds: number,
  { measure, quiet, disturbance }: { measure: Measure; quiet: Quiet; disturbance: Disturbance },
): Promise<Map<string, Values[]>> {
  const measured = new Map<string, Values[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const subject of subjects) {
      const values = async () => {
        await quiet.reached(subjects);
        return measure(subject);
      };
      measured.get(subject.name)?.push(await (rounds > 1 ? disturbance.undisturbed(values) : disturbance.once(values)));
    }
  return measured;
}

/** The subjects whose ratios are printed: ours beside each other software, and with threads beside without. */
function comparisons(subjects: readonly Subject[]): [subject: string, other: string][] {
  const others = subjects.filter(({ name, threads }) => ![YARDSTICK, OURS].includes(name) && threads === undefined);
  return [
    ...others.flatMap(({ name }) => [OURS, WITH_THREADS].map((own): [string, string] => [own, name])),
    [OURS, WITHOUT_THREADS],
    [WITH_THREADS, WITHOUT_THREADS],
  ];
}

/** The ratios of the medians, a line for each group that both subjects have. */
function ratioNotes(rows: readonly Row[], compared: readonly (readonly [subject: string, other: string])[]): string[] {
  return compared.flatMap(([own, other]) => {
    const others = new Map(rows.filter(({ subject }) => subject === other).map((row) => [row.group, row.values]));
    const lines = rows.flatMap(({ group, subject, values }) => {
      if (subject !== own) return [];
      const ratios = Object.entries(values).flatMap(([column, { median }]) => {
        const divisor = others.get(group)?.[column]?.median;
        return divisor ? [`${column} ${ratioText(median / divisor)}`] : [];
      });
      return ratios.length > 0 ? [`  ${group}: ${ratios.join(', ')}`] : [];
    });
    return lines.length > 0 ? ['', `${own} / ${other}`, ...lines] : [];
  });
}
