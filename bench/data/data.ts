// `npm run bench -- data`: the data path of two routers beside a bare chain of as many TLS connections and, where ZITI_BIN names its binary,
// beside two routers of the reference. All of them run at once and take turns; the median of the rounds counts. Load generator, targets and
// routers share the machine: ratios are what can be compared.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverCertificate } from '../certificate.ts';
import { barChart } from '../plot.ts';
import type { Benchmark, Row } from '../report.ts';
import { block, circuits, idle, push, roundTrips, saturate } from './load.ts';
import { ours, ROOT, reference, type Subject, startBareChain, startNetwork, startTargets } from './subjects.ts';

const COLUMNS = {
  rate: '',
  'cpu entry': 's/GiB',
  'cpu exit': 's/GiB',
  'cpu circuit': 'ms',
  p50: 'ms',
  p99: 'ms',
  'p99.9': 'ms',
  memory: 'MiB',
};
const YARDSTICK = 'bare chain';
const OURS = 'edgeweave';
const MIB = 1024 * 1024;

interface Sizes {
  readonly rounds: number;
  /** MiB of all connections together in one round. */
  readonly mib: number;
  readonly roundTrips: number;
  readonly circuits: number;
  readonly idle: number;
}

const FULL: Sizes = { rounds: 3, mib: 512, roundTrips: 2_000, circuits: 3_000, idle: 5_000 };
const QUICK: Sizes = { rounds: 1, mib: 8, roundTrips: 50, circuits: 10, idle: 10 };
/** Circuits that are opened at the same time. */
const AT_ONCE = 16;
const CONNECTIONS = [1, 4, 16];
/** Milliseconds in which quiet routers together use at most `QUIET_CPU` seconds of the processor. */
const QUIET_TIME = 500;
const QUIET_CPU = 0.02;
/** Milliseconds that routers get to become quiet. */
const LONGEST_CLEANUP = 30_000;

type Values = Record<string, number>;
/** Measures one subject once. The first value is the one whose ratio is shown. */
type Measure = (subject: Subject) => Promise<Values>;

export const data: Benchmark = async ({ quick, beside, only = '', progress }) => {
  const sizes = quick ? QUICK : FULL;
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-bench-'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    await using stack = new AsyncDisposableStack();
    const subjects = await startSubjects(stack, directory, beside, progress);
    const rows: Row[] = [];
    for (const [group, rounds, measure] of measures(sizes)) {
      if (!group.includes(only)) continue;
      progress(group);
      rows.push(...toRows(group, await inTurns(subjects, rounds, measure)));
    }
    const title = 'Data path of two routers';
    const plot = barChart(
      title,
      'rate',
      'MiB or circuits per second',
      rows.filter(({ values }) => 'rate' in values),
    );
    return { name: 'data', title, columns: COLUMNS, yardstick: YARDSTICK, rows, notes: notes(rows, subjects), plot };
  } finally {
    rmSync(directory, { recursive: true });
  }
};

async function startSubjects(
  stack: AsyncDisposableStack,
  directory: string,
  beside: string | undefined,
  progress: (text: string) => void,
): Promise<Subject[]> {
  const targets = await startTargets({ directory, started: stack });
  const pem = join(directory, 'chain.pem');
  const { key, cert } = await serverCertificate();
  writeFileSync(pem, `${cert}\n${key}`);
  const subjects = [stack.use(await startBareChain(targets, pem, directory))];
  const software = [ours(OURS, ROOT)];
  if (beside !== undefined) software.push(ours('beside', resolve(beside)));
  const binary = process.env.ZITI_BIN;
  if (binary) software.push(reference(binary));
  else progress('the reference is skipped: ZITI_BIN names no binary');
  for (const each of software) {
    progress(`starting ${each.name}`);
    const own = join(directory, each.name);
    mkdirSync(own);
    subjects.push(stack.use(await startNetwork(each, targets, own)));
  }
  return subjects;
}

function measures(sizes: Sizes): [group: string, rounds: number, measure: Measure][] {
  const once = (name: string, measure: Measure): [string, number, Measure] => [name, 1, measure];
  const often = (name: string, measure: Measure): [string, number, Measure] => [name, sizes.rounds, measure];
  const echo: Measure = ({ entries }) => latency(entries.echo, sizes.roundTrips);
  const slowEcho: Measure = ({ entries }) => latency(entries.echo, sizes.roundTrips / 10);
  return [
    once('resident after the start (ratio of memory)', async (subject) => ({ memory: resident(subject) })),
    once('round trip on fresh routers (ratio of p99)', echo),
    ...CONNECTIONS.map((count) =>
      often(`encrypted, ${count} connections, MiB/s`, (subject) => throughput(subject, 'sink', count, sizes)),
    ),
    ...CONNECTIONS.map((count) =>
      often(`not encrypted, ${count} connections, MiB/s`, (subject) => throughput(subject, 'plain', count, sizes)),
    ),
    often('round trip right after a bulk transfer (ratio of p99)', async (subject) => {
      await push(subject.entries.sink, sizes.mib / 4, 1);
      return echo(subject);
    }),
    often('round trip beside a saturated circuit (ratio of p99)', (subject) =>
      beside(subject, saturate, 'sink', slowEcho),
    ),
    once('round trip beside a stuck circuit (ratio of p99)', (subject) => beside(subject, block, 'stuck', echo)),
    often('circuits per second', (subject) => circuitRate(subject, sizes.circuits)),
    once('resident after load (ratio of memory)', async (subject) => ({ memory: resident(subject) })),
    once('10,000 idle circuits (ratio of memory of both routers)', (subject) => idleMemory(subject, sizes.idle)),
  ];
}

async function throughput(
  subject: Subject,
  entry: 'sink' | 'plain',
  connections: number,
  { mib }: Sizes,
): Promise<Values> {
  const before = subject.usage();
  const rate = await push(subject.entries[entry], mib / connections, connections);
  const [first = 0, second = 0] = subject.usage().map(({ cpu }, index) => cpu - (before[index]?.cpu ?? 0));
  return { rate, 'cpu entry': (first * 1024) / mib, 'cpu exit': (second * 1024) / mib };
}

/** Circuits per second, and what both routers spend on one: also what they do after it is closed. */
async function circuitRate(subject: Subject, count: number): Promise<Values> {
  const before = spent([subject]);
  const rate = await circuits(subject.entries.echo, count, AT_ONCE);
  await quiet([subject]);
  return { rate, 'cpu circuit': ((spent([subject]) - before) * 1_000) / count };
}

async function latency(port: number, count: number): Promise<Values> {
  const times = await roundTrips(port, count);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p99: at(0.99), p50: at(0.5), 'p99.9': at(0.999) };
}

async function beside(
  subject: Subject,
  start: typeof saturate,
  entry: 'sink' | 'stuck',
  measure: Measure,
): Promise<Values> {
  const heavy = await start(subject.entries[entry]);
  try {
    return await measure(subject);
  } finally {
    heavy.destroy();
  }
}

/** What the routers grow by while so many circuits are open, for 10,000 of them. */
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

/** Seconds of the processor that the routers have used. */
function spent(subjects: readonly Subject[]): number {
  return subjects.flatMap((subject) => subject.usage()).reduce((total, { cpu }) => total + cpu, 0);
}

/** Resolves when no router works any more: some clean up long after a load, and would slow the subject that is measured next. */
async function quiet(subjects: readonly Subject[]): Promise<void> {
  for (let waited = 0; waited < LONGEST_CLEANUP; waited += QUIET_TIME) {
    const before = spent(subjects);
    await sleep(QUIET_TIME);
    if (spent(subjects) - before <= QUIET_CPU) return;
  }
}

async function inTurns(subjects: readonly Subject[], rounds: number, measure: Measure): Promise<Map<string, Values>> {
  const taken = new Map<string, Values[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const subject of subjects) {
      await quiet(subjects);
      taken.get(subject.name)?.push(await measure(subject));
    }
  return new Map(Array.from(taken, ([name, list]) => [name, medians(list)]));
}

function medians(list: readonly Values[]): Values {
  const middle = (name: string) =>
    list.map((values) => values[name] ?? 0).sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
  return Object.fromEntries(Object.keys(list[0] ?? {}).map((name) => [name, middle(name)]));
}

function toRows(group: string, measured: ReadonlyMap<string, Values>): Row[] {
  const main = Object.keys(measured.get(YARDSTICK) ?? {})[0] ?? '';
  const yardstick = measured.get(YARDSTICK)?.[main] || 1;
  return Array.from(measured, ([subject, values]) => ({
    group,
    subject,
    values,
    ratio: (values[main] ?? 0) / yardstick,
  }));
}

/** The same ratios relative to each other subject. */
function notes(rows: readonly Row[], subjects: readonly Subject[]): string[] {
  const lines: string[] = [];
  for (const { name } of subjects) {
    if (name === YARDSTICK || name === OURS) continue;
    lines.push('', `${OURS} / ${name}`);
    for (const row of rows) {
      if (row.subject !== OURS) continue;
      const other = rows.find(({ group, subject }) => group === row.group && subject === name);
      const ratios = Object.entries(row.values).map(
        ([column, value]) => `${column} ${(value / (other?.values[column] || 1)).toFixed(2)}`,
      );
      lines.push(`  ${row.group}: ${ratios.join(', ')}`);
    }
  }
  return lines;
}
