// `npm run bench -- attack`: what attackers cost others. A network with two routers serves a circuit and an
// administrator; a stranger with twenty connections does the most expensive things that strangers can do at one port
// after another, and an SDK client with a session what only clients can do. The yardstick is the same network without
// them, measured in turn.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Management } from '../../test/support/clients/management.ts';
import { enrollDevice, loginLegacy } from '../../test/support/clients/sdk-client.ts';
import { edgeListener, webServer } from '../../test/support/config/link-config.ts';
import { fixedPorts } from '../../test/support/networks/fixed-ports.ts';
import { inspectProcess } from '../../test/support/networks/processes.ts';
import { portsOf } from '../../test/support/networks/router-ports.ts';
import { untilWorking } from '../../test/support/until.ts';
import { Process } from '../data/processes.ts';
import { createServices, ours, ROOT, type RouterSetup, startRouter } from '../data/subjects.ts';
import { quantile } from '../quantile.ts';
import { type Benchmark, type Column, isWanted, type Row } from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import { workFolder } from '../work-folder.ts';
import { type Attack, attackName, attacks, type Port } from './attacks.ts';
import type { Credentials } from './client.ts';
import { roundTripsFor, transferFor } from './round-trips.ts';
import type { Job } from './stranger.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  'round trip p50': { unit: 'ms', better: 'lower', meaning: 'typical round trip of one byte over a circuit' },
  'round trip p99': { unit: 'ms', better: 'lower', meaning: 'the same, of the slowest of 100' },
  'request p50': { unit: 'ms', better: 'lower', meaning: "typical time of an administrator's request" },
  'request p99': { unit: 'ms', better: 'lower', meaning: 'the same, of the slowest of 100' },
  transfer: { unit: 'Mbit/s', better: 'higher', meaning: 'a bulk circuit of a neighbour, over the service and back' },
  attempts: { unit: '/s', better: 'lower', meaning: 'attempts of the stranger that ended' },
};
const YARDSTICK = 'nobody';
const STRANGER = 'stranger';
const CONNECTIONS = 20;
/** Services that are created at the same time. */
const AT_ONCE = 10;
/** Milliseconds that the stranger has before others are measured. */
const HEAD_START = 500;
/** Milliseconds between two requests of the administrator. */
const REQUEST_PAUSE = 10;

interface Sizes {
  readonly rounds: number;
  readonly milliseconds: number;
  /** Services that the client with a session may use. */
  readonly services: number;
}

const FULL: Sizes = { rounds: 3, milliseconds: 3_000, services: 1_500 };
const QUICK: Sizes = { rounds: 1, milliseconds: 200, services: 50 };

export const attack: Benchmark = {
  groups: () => attacks(isIsolated()).map(attackName),
  async measure(options, progress) {
    const sizes = options.quick ? QUICK : FULL;
    const wanted = attacks(isIsolated()).filter((each) => isWanted(attackName(each), options));
    using folder = workFolder();
    await using network = await startNetwork(folder.path);
    const credentials = wanted.some(({ clients }) => clients) ? await makeClient(network, sizes) : undefined;
    const rows: Row[] = [];
    let sources = 1;
    for (const each of wanted) {
      progress(attackName(each));
      const measured = new Map<string, Values[]>([
        [YARDSTICK, []],
        [STRANGER, []],
      ]);
      for (let round = 0; round < sizes.rounds; round++) {
        measured.get(YARDSTICK)?.push(await measureOthers(network, sizes, each));
        const localAddress = `127.0.${++sources >> 8}.${sources & 255}`;
        measured.get(STRANGER)?.push(await measureBeside(network, each, { sizes, localAddress, credentials }));
      }
      rows.push(...toRows(attackName(each), measured, YARDSTICK));
    }
    const { rounds } = sizes;
    return {
      name: 'attack',
      title: 'Strangers',
      columns: COLUMNS,
      yardstick: YARDSTICK,
      rows,
      notes: isIsolated() ? [] : ['The name server is measured in a network namespace only: see bench/README.md.'],
      plots: [],
      rounds,
    };
  },
};

/** Whether this process runs in a network namespace that has only loopback. */
function isIsolated(): boolean {
  return process.getuid?.() === 0 && Object.keys(networkInterfaces()).every((name) => name === 'lo');
}

interface Network extends AsyncDisposable {
  readonly ports: Readonly<Record<Port, number>>;
  /** Port of the echo service at the entry. */
  readonly echo: number;
  readonly management: Management;
  /** The same through the API proxy of the entry. */
  readonly proxied: Management;
  /** Authorities of the controller as PEM. */
  readonly ca: string;
}

async function startNetwork(parent: string): Promise<Network> {
  const directory = join(parent, 'attack');
  mkdirSync(directory);
  await using starting = new AsyncDisposableStack();
  const software = ours('edgeweave', ROOT);
  const { address, management, ca, through } = await software.controller({ directory, started: starting });
  starting.defer(() => management.close());
  const control = Number(address.split(':').at(-1));
  const [target = 0] = await fixedPorts(1);
  starting.use(
    new Process(
      'targets',
      [process.execPath, join(ROOT, 'bench/path/load.ts'), 'serve', '127.0.0.1', '0', String(target), '0'],
      { directory },
    ),
  );
  const entry = {
    tunnel: { mode: 'proxy', services: ['echo:0'] },
    listeners: [edgeListener(0, 'wss'), { binding: 'proxy_udp', address: 'udp:127.0.0.1:0', service: 'datagrams' }],
    web: [webServer(0, 'health-checks', 'metrics')],
    apiProxy: { listener: '127.0.0.1:0', upstream: `127.0.0.1:${control}` },
  } satisfies Partial<RouterSetup>;
  const exit = {
    tunnel: isIsolated() ? { mode: 'tproxy', resolver: 'udp://127.0.0.1:0' } : { mode: 'host' },
  } satisfies Partial<RouterSetup>;
  const ids: string[] = [];
  const files: string[] = [];
  for (const [name, more] of [
    ['entry', entry],
    ['exit', exit],
  ] as const) {
    const file: RouterSetup = { name, controller: address, ...more };
    const { id, path, router } = await startRouter({ software, management, directory, file });
    ids.push(id);
    files.push(path);
    starting.use(router);
  }
  await createServices(management, [{ name: 'echo', port: target, isEncrypted: true }], ids);
  const [atEntry, atExit] = await Promise.all(files.map(inspectProcess));
  if (!atEntry || !atExit) throw new Error('a router is missing');
  const {
    link: [link = 0],
    sdk: [edge = 0, websocket = 0],
    web: [web = 0],
    proxy: [echo = 0],
    fabric: [proxy = 0],
  } = portsOf(atEntry);
  const [names = 0] = atExit.interception?.resolvers ?? [];
  const apiProxy = Number(atEntry.apiProxy?.split(':')[1]);
  await untilWorking('the echo service', async () => (await roundTripsFor(echo, 1)).length > 0);
  const proxied = await untilWorking('the API proxy', () => through(`https://127.0.0.1:${apiProxy}`));
  starting.defer(() => proxied.close());
  const running = starting.move();
  return {
    ports: { link, edge, websocket, web, proxy, names, control, API: control, 'API proxy': apiProxy },
    echo,
    management,
    proxied,
    ca,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** An identity with a session, and its services. */
async function makeClient({ management, ports, ca }: Network, { services }: Sizes): Promise<Credentials> {
  const simulator = { ca, clientUrl: `https://127.0.0.1:${ports.API}/edge/client/v1` };
  for (let from = 0; from < services; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, services - from) }, (_, index) =>
        management.services.create({ name: `service ${from + index}`, encryptionRequired: true }).then(({ id }) => id),
      ),
    );
  const everywhere = { serviceRoles: ['#all'], edgeRouterRoles: ['#all'] };
  await management.serviceEdgeRouterPolicies.create({ name: 'all', semantic: 'AnyOf', ...everywhere });
  const roles = { serviceRoles: ['#all'], identityRoles: ['#clients'] };
  await management.servicePolicies.create({ name: 'clients', type: 'Dial', semantic: 'AnyOf', ...roles });
  const device = await enrollDevice({ management, simulator }, 'client', { roleAttributes: ['clients'] });
  const { cert, key, http } = device;
  const token = await loginLegacy({ simulator }, device);
  await http.close();
  return { cert, key: key.export({ type: 'pkcs8', format: 'pem' }).toString(), token, service: 'echo' };
}

interface Beside {
  readonly sizes: Sizes;
  /** The source of the attack. */
  readonly localAddress: string;
  readonly credentials: Credentials | undefined;
}

async function measureBeside(
  network: Network,
  attack: Attack,
  { sizes, localAddress, credentials }: Beside,
): Promise<Values> {
  const { port, kind, alpn, clients, connections = CONNECTIONS } = attack;
  const job: Job = {
    kind,
    name: port,
    port: network.ports[port],
    connections: clients ?? connections,
    localAddress,
    ...(alpn && { alpn }),
    ...(clients && credentials && { credentials }),
  };
  const stranger = spawn(process.execPath, [join(import.meta.dirname, 'stranger.ts'), JSON.stringify(job)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    await sleep(HEAD_START);
    const began = performance.now();
    const values = await measureOthers(network, sizes, attack);
    const seconds = (performance.now() - began + HEAD_START) / 1_000;
    return { ...values, attempts: (await endOf(stranger)) / seconds };
  } finally {
    stranger.kill();
  }
}

/** Returns what the stranger prints. */
async function endOf({ stdin, stdout }: ChildProcess): Promise<number> {
  if (!stdin || !stdout) return Number.NaN;
  stdin.end();
  const [text] = (await once(stdout.setEncoding('utf8'), 'data')) as [string];
  return Number(text);
}

async function measureOthers(
  { echo, management, proxied }: Network,
  { milliseconds }: Sizes,
  { others }: Attack,
): Promise<Values> {
  const [trips, requests, transfer] = await Promise.all([
    roundTripsFor(echo, milliseconds),
    requestsFor(others === 'through the proxy' ? proxied : management, milliseconds),
    others === 'and a transfer' ? transferFor(echo, milliseconds) : undefined,
  ]);
  return {
    ...(transfer !== undefined && { transfer }),
    'round trip p50': quantile(trips, 0.5),
    'round trip p99': quantile(trips, 0.99),
    'request p50': quantile(requests, 0.5),
    'request p99': quantile(requests, 0.99),
  };
}

async function requestsFor(management: Management, milliseconds: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    const began = performance.now();
    await management.identities.list({ limit: 10 });
    times.push(performance.now() - began);
    await sleep(REQUEST_PAUSE);
  }
  return times;
}
