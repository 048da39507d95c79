// A network for tests in one process: a simulator and real routers, with a link between each two of them.
//
//   await using network = await startNetwork({ routers: 3 });
//   await network.service('echo', { host: 'b', port });
//   const socket = await network.dial('echo');
//   const file = await network.identity('anna');

import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { silentLog } from '#lib/log/log.ts';
import { checkOptions, integer, listOf, notEmpty, type OptionCheck } from '#lib/options.ts';
import { seededStream, systemRandom } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { OPTION_CHECKS, type SimulatorOptions } from '../controller-sim/assembly/options.ts';
import { type Simulator, startSimulator } from '../controller-sim/assembly/simulator.ts';
import type { Lab } from '../controller-sim/lab/lab.ts';
import type { IdentityOptions } from '../controller-sim/lab/network/identities.ts';
import type { ReadyOptions } from '../controller-sim/lab/network/readiness.ts';
import type { LabService, NewService } from '../controller-sim/lab/network/services.ts';
import type { DialOptions, NetworkRouter, Network as RunningNetwork } from './interface.ts';
import { routerNamed, ServicePorts, startNetworkRouter, withEdgeProxies } from './routers.ts';

/**
 * Options of the simulator except those of stored data, whose routers would not be there, and of several controllers.
 */
export type NetworkOptions = Omit<SimulatorOptions, 'data' | 'store' | 'member' | 'clock'> & {
  /** How many routers, named a, b, c, …; or their names. Default: 2. */
  readonly routers?: number | readonly string[];
};

/** The links of more routers would be thousands. */
const MAX_ROUTERS = 26;
const DEFAULT_ROUTERS = 2;
const FIRST_LETTER = 'a'.charCodeAt(0);
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;

const count = integer(1, MAX_ROUTERS);
const routerName: OptionCheck = (value) =>
  typeof value === 'string' && NAME.test(value)
    ? undefined
    : 'The name of a router must have 1 to 100 letters, digits, dots, hyphens and underscores, and begin with a letter or digit.';

/** `sim network` checks its options with the same functions. */
export const routersCheck: OptionCheck = (value) => {
  if (!Array.isArray(value)) return count(value);
  if (value.length < 1 || value.length > MAX_ROUTERS) return `It must have 1 to ${MAX_ROUTERS} names.`;
  return listOf(routerName)(value) ?? (new Set(value).size < value.length ? 'Each name must be unique.' : undefined);
};

/**
 * A router that is restarted may connect again at once. The network is gone with its process, so its password needs no
 * expensive hash: KiB and passes.
 */
const DEFAULTS = { churnLimit: 0, passwordCost: { memory: 64, passes: 1 }, proxyRouters: true };

const { data: _data, store: _store, member: _member, clock: _clock, ...OF_SIMULATOR } = OPTION_CHECKS;
const CHECKS = { ...OF_SIMULATOR, routers: routersCheck };

const DIAL_CHECKS: Readonly<Record<keyof DialOptions, OptionCheck>> = { from: notEmpty };

export class Network implements RunningNetwork {
  readonly simulator: Simulator;
  /** In the order of their names. */
  readonly routers: readonly NetworkRouter[];
  readonly #folder: string;
  readonly #ports: ServicePorts;
  readonly #hosts = new Map<string, string>();
  readonly #owned: AsyncDisposableStack;
  #closed: Promise<void> | undefined;

  constructor(
    parts: { readonly simulator: Simulator; readonly routers: readonly NetworkRouter[]; readonly folder: string },
    ports: ServicePorts,
    owned: AsyncDisposableStack,
  ) {
    this.simulator = parts.simulator;
    this.routers = parts.routers;
    this.#folder = parts.folder;
    this.#ports = ports;
    this.#owned = owned;
  }

  /** Time, snapshots, faults, the journal. `reset` returns to the network as it was when it started. */
  get lab(): Lab {
    return this.simulator.lab;
  }

  /** @throws ProjectError for an unknown name */
  router(name: string): NetworkRouter {
    return routerNamed(this.routers, name);
  }

  /**
   * Creates a service that the tunneler of router `host` forwards to a TCP server, and that everybody may dial.
   * Resolves when it can be dialed; `dial` of the answer is a TCP address that leads to it. Rejects like `lab.service`.
   */
  async service(name: string, service: NewService): Promise<LabService> {
    const created = await this.lab.service(name, service);
    this.#hosts.set(name, created.host);
    return created;
  }

  /** Resolves when routers, links and hosts are as the controller wants them. Rejects like `lab.ready`. */
  ready(options: ReadyOptions = {}): Promise<void> {
    return this.lab.ready(options);
  }

  /**
   * Connects to a service. Rejects with OptionError, with the system's error, and with ProjectError for an unknown
   * router.
   */
  async dial(service: string, options: DialOptions = {}): Promise<Socket> {
    checkOptions('dial', options, DIAL_CHECKS);
    const { from = this.#dialer(service) } = options;
    const place = await this.#ports.at(service, from);
    const socket = connect(place);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('connect', () => (socket.off('error', reject), resolve()));
    });
    return socket;
  }

  /**
   * Enrolls an identity, which it creates if it is missing. @returns the path of its file, which any SDK loads; the
   * network removes it when it closes. Rejects like `lab.identity`.
   */
  async identity(name: string, options: IdentityOptions = {}): Promise<string> {
    const identity = await this.lab.identity(name, options);
    const file = join(this.#folder, `${encodeURIComponent(name)}.json`);
    await writeFileAtomic(file, JSON.stringify(identity));
    return file;
  }

  /**
   * Ends circuits, closes the routers and then the simulator, and removes all files. Further calls wait for the first
   * one.
   */
  close(): Promise<void> {
    this.#closed ??= this.#owned.disposeAsync();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #dialer(service: string): string {
    const host = this.#hosts.get(service);
    return (this.routers.find(({ name }) => name !== host) ?? this.routers[0])?.name ?? '';
  }
}

/**
 * Starts a simulator and routers, and resolves when each router has a link to each other one. All ports are free ones
 * of loopback. Rejects with OptionError, and like `startSimulator`.
 */
export async function startNetwork(options: NetworkOptions = {}): Promise<Network> {
  checkOptions('startNetwork', options, CHECKS);
  const { routers = DEFAULT_ROUTERS, ...ofSimulator } = options;
  const names = typeof routers === 'number' ? lettersUpTo(routers) : routers;
  const owned = new AsyncDisposableStack();
  try {
    return await build(names, ofSimulator, owned);
  } catch (error) {
    await owned.disposeAsync();
    throw error;
  }
}

async function build(
  names: readonly string[],
  options: Omit<NetworkOptions, 'routers'>,
  owned: AsyncDisposableStack,
): Promise<Network> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-network-'));
  let simulator: Simulator | undefined;
  owned.defer(async () => void (await Promise.all([simulator?.close(), rm(folder, { recursive: true, force: true })])));
  simulator = await startSimulator({ ...DEFAULTS, ...options });
  const { lab, controlAddress } = simulator;
  await lab.seed({ edgeRouters: names.map((name) => ({ name, isTunnelerEnabled: true })) });
  const clock = new SystemClock();
  const { log = silentLog, seedRandom } = options;
  const randomOf = (name: string) =>
    seedRandom === undefined ? systemRandom : seededStream(seedRandom, `router ${name}`);
  const started = await Promise.allSettled(
    names.map((name) =>
      startNetworkRouter(
        { clock, calendar: lab.calendar, log, random: randomOf(name), controlAddress, folder },
        name,
        lab.token(name),
      ),
    ),
  );
  const routers = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  owned.defer(async () => void (await Promise.all(routers.map(({ router }) => router.close({ drain: 0 })))));
  for (const each of started) if (each.status === 'rejected') throw each.reason;
  const ports = new ServicePorts(routers);
  lab.attach(ports);
  await lab.ready();
  const behindProxies = options.proxyRouters === false ? routers : withEdgeProxies(routers, lab.proxies);
  lab.snapshots.takeStart();
  return new Network({ simulator, routers: behindProxies, folder }, ports, owned);
}

function lettersUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String.fromCharCode(FIRST_LETTER + index));
}
