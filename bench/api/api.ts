// `npm run bench -- api`: the simulator's APIs beside a bare fastify-over-TLS program that answers the same bytes from memory. Both take
// turns within each round and are asked by the same client; the median of the rounds counts. The client needs a core too, so figures are
// of the pair; ratios are what can be compared.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from 'undici';
import { serverCertificate } from '../certificate.ts';
import { barChart } from '../plot.ts';
import type { Benchmark, Row } from '../report.ts';
import { ask, CONNECTIONS, load, newAgent, type Target } from './load.ts';
import {
  type Answers,
  type SimulatorReady,
  startBareProgram,
  startSimulatorProgram,
  timeToBare,
  timeToReady,
} from './programs.ts';

const COLUMNS = { rate: '/s', time: 'ms' };
const API_SESSIONS = 1_000;
/** Services that the measured client may dial, whatever else there is. */
const OWN_SERVICES = 5;

interface Sizes {
  readonly identities: readonly number[];
  readonly rounds: number;
  /** Milliseconds. */
  readonly round: number;
  readonly starts: number;
}

const FULL: Sizes = { identities: [1_000, 10_000, 100_000], rounds: 3, round: 2_000, starts: 5 };
const QUICK: Sizes = { identities: [100], rounds: 1, round: 100, starts: 1 };

export const api: Benchmark = async ({ quick, progress }) => {
  const sizes = quick ? QUICK : FULL;
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-bench-'));
  const agent = newAgent();
  const rows: Row[] = [];
  try {
    const data = join(directory, 'sim.db');
    for (const identities of sizes.identities) {
      progress(`${identities} identities in memory`);
      rows.push(...(await measureApi(agent, sizes, identities, undefined)));
    }
    const stored = quick ? 100 : 10_000;
    progress(`${stored} identities in SQLite`);
    rows.push(...(await measureApi(agent, sizes, stored, data)));
    progress('starts');
    rows.push(...(await measureStarts(agent, sizes, directory, quick ? 100 : 100_000)));
  } finally {
    await agent.close();
    rmSync(directory, { recursive: true });
  }
  const title = 'Management and client API';
  return {
    name: 'api',
    title,
    columns: COLUMNS,
    yardstick: 'bare fastify',
    rows,
    plot: barChart(title, 'rate', 'answers per second', rows),
  };
};

async function measureApi(agent: Agent, sizes: Sizes, identities: number, data: string | undefined): Promise<Row[]> {
  await using simulator = await startSimulatorProgram(data);
  const network = await fill(agent, simulator.ready, identities);
  const kind = `${identities.toLocaleString('en')} identities${data === undefined ? '' : ' in SQLite'}`;
  const all = targets(simulator.ready, network);
  const wanted = data === undefined ? all : { 'POST identities': all['POST identities'] as Target };
  const answers: Record<string, { method: 'GET' | 'POST'; status: number; body: string }> = {};
  for (const [name, target] of Object.entries(wanted)) {
    const body = await ask(agent, target);
    answers[bareUrl(name)] = { method: target.method, status: target.method === 'POST' ? 201 : 200, body };
  }
  await using bare = await startBareProgram({ ...(await serverCertificate()), answers: answers as Answers });
  const rows: Row[] = [];
  for (const [name, target] of Object.entries(wanted)) {
    const yardstick = { ...target, url: `https://127.0.0.1:${bare.ready.port}${bareUrl(name)}` };
    rows.push(...(await compare(agent, sizes, `${name}, ${kind}`, { 'bare fastify': yardstick, simulator: target })));
  }
  return rows;
}

function bareUrl(name: string): string {
  return `/${name.replaceAll(/\W+/g, '-')}`;
}

async function compare(
  agent: Agent,
  { rounds, round }: Sizes,
  group: string,
  subjects: Readonly<Record<string, Target>>,
): Promise<Row[]> {
  const taken = new Map<string, number[]>(Object.keys(subjects).map((name) => [name, []]));
  for (const target of Object.values(subjects)) await load(agent, target, round / 4);
  for (let each = 0; each < rounds; each++)
    for (const [name, target] of Object.entries(subjects)) taken.get(name)?.push(await load(agent, target, round));
  const rates = [...taken].map(([subject, list]) => ({ subject, rate: median(list) }));
  return toRows(group, rates);
}

function toRows(group: string, rates: readonly { subject: string; rate: number }[]): Row[] {
  const yardstick = rates[0]?.rate ?? 1;
  return rates.map(({ subject, rate }) => ({
    group,
    subject,
    values: { rate, time: (1000 * CONNECTIONS) / rate },
    ratio: rate / yardstick,
  }));
}

interface Filled {
  readonly token: string;
  readonly clientToken: string;
  readonly identityId: string;
  readonly serviceId: string;
}

/** As many identities, and a tenth as many services and policies; one client has a few services of its own. */
async function fill(agent: Agent, ready: SimulatorReady, identities: number): Promise<Filled> {
  const { managementUrl } = ready;
  const token = await login(agent, ready, 'admin', 'admin');
  const create = async (kind: string, body: unknown): Promise<string> => {
    const target: Target = { url: `${managementUrl}/${kind}`, method: 'POST', token, body: () => body };
    return (JSON.parse(await ask(agent, target)) as { data: { id: string } }).data.id;
  };
  await inParallel(identities, (each) =>
    create('identities', {
      name: `identity-${each}`,
      type: 'Device',
      isAdmin: false,
      roleAttributes: [`role-${each % 50}`],
    }),
  );
  await inParallel(identities / 10, (each) =>
    create('services', { name: `service-${each}`, encryptionRequired: true, roleAttributes: [`role-${each % 50}`] }),
  );
  await inParallel(identities / 10, (each) =>
    create('service-policies', {
      name: `policy-${each}`,
      type: 'Dial',
      semantic: 'AllOf',
      identityRoles: [`#role-${each % 50}`, `#group-${each}`],
      serviceRoles: [`#role-${each % 50}`, `#group-${each}`],
    }),
  );
  const identityId = await create('identities', {
    name: 'client',
    type: 'User',
    isAdmin: false,
    roleAttributes: ['own'],
  });
  await create('authenticators', { identityId, method: 'updb', username: 'client', password: 'client' });
  let serviceId = '';
  for (let each = 0; each < OWN_SERVICES; each++)
    serviceId = await create('services', { name: `own-${each}`, encryptionRequired: true, roleAttributes: ['own'] });
  const own = { semantic: 'AnyOf', identityRoles: ['#own'], serviceRoles: ['#own'] };
  await create('service-policies', { name: 'own', type: 'Dial', ...own });
  const sessions = Math.min(API_SESSIONS, identities);
  await inParallel(sessions, () => login(agent, ready, 'client', 'client'));
  return { token, clientToken: await login(agent, ready, 'client', 'client'), identityId, serviceId };
}

async function login(agent: Agent, { clientUrl }: SimulatorReady, username: string, password: string): Promise<string> {
  const url = `${clientUrl}/authenticate?method=password`;
  const answer = await ask(agent, { url, method: 'POST', body: () => ({ username, password }) });
  return (JSON.parse(answer) as { data: { token: string } }).data.token;
}

async function inParallel(count: number, work: (each: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

function targets(
  { managementUrl, clientUrl }: SimulatorReady,
  { token, clientToken, identityId, serviceId }: Filled,
): Readonly<Record<string, Target>> {
  const filter = encodeURIComponent('name contains "-9"');
  const stamp = Date.now();
  return {
    'GET version': { url: `${managementUrl}/version`, method: 'GET' },
    'GET identities?limit=100': { url: `${managementUrl}/identities?limit=100`, method: 'GET', token },
    'GET identities?limit=100 with a filter': {
      url: `${managementUrl}/identities?limit=100&filter=${filter}`,
      method: 'GET',
      token,
    },
    'GET identities by a name': {
      url: `${managementUrl}/identities?filter=${encodeURIComponent('name = "identity-9"')}`,
      method: 'GET',
      token,
    },
    'GET one identity': { url: `${managementUrl}/identities/${identityId}`, method: 'GET', token },
    'GET own services': { url: `${clientUrl}/services`, method: 'GET', token: clientToken },
    'GET one own service': { url: `${clientUrl}/services/${serviceId}`, method: 'GET', token: clientToken },
    'POST identities': {
      url: `${managementUrl}/identities`,
      method: 'POST',
      token,
      body: (count) => ({ name: `made-${stamp}-${made++}-${count}`, type: 'Device', isAdmin: false }),
    },
  };
}

let made = 0;

/** From exec to ready: of an empty simulator, and of one with a file that is full. */
async function measureStarts(agent: Agent, { starts }: Sizes, directory: string, identities: number): Promise<Row[]> {
  const file = join(directory, 'full.db');
  {
    await using simulator = await startSimulatorProgram(file);
    await fill(agent, simulator.ready, identities);
  }
  const pair = await serverCertificate();
  const subjects: Readonly<Record<string, () => Promise<number>>> = {
    'bare fastify': () => timeToBare(pair),
    simulator: () => timeToReady([]),
    [`simulator with ${identities.toLocaleString('en')} identities in SQLite`]: () => timeToReady(['--data', file]),
  };
  const taken = new Map<string, number[]>(Object.keys(subjects).map((name) => [name, []]));
  for (let each = 0; each < starts; each++)
    for (const [name, start] of Object.entries(subjects)) taken.get(name)?.push(await start());
  const yardstick = median(taken.get('bare fastify') ?? [1]);
  return [...taken].map(([subject, list]) => {
    const time = median(list);
    return {
      group: 'exec to ready (ratio of times)',
      subject,
      values: { rate: 1000 / time, time },
      ratio: time / yardstick,
    };
  });
}

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
}
