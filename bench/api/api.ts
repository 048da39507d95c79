// `npm run bench -- api`: measures the simulator's APIs beside a bare fastify-over-TLS program that answers the same
// bytes from memory. Both take turns within each round and serve the same client; the result is the median of the
// rounds. The client shares the cores, so absolute figures describe the pair; only ratios are comparable.

import { join } from 'node:path';
import type { Agent } from 'undici';
import { serverCertificate } from '../certificate.ts';
import { Disturbance } from '../disturbance.ts';
import {
  type Benchmark,
  type BenchmarkOptions,
  type Column,
  isWanted,
  labelOf,
  type Plot,
  type Point,
  type Row,
  type Work,
} from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import { workFolder } from '../work-folder.ts';
import { ask, CONNECTIONS, load, newAgent, type Target } from './load.ts';
import { fill, REQUESTS, type RequestName, targets } from './network.ts';
import { type Answers, startBareProgram, startSimulatorProgram, timeToBare, timeToReady } from './programs.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  rate: { unit: '/s', better: 'higher', meaning: `answers per second over ${CONNECTIONS} connections` },
  p50: { unit: 'ms', better: 'lower', meaning: 'time within which half of the answers arrive' },
  p99: { unit: 'ms', better: 'lower', meaning: 'time within which 99 of 100 answers arrive' },
  memory: { unit: 'MiB', better: 'lower', meaning: 'resident memory of the process after the load' },
  ready: { unit: 'ms', better: 'lower', meaning: 'from exec until the program reports that it is ready' },
};
const PLOTS: readonly Plot[] = [
  { name: 'rate', title: 'answers per second', column: 'rate', x: 'identities' },
  { name: 'p50', title: 'typical time of an answer', column: 'p50', x: 'identities' },
  { name: 'p99', title: 'longest times of answers', column: 'p99', x: 'identities' },
  { name: 'memory', title: 'memory', column: 'memory', x: 'identities' },
  { name: 'ready', title: 'start', column: 'ready' },
];
const YARDSTICK = 'bare fastify';
/** The only request whose time depends on the store. */
const STORED_REQUESTS: readonly RequestName[] = ['POST identities'];
const MEMORY = 'resident after the load';
const STARTS = 'exec to ready';

interface Sizes {
  readonly identities: readonly number[];
  /** Number of identities in a file. */
  readonly stored: number;
  readonly rounds: number;
  /** Milliseconds. */
  readonly round: number;
  readonly starts: number;
  /** Number of identities in the file with which a simulator starts. */
  readonly startsWith: number;
}

const FULL: Sizes = {
  identities: [1_000, 10_000, 100_000],
  stored: 10_000,
  rounds: 3,
  round: 2_000,
  starts: 5,
  startsWith: 100_000,
};
const QUICK: Sizes = { identities: [100], stored: 100, rounds: 1, round: 40, starts: 1, startsWith: 100 };

/** One simulator and the requests to it. */
interface Setup {
  readonly identities: number;
  readonly isStored: boolean;
  readonly requests: readonly RequestName[];
}

export const api: Benchmark = {
  groups: ({ quick }) => [...worksOf(sizesOf(quick)).flatMap(groupsOf).map(labelOf), STARTS],
  async measure(options, progress) {
    const sizes = sizesOf(options.quick);
    using folder = workFolder();
    const agent = newAgent();
    const rows: Row[] = [];
    const disturbance = new Disturbance();
    try {
      for (const work of worksOf(sizes)) {
        if (!groupsOf(work).some((group) => isWanted(group, options))) continue;
        progress(labelOf(groupOf(`${work.requests.length} requests`, work)));
        const data = work.isStored ? join(folder.path, 'sim.db') : undefined;
        rows.push(...(await measureApi({ agent, sizes, disturbance, options, data }, work)));
      }
      if (isWanted(STARTS, options)) {
        progress(STARTS);
        rows.push(...(await measureStarts(agent, sizes, folder.path)));
      }
    } finally {
      await agent.close();
    }
    const title = 'Management and client API';
    const { rounds } = sizes;
    return {
      name: 'api',
      title,
      columns: COLUMNS,
      yardstick: YARDSTICK,
      rows,
      notes: disturbance.notes,
      plots: PLOTS,
      rounds,
    };
  },
};

interface Lab {
  readonly agent: Agent;
  readonly sizes: Sizes;
  readonly disturbance: Disturbance;
  readonly options: BenchmarkOptions;
  /** The data file of the simulator; undefined for in-memory data. */
  readonly data: string | undefined;
}

function sizesOf(quick: boolean): Sizes {
  return quick ? QUICK : FULL;
}

function worksOf({ identities, stored }: Sizes): Setup[] {
  const inMemory = identities.map((count) => ({ identities: count, isStored: false, requests: REQUESTS }));
  return [...inMemory, { identities: stored, isStored: true, requests: STORED_REQUESTS }];
}

function groupsOf(work: Setup): Work[] {
  return [...work.requests, MEMORY].map((name) => groupOf(name, work));
}

function groupOf(name: string, { identities, isStored }: Setup): Work {
  return { group: `${name}${isStored ? ', in SQLite' : ''}`, sizes: { identities } };
}

function pointOf(name: string, { identities, isStored }: Setup): Point {
  return { series: `${name}${isStored ? ' in SQLite' : ''}`, x: identities };
}

async function measureApi({ agent, sizes, disturbance, options, data }: Lab, work: Setup): Promise<Row[]> {
  await using simulator = await startSimulatorProgram(data);
  const network = await fill(agent, simulator.ready, work.identities);
  const all = targets(simulator.ready, network);
  const answers: Record<string, Answers[string]> = {};
  for (const name of work.requests) {
    const target = all[name];
    const body = await ask(agent, target);
    answers[bareUrl(name)] = { method: target.method, status: target.method === 'POST' ? 201 : 200, body };
  }
  await using bare = await startBareProgram({ ...(await serverCertificate()), answers });
  const rows: Row[] = [];
  const isMemoryWanted = isWanted(groupOf(MEMORY, work), options);
  for (const name of work.requests) {
    const group = groupOf(name, work);
    if (!isMemoryWanted && !isWanted(group, options)) continue;
    const yardstick = { ...all[name], url: `https://127.0.0.1:${bare.ready.port}${bareUrl(name)}` };
    const measured = await compare({ agent, sizes, disturbance }, { [YARDSTICK]: yardstick, simulator: all[name] });
    if (isWanted(group, options)) rows.push(...toRows(group, measured, YARDSTICK, pointOf(name, work)));
  }
  const [memory, bareMemory] = [simulator.resident(), bare.resident()];
  const group = groupOf(MEMORY, work);
  if (!isMemoryWanted || memory === undefined || bareMemory === undefined) return rows;
  const resident = new Map([
    [YARDSTICK, [{ memory: bareMemory }]],
    ['simulator', [{ memory }]],
  ]);
  return [...rows, ...toRows(group, resident, YARDSTICK, pointOf(MEMORY, work))];
}

function bareUrl(name: string): string {
  return `/${name.replaceAll(/\W+/g, '-')}`;
}

async function compare(
  { agent, sizes: { rounds, round }, disturbance }: Pick<Lab, 'agent' | 'sizes' | 'disturbance'>,
  subjects: Readonly<Record<string, Target>>,
): Promise<Map<string, Values[]>> {
  const measured = new Map<string, Values[]>(Object.keys(subjects).map((name) => [name, []]));
  for (const target of Object.values(subjects)) await load(agent, target, round / 4);
  for (let each = 0; each < rounds; each++)
    for (const [name, target] of Object.entries(subjects))
      measured.get(name)?.push({ ...(await disturbance.undisturbed(() => load(agent, target, round))) });
  return measured;
}

/** Times from exec to ready, of an empty simulator and of one with a full file. */
async function measureStarts(agent: Agent, { starts, startsWith }: Sizes, directory: string): Promise<Row[]> {
  const file = join(directory, 'full.db');
  {
    await using simulator = await startSimulatorProgram(file);
    await fill(agent, simulator.ready, startsWith);
  }
  const pair = await serverCertificate();
  const subjects: Readonly<Record<string, () => Promise<number>>> = {
    [YARDSTICK]: () => timeToBare(pair),
    simulator: () => timeToReady([]),
    [`simulator with ${startsWith.toLocaleString('en')} identities in SQLite`]: () => timeToReady(['--data', file]),
  };
  const measured = new Map<string, Values[]>(Object.keys(subjects).map((name) => [name, []]));
  for (let each = 0; each < starts; each++)
    for (const [name, start] of Object.entries(subjects)) measured.get(name)?.push({ ready: await start() });
  return toRows(STARTS, measured, YARDSTICK);
}
