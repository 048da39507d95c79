// The subjects: two routers of this project, two of the reference, and a bare chain of as many TLS connections that
// only passes bytes. All of them run in parallel, are idle while another one is measured, and use the same targets.
// Their ports are fixed, because programs of the reference do not report theirs.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RouterFile } from '../../agent/config/router-file.ts';
import { createRouter, hostService, type Management, openManagement } from '../../test/support/clients/management.ts';
import type { TunnelOptions } from '../../test/support/config/link-config.ts';
import { fixedPorts } from '../../test/support/networks/fixed-ports.ts';
import { until, untilWorking } from '../../test/support/until.ts';
import { writeRouterFile } from '../../testbed/router-file.ts';
import { circuits, roundTrips } from './load.ts';
import { Process, type Usage } from './processes.ts';
import { TARGETS } from './target-names.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
/** By default, three for payloads and one for acknowledgements. */
const LINK_CONNECTIONS = 4;
/** Round trips until V8 has compiled load and targets. Otherwise its compilers would slow the first subjects. */
const WARM_UP = 10_000;

/** The ports for clients. The bare chain has no end-to-end encryption: both ports of its sink are the same. */
export interface Entries {
  readonly sink: number;
  readonly plain: number;
  readonly echo: number;
  readonly stuck: number;
  /** A sink that the entry hosts itself: its circuits have no link. */
  readonly local: number;
}

export interface Subject extends AsyncDisposable {
  readonly name: string;
  /** Threads of its routers beside the main thread; undefined: the program's default. */
  readonly threads: number | undefined;
  /** Whether the main thread decides everything, so that it limits what a router carries. */
  readonly hasEventLoop: boolean;
  readonly entries: Entries;
  /** Usage of the entry and of the exit, in this order. */
  usage(): Usage[];
}

/** A router program and its controller. */
export interface Software {
  readonly name: string;
  readonly hasEventLoop: boolean;
  /** Threads beside the main thread; undefined: the program's default. */
  readonly threads?: number | undefined;
  /** Connections of a link once it has all of them, if known. */
  readonly linkConnections?: number;
  readonly router: (...args: string[]) => [string, ...string[]];
  readonly enroll: (file: string, jwt: string) => [string, ...string[]];
  readonly controller: (work: Work) => Promise<StartedController>;
}

interface StartedController {
  /** `tls:host:port` */
  readonly address: string;
  readonly management: Management;
  /** Its authorities as PEM. */
  readonly ca: string;
  /** Its management API at another base URL, such as that of an API proxy. */
  readonly through: (base: string) => Promise<Management>;
}

interface Work {
  readonly directory: string;
  readonly started: AsyncDisposableStack;
  /** Address and name under which others reach the controller; by default only this machine does. */
  readonly host?: Host;
}

export interface Host {
  readonly address: string;
  readonly name: string;
}

export const LOOPBACK: Host = { address: '127.0.0.1', name: '127.0.0.1' };

export interface Targets {
  readonly ports: Readonly<Record<(typeof TARGETS)[number], number>>;
}

export async function startTargets({ directory, started }: Work): Promise<Targets> {
  const ports = await fixedPorts(TARGETS.length);
  started.use(
    new Process('targets', [process.execPath, join(ROOT, 'bench/data/targets.ts'), ...ports.map(String)], {
      directory,
    }),
  );
  const [sink = 0, echo = 0, stuck = 0] = ports;
  await untilWorking('the targets', () => firstCircuit(echo));
  await roundTrips(echo, WARM_UP);
  await circuits(echo, WARM_UP / 10, 16);
  return { ports: { sink, echo, stuck } };
}

/** @param root Folder of this project or of another checkout of it. */
export function ours(name: string, root: string, threads?: number): Software {
  const run = (...args: string[]): [string, ...string[]] => [process.execPath, join(root, 'tools/run.mjs'), ...args];
  return {
    name,
    hasEventLoop: true,
    threads,
    linkConnections: LINK_CONNECTIONS,
    router: (...args) => run('router', ...args),
    enroll: (file, jwt) => run('router', 'enroll', file, '--jwt', jwt),
    controller: async ({ directory, started, host = LOOPBACK }) => {
      const at = ['--host', host.address, ...(host.name === host.address ? [] : ['--advertise', host.name])];
      const sim = started.use(
        new Process('controller', run('sim', 'start', '--json', '--log-level', 'silent', ...at), { directory }),
      );
      const line = await until('the simulator', () => /^\{.*"ready".*$/m.exec(sim.output)?.[0]);
      const ready = JSON.parse(line) as {
        ctrl: string;
        management: string;
        ca: string;
        username: string;
        password: string;
      };
      const ca = readFileSync(ready.ca, 'utf8');
      const through = (url: string) => openManagement(url, ca, ready.username, ready.password);
      return { address: ready.ctrl, management: await through(ready.management), ca, through };
    },
  };
}

/** @param binary The program of the reference. */
export function reference(binary: string): Software {
  return {
    name: 'reference',
    hasEventLoop: false,
    router: (...args) => [binary, 'router', ...args],
    enroll: (file, jwt) => [binary, 'router', 'enroll', file, '-j', jwt],
    controller: async ({ directory, started, host = LOOPBACK }) => {
      const [port = 0] = await fixedPorts(1);
      const env = { ...process.env, HOME: directory, ZITI_CONFIG_DIR: join(directory, 'cli') };
      const args = [
        '--no-router',
        '--home',
        join(directory, 'home'),
        '--ctrl-address',
        host.name,
        '--ctrl-port',
        String(port),
      ];
      started.use(new Process('controller', [binary, 'edge', 'quickstart', ...args], { directory, env }));
      const { management, ca } = await untilWorking('the controller of the reference', async () => {
        const ca = readFileSync(join(directory, 'home/pki/root-ca/certs/root-ca.cert'), 'utf8');
        const client = await openManagement(`https://${host.name}:${port}/edge/management/v1`, ca, 'admin', 'admin');
        return { management: client, ca };
      });
      const through = (base: string) => openManagement(base, ca, 'admin', 'admin');
      return { address: `tls:${host.name}:${port}`, management, ca, through };
    },
  };
}

/** Two enrolled routers with a link: clients enter at the first one, the second one dials the targets. */
export async function startNetwork(software: Software, targets: Targets, directory: string): Promise<Subject> {
  await using starting = new AsyncDisposableStack();
  const work: Work = { directory, started: starting };
  const { address, management } = await software.controller(work);
  starting.defer(() => management.close());
  const [sink = 0, plain = 0, echo = 0, stuck = 0, local = 0] = await fixedPorts(5);
  const entries: Entries = { sink, plain, echo, stuck, local };
  const listed = Object.entries(entries).map(([service, port]) => `${service}:${port}`);
  const tunnels: TunnelOptions[] = [{ mode: 'proxy', services: listed }, { mode: 'host' }];
  const ids: string[] = [];
  const routers: Process[] = [];
  for (const [index, tunnel] of tunnels.entries()) {
    const name = index === 0 ? 'entry' : 'exit';
    const { threads } = software;
    const file = { name, controller: address, tunnel, ...(threads !== undefined && { runtime: { threads } }) };
    const { id, router } = await startRouter({ software, management, directory, file });
    ids.push(id);
    routers.push(starting.use(router));
  }
  const { ports } = targets;
  const services = Object.entries({ ...ports, plain: ports.sink, local: ports.sink });
  await createServices(
    management,
    services.map(([service, port]) => ({
      name: service,
      port,
      isEncrypted: service !== 'plain',
      isLocal: service === 'local',
    })),
    ids,
  );
  await untilWorking(`echo through ${software.name}`, async () => {
    const terminators = await management.terminators.list();
    return terminators.length < Object.keys(entries).length ? undefined : await firstCircuit(echo);
  });
  await untilLinked(software, management);
  const running = starting.move();
  return {
    name: software.name,
    threads: software.threads,
    hasEventLoop: software.hasEventLoop,
    entries,
    usage: () => routers.map((router) => router.usage()),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A link gets its further connections some seconds after its first one. */
async function untilLinked({ name, linkConnections }: Software, { fabric }: Management): Promise<void> {
  if (linkConnections === undefined) return;
  await until(`${linkConnections} connections of the link of ${name}`, async () => {
    const links = await fabric.links.list();
    return links.some(({ connections }) => connections.length >= linkConnections);
  });
}

export interface RouterStart {
  readonly software: Software;
  readonly management: Management;
  readonly directory: string;
  readonly file: RouterSetup;
  /** The command that runs another one where the router belongs; by default, on this machine. */
  readonly at?: (command: [string, ...string[]]) => [string, ...string[]];
}

/** Creates, enrolls and starts a router; `path` of its file. */
export async function startRouter(start: RouterStart): Promise<{ id: string; path: string; router: Process }> {
  const { software, management, directory, file, at = (command) => command } = start;
  const { name } = file;
  const { id, enrollmentJwt } = await createRouter(management, { name, isTunnelerEnabled: true });
  const path = await writeFile(directory, file);
  writeFileSync(`${path}.jwt`, enrollmentJwt);
  await enroll(name, at(software.enroll(path, `${path}.jwt`)), directory);
  return { id, path, router: new Process(name, at(software.router('run', path)), { directory }) };
}

export async function enroll(name: string, command: [string, ...string[]], directory: string): Promise<void> {
  await using enrollment = new Process(`enroll-${name}`, command, { directory });
  await until(`${name} to enroll`, () => !enrollment.isRunning);
  if (enrollment.exitCode !== 0) throw new Error(`${name} could not enroll: ${enrollment.output.trim()}`);
}

async function firstCircuit(port: number): Promise<true | undefined> {
  return await Promise.race([circuits(port, 1, 1).then(() => true as const), sleep(1_000, undefined)]);
}

export interface HostedService {
  readonly name: string;
  /** On the machine of the exit. */
  readonly port: number;
  readonly isEncrypted: boolean;
  /** The router that dials it hosts it, too. */
  readonly isLocal?: boolean;
}

/** The first router may dial the services, the last one hosts them. */
export async function createServices(
  management: Management,
  hosted: readonly HostedService[],
  routers: readonly string[],
): Promise<void> {
  const [dialedBy = '', last = ''] = [routers[0], routers.at(-1)];
  for (const { name, port, isEncrypted, isLocal = false } of hosted) {
    const configs = { 'host.v1': { protocol: 'tcp', address: '127.0.0.1', port } };
    await hostService(management, name, { hostedBy: isLocal ? dialedBy : last, dialedBy, isEncrypted, configs });
  }
  const all = { identityRoles: ['#all'], edgeRouterRoles: ['#all'] };
  await management.edgeRouterPolicies.create({ name: 'all', semantic: 'AnyOf', ...all });
}

export interface RouterSetup {
  readonly name: string;
  /** `tls:host:port` */
  readonly controller: string;
  /** Options of the tunnel listener. */
  readonly tunnel: TunnelOptions;
  readonly host?: Host;
  /** Groups of its dialer and of its link listener; by default, all routers link. */
  readonly groups?: readonly string[];
  /** Further listeners. */
  readonly listeners?: NonNullable<RouterFile['listeners']>;
  readonly web?: RouterFile['web'];
  readonly runtime?: RouterFile['runtime'];
  readonly apiProxy?: NonNullable<RouterFile['edge']>['apiProxy'];
}

/** Returns the path of a new configuration file, for routers of this project and of the reference. */
async function writeFile(directory: string, setup: RouterSetup): Promise<string> {
  const { name, controller, tunnel, host = LOOPBACK, groups, listeners = [], web, runtime, apiProxy } = setup;
  const [link, edge] = await fixedPorts(2);
  const isLocal = host === LOOPBACK;
  const listen = isLocal ? host.address : '0.0.0.0';
  const transport = { binding: 'transport', ...(groups && { groups }) } as const;
  return writeRouterFile(join(directory, name), controller, {
    csr: undefined,
    edge: {
      csr: { sans: { dns: ['localhost', ...(isLocal ? [] : [host.name])], ip: ['127.0.0.1'] } },
      ...(apiProxy && { apiProxy }),
    },
    link: {
      dialers: [transport],
      listeners: [{ ...transport, bind: `tls:${listen}:${link}`, advertise: `tls:${host.name}:${link}` }],
    },
    listeners: [
      { binding: 'edge', address: `tls:${listen}:${edge}`, options: { advertise: `${host.name}:${edge}` } },
      { binding: 'tunnel', options: tunnel },
      ...listeners,
    ],
    web,
    runtime,
  });
}

/** As many TLS connections and hops as a circuit over two routers. `pem` is the file with certificate and key. */
export async function startBareChain({ ports }: Targets, pem: string, directory: string): Promise<Subject> {
  await using starting = new AsyncDisposableStack();
  const names = Object.keys(ports) as (keyof typeof ports)[];
  const [between, entrances] = [await fixedPorts(names.length), await fixedPorts(names.length)];
  const hop = (role: string, pairs: string[]) =>
    starting.use(
      new Process(role, [process.execPath, join(ROOT, 'bench/data/chain-hop.ts'), role, pem, ...pairs], { directory }),
    );
  const exit = hop(
    'exit',
    names.map((name, index) => `${between[index]}:${ports[name]}`),
  );
  const [local = 0] = await fixedPorts(1);
  const entry = hop('entry', [
    ...names.map((_, index) => `${entrances[index]}:${between[index]}`),
    `${local}:${ports.sink}:plain`,
  ]);
  const [sink = 0, echo = 0, stuck = 0] = entrances;
  await untilWorking('the bare chain', () => firstCircuit(echo));
  const running = starting.move();
  return {
    name: 'bare chain',
    threads: undefined,
    hasEventLoop: true,
    entries: { sink, plain: sink, echo, stuck, local },
    usage: () => [entry.usage(), exit.usage()],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
