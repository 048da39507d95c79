// The options of a simulator: their types, and one table of their checks and flags, for `startSimulator`, `sim start`
// and `sim network`.

import { isIP } from 'node:net';
import { isSameFile } from '#lib/files/symbolic-links.ts';
import { isMap } from '#lib/json/is-map.ts';
import type { Log } from '#lib/log/log.ts';
import {
  boolean,
  checkOptions,
  hostForOthers,
  integer,
  listOf,
  log,
  type OptionCheck,
  OptionError,
  objectWith,
  path,
  port,
  stringOfLength,
} from '#lib/options.ts';
import { MAX_SEED, type Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import bodies from '#schemas/api/bodies.json' with { type: 'json' };
import type { PasswordCost } from '../auth/passwords.ts';
import { NAMESPACES, type Namespace, namespaceProblem } from '../events/events.ts';
import { proxyTarget } from '../lab/proxies/proxy-targets.ts';
import type { SeedDocument } from '../lab/seed/export.ts';
import { type CommonMemory, SharedMemory } from '../state/store/shared-memory.ts';

export interface SimulatorOptions {
  /** Address to listen on. URLs contain it, or 127.0.0.1 if it means every interface. */
  host?: string;
  /** 0 or undefined: the port stored in the data file, else any free one. */
  port?: number;
  /** SQLite file; in memory by default. */
  data?: string;
  /** Additional host names of the simulator. URLs and tokens use the first one. */
  advertise?: readonly string[];
  /**
   * Name of the administrator, 4 to 100 characters. By default existing data keeps its name, and new data gets `admin`.
   */
  username?: string;
  /**
   * Password of the administrator, 5 to 100 characters. By default existing data keeps its password, and new data gets
   * a random one.
   */
  password?: string;
  log?: Log;
  clock?: Clock;
  random?: Random;
  /**
   * A whole number: ids, serial numbers, tokens, secrets, waits and choices are the same in each run with it. Anybody
   * can predict them, so it is for tests only, on loopback: with other addresses the log has a warning. Keys stay
   * random.
   */
  seedRandom?: number;
  passwordCost?: PasswordCost;
  /** Limit on logins that wait for their password check; further ones are asked to retry. */
  passwordsWaiting?: number;
  /** Destination of events: a file, or `-` for standard output. */
  eventsFile?: string;
  /** Types of events to write there; all if empty. */
  eventTypes?: readonly Namespace[];
  /** Acts as a member of a cluster, for clients that need one; the only one without a common store. */
  cluster?: boolean;
  /**
   * All data is in a store that several simulators share: they are the controllers of one network. A `SharedMemory` for
   * simulators of one process, or the URL of a PostgreSQL database.
   */
  store?: CommonMemory | string;
  /** The id of this controller in the common store. With the id of an earlier run it keeps its port and certificate. */
  member?: string;
  /** Folder of a built web console of the reference, served at `consoleUrl`. */
  console?: string;
  /** Serves the page to see and control the simulator at `dashboardUrl`; default true. */
  dashboard?: boolean;
  /**
   * Serves the lab API, and with it the dashboard and the commands that control a simulator; default true.
   * `simulator.lab` exists in any case.
   */
  lab?: boolean;
  /** The key to the lab API; by default a random one. */
  labToken?: string;
  /** Milliseconds after a connection during which a router may not connect again. */
  churnLimit?: number;
  /** Dials disconnected routers that listen for controllers. */
  dialRouters?: boolean;
  /**
   * Puts a proxy of the lab in front of each router, for its links and for SDK clients, so that faults of the kinds
   * `link` and `sdk` act on them. Default false; `startNetwork`: true. A proxy leads to the address from which its
   * router has connected, whatever host the router advertises.
   */
  proxyRouters?: boolean;
  /** Hosts, addresses or networks that routers may advertise, and to which these proxies lead too. */
  proxyTargets?: readonly string[];
  /** Address on which the proxies of the lab listen. Default: `host` if it is a loopback address, else 127.0.0.1. */
  proxyHost?: string;
  /**
   * A network to create before the start: a file (YAML or JSON) or the document itself, as `ziti ops export` writes it.
   * Entities whose names exist already are kept as they are.
   */
  seed?: string | SeedDocument;
  /** Milliseconds without a request after which an API session ends. */
  sessionLifetime?: number;
  /** Lifetime of one-time tokens in milliseconds. */
  enrollmentLifetime?: number;
  /**
   * A version that routers receive for each other instead of the true one. Below v1.6.6 they dial split or single
   * links.
   */
  linkVersion?: string;
}

/** Shorter ones could be guessed. */
const MIN_TOKEN_LENGTH = 20;
const MAX_TOKEN_LENGTH = 200;
/** A year in milliseconds. Longer durations are mistakes in the unit. */
const YEAR = 365 * 24 * 3_600_000;
/** KiB and passes: argon2 needs at least eight blocks for a lane; beyond this a login needs gigabytes or minutes. */
const COST = { memory: integer(8, 4_194_304), passes: integer(1, 1_000) };
/** Upper limit of `passwordsWaiting`: waiting checks use memory. */
const MAX_WAITING = 1_000_000;

const name = hostForOthers('sim.example');
/** An interface may need its zone (`fe80::1%eth0`). */
const host: OptionCheck = (value) => (typeof value === 'string' && isIP(value) !== 0 ? undefined : name(value));

const passwordCost: OptionCheck = (value) => {
  try {
    checkOptions('passwordCost', value, COST);
    const { memory, passes } = value as Partial<PasswordCost>;
    return memory === undefined || passes === undefined ? 'It must have memory (KiB) and passes.' : undefined;
  } catch (error) {
    if (error instanceof OptionError) return `${error.message}.`.replace(/\.\.$/, '.');
    throw error;
  }
};

const seed: OptionCheck = (value) => {
  if (typeof value === 'string') return path(value);
  return isMap(value) ? undefined : 'It must be the path of a file, or an object with the sections of a seed.';
};

const version: OptionCheck = (value) =>
  typeof value === 'string' && /^v?\d+\.\d+\.\d+/.test(value) ? undefined : 'It must be a version such as v1.6.5.';

/** Logins with names or passwords of other lengths would be rejected. */
const lengthIn = ({ minLength, maxLength }: { readonly minLength: number; readonly maxLength: number }): OptionCheck =>
  stringOfLength(minLength, maxLength);

const store: OptionCheck = (value) => {
  if (value instanceof SharedMemory) return undefined;
  if (typeof value !== 'string' || !/^postgres(?:ql)?:\/\/./.test(value))
    return 'It must be the URL of a PostgreSQL database (postgres://user@host/database), or a SharedMemory.';
  return URL.canParse(value)
    ? undefined
    : 'The URL is malformed. Write it as postgres://user@host:port/database, and special characters as %23, %2F, %40.';
};

/** File names and certificates contain ids of controllers. */
const member: OptionCheck = (value) =>
  typeof value === 'string' && /^[\w.-]{1,64}$/.test(value)
    ? undefined
    : 'It must have 1 to 64 letters, digits, dots, hyphens and underscores.';

/** An option of `startSimulator`, and its flag if `sim start` has one. */
export interface OptionRow {
  readonly check: OptionCheck;
  readonly flag?: OptionFlag;
}

export interface OptionFlag {
  readonly flags: string;
  readonly help: string;
  /** The variable `EDGEWEAVE_SIM_…` that sets it too. */
  readonly variable?: string;
  readonly default?: string;
  /** Text by default. `list`: a value for each use; `commas`: several, also within one use; `secret`: checked later. */
  readonly form?: 'integer' | 'list' | 'commas' | 'switch' | 'secret';
}

/** All options; those with flags in the order of the help. */
export const OPTIONS = {
  host: {
    check: host,
    flag: { flags: '--host <address>', help: 'address to listen on', variable: 'HOST', default: '127.0.0.1' },
  },
  port: {
    check: port,
    flag: {
      flags: '--port <port>',
      help: 'port to listen on; default: the port stored in the data file, else a free one',
      variable: 'PORT',
      form: 'integer',
    },
  },
  data: {
    check: path,
    flag: { flags: '--data <file>', help: 'store all data in this file; default: in memory', variable: 'DATA' },
  },
  advertise: {
    check: listOf(name),
    flag: {
      flags: '--advertise <name>',
      help: 'additional host name or address for clients; may be repeated, or a,b',
      variable: 'ADVERTISE',
      form: 'commas',
    },
  },
  username: {
    check: lengthIn(bodies.$defs.username),
    flag: {
      flags: '--username <name>',
      help: 'name of the administrator; default: the stored one, else admin. A later start can rename it',
      variable: 'USERNAME',
    },
  },
  password: {
    check: lengthIn(bodies.$defs.password),
    flag: {
      flags: '--password <password>',
      help: 'password of the administrator; default: generated and printed at the first start, then kept. A later start can set a new one',
      variable: 'PASSWORD',
    },
  },
  eventsFile: {
    check: path,
    flag: {
      flags: '--events-file <file>',
      help: 'write events to this file, one JSON object per line; - for standard output',
    },
  },
  eventTypes: {
    check: listOf(namespaceProblem),
    flag: {
      flags: '--events <type>',
      help: `types of events to write: ${NAMESPACES.join(', ')}; may be repeated; default: all`,
      form: 'list',
    },
  },
  cluster: {
    check: boolean,
    flag: { flags: '--cluster', help: 'act as the only member of a cluster', form: 'switch' },
  },
  store: {
    check: store,
    flag: {
      flags: '--store <url>',
      help: 'store all data in this PostgreSQL database: all simulators with the same one are controllers of one network; with --nodes also `embedded`, for a PostgreSQL server of their own',
      variable: 'STORE',
      form: 'secret',
    },
  },
  member: {
    check: member,
    flag: {
      flags: '--member <id>',
      help: 'id of this controller in --store; with that of an earlier start it keeps its port',
      variable: 'MEMBER',
    },
  },
  dialRouters: {
    check: boolean,
    flag: {
      flags: '--dial-routers',
      help: 'dial routers that listen for controllers (ctrl.listeners)',
      form: 'switch',
    },
  },
  proxyRouters: {
    check: boolean,
    flag: {
      flags: '--proxy-routers',
      help: 'put a proxy in front of each router, for faults of links and of SDK connections',
      form: 'switch',
    },
  },
  proxyTargets: {
    check: listOf(proxyTarget),
    flag: {
      flags: '--proxy-targets <host>',
      help: "host, address or network that routers may advertise; without it, their proxies lead only to the router's own address; may be repeated, or a,b",
      variable: 'PROXY_TARGETS',
      form: 'commas',
    },
  },
  proxyHost: {
    check: host,
    flag: {
      flags: '--proxy-host <address>',
      help: 'address on which proxies listen, for routers and clients of other machines; default: that of --host if it is a loopback address, else 127.0.0.1',
      variable: 'PROXY_HOST',
    },
  },
  console: {
    check: path,
    flag: { flags: '--console <folder>', help: 'serve the built web console in this folder' },
  },
  dashboard: {
    check: boolean,
    flag: {
      flags: '--no-dashboard',
      help: 'do not serve the page to see and control the simulator',
      form: 'switch',
    },
  },
  lab: {
    check: boolean,
    flag: {
      flags: '--no-lab',
      help: 'do not serve the lab API: no dashboard, no control over the running simulator',
      form: 'switch',
    },
  },
  labToken: {
    check: stringOfLength(MIN_TOKEN_LENGTH, MAX_TOKEN_LENGTH),
    flag: {
      flags: '--lab-token <token>',
      help: 'key to the lab API; default: a random one at each start',
      variable: 'LAB_TOKEN',
    },
  },
  seed: {
    check: seed,
    flag: {
      flags: '--seed <file>',
      help: 'create the entities of this file (YAML or JSON, as `export` writes it) that the data does not have',
      variable: 'SEED',
    },
  },
  seedRandom: {
    check: integer(0, MAX_SEED),
    flag: {
      flags: '--seed-random <number>',
      help: 'the same ids, serial numbers, tokens and choices in each run with this number; for tests, because they can be predicted',
      form: 'integer',
    },
  },
  log: { check: log },
  clock: { check: objectWith(['now', 'after', 'every', 'sleep'], 'a clock: SystemClock or VirtualClock') },
  random: { check: objectWith(['next', 'bytes'], 'a source of random numbers with next() and bytes()') },
  passwordCost: { check: passwordCost },
  passwordsWaiting: { check: integer(0, MAX_WAITING) },
  churnLimit: { check: integer(0, YEAR) },
  sessionLifetime: { check: integer(1, YEAR) },
  enrollmentLifetime: { check: integer(1, YEAR) },
  linkVersion: { check: version },
} as const satisfies Readonly<Record<keyof SimulatorOptions, OptionRow>>;

export const OPTION_CHECKS = Object.fromEntries(
  Object.entries(OPTIONS).map(([each, { check }]) => [each, check]),
) as Readonly<Record<keyof SimulatorOptions, OptionCheck>>;

/** Controllers of `startCluster` in one process. */
const MAX_NODES = 9;
export const nodesCheck = integer(1, MAX_NODES);

/** The id of a controller of `startCluster`. */
export function memberId(index: number): string {
  return `ctrl${index + 1}`;
}

/** Controllers that start together have consecutive ports. */
export function portsProblem(first: number | undefined, count: number): string | undefined {
  if (!first || first + count <= 65_536) return undefined;
  return `${count} controllers need consecutive ports from ${first}, and ports end at 65535; choose a lower one (port, --port)`;
}

const LOOPBACK = '127.0.0.1';

/** The file with the certificates that clients should trust is named after the data file. */
export const CA_SUFFIX = '.ca.pem';

/** Names of the simulator in its certificate; URLs and tokens contain the first one. */
export function hostNames({
  host: given = LOOPBACK,
  advertise = [],
}: SimulatorOptions): readonly [string, ...string[]] {
  // Nobody can connect to the address of all interfaces, and no certificate contains the zone of an address.
  const own = isUnspecified(given) ? LOOPBACK : given.replace(/%.*$/, '');
  const [first = own, ...others] = advertise;
  return [first, ...others, own];
}

/** Where proxies of the lab listen. They have no login, so other machines reach them only if that is asked for. */
export function proxyPlace(options: SimulatorOptions): { readonly host: string; readonly name: string | undefined } {
  const { host: own = LOOPBACK, proxyHost } = options;
  const listening = proxyHost ?? (isLoopback(own) ? own : LOOPBACK);
  return { host: listening, name: isUnspecified(listening) ? hostNames(options)[0] : undefined };
}

/** Whether routers of other machines reach the simulator, but not its proxies. */
export function areProxiesHidden({ host: own = LOOPBACK, proxyRouters, proxyHost }: SimulatorOptions): boolean {
  return proxyRouters === true && proxyHost === undefined && !isLoopback(own);
}

/** Whether other machines may reach a simulator whose tokens and passwords they can compute. */
export function isPredictableForOthers(options: SimulatorOptions): boolean {
  const { seedRandom, host = LOOPBACK, advertise = [], proxyHost = LOOPBACK } = options;
  return seedRandom !== undefined && ![host, ...advertise, proxyHost].every(isLoopback);
}

function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}

function isUnspecified(address: string): boolean {
  return isIP(address) !== 0 && /^[0.:]+$/.test(address);
}

/** Its page uses the lab API. */
export function hasDashboard({ dashboard = true, lab = true }: SimulatorOptions): boolean {
  return dashboard && lab;
}

/** Throws OptionError. */
export function checkSimulatorOptions(options: unknown): void {
  checkOptions('startSimulator', options, OPTION_CHECKS);
  const problem = combinationProblem(options as SimulatorOptions);
  if (problem !== undefined) throw new OptionError(`startSimulator: ${problem}`);
}

/** The files of a data file: its own, those of its journal, and the certificates that clients should trust. */
export function dataFiles(data: string | undefined): string[] {
  return data === undefined ? [] : ['', '-wal', '-shm', '-journal', CA_SUFFIX].map((suffix) => `${data}${suffix}`);
}

/** Checks options that depend on others. */
export function combinationProblem(options: SimulatorOptions): string | undefined {
  const { data, eventsFile, eventTypes = [], store: shared, member: id, random, seedRandom } = options;
  if (seedRandom !== undefined && random !== undefined)
    return 'random values come from a seed (seedRandom) or a generator (random); choose one';
  if (seedRandom !== undefined && (data !== undefined || shared !== undefined))
    return 'with a seed of random values (seedRandom, --seed-random) each run has the same ids, so its data stays in memory; leave out the file or the store (data, --data, store, --store)';
  if (shared !== undefined && data !== undefined)
    return 'the data is either in a file (data, --data) or in a common store (store, --store); choose one';
  if (id !== undefined && shared === undefined)
    return 'only controllers with a common store have an id (member, --member); give the store too (store, --store)';
  if (options.proxyRouters && shared !== undefined)
    return 'only a controller without a common store has proxies for its routers; leave one out (proxyRouters, --proxy-routers; store, --store)';
  if (options.proxyTargets?.length && !options.proxyRouters)
    return 'only proxies in front of routers have targets (proxyTargets, --proxy-targets); ask for them (proxyRouters, --proxy-routers)';
  if (eventsFile !== undefined && eventsFile !== '-' && dataFiles(data).some((file) => isSameFile(file, eventsFile)))
    return `events need a file of their own: ${eventsFile} is also a file of the data (data, --data); choose another one (eventsFile, --events-file)`;
  if (eventsFile !== undefined || eventTypes.length === 0) return undefined;
  return 'event types select the events in a file; give the file too (eventsFile, --events-file; - for standard output)';
}
