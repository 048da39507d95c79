// The options of a simulator and what they may be: the same for `startSimulator` and for the flags of `sim start`.

import { isIP } from 'node:net';
import type { Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import {
  checkOptions,
  flag,
  hostForOthers,
  listOf,
  log,
  type OptionCheck,
  OptionError,
  objectWith,
  path,
  textOfLength,
  wholeNumber,
} from '#lib/options.ts';
import type { Random } from '#lib/random.ts';
import bodies from '#schemas/api/bodies.json' with { type: 'json' };
import type { PasswordCost } from '../auth/passwords.ts';
import { type Namespace, namespaceProblem } from '../events/events.ts';

export interface SimulatorOptions {
  /** Address to listen on. */
  host?: string;
  /** 0 or nothing: the port that the data file remembers, else any free one. */
  port?: number;
  /** SQLite file; memory when left out. */
  data?: string;
  /** Further names that clients reach the simulator by. The first one is used in URLs and tokens. */
  advertise?: readonly string[];
  /** The administrator's, 4 to 100 characters. Left out, that of older data stays, and new data gets `admin`. */
  username?: string;
  /** The administrator's, 5 to 100 characters. Left out, new data gets a random one, and that of older data stays as it is. */
  password?: string;
  log?: Log;
  clock?: Clock;
  random?: Random;
  passwordCost?: PasswordCost;
  /** Logins that may wait for their password to be looked at; those above are told to come later. */
  passwordsWaiting?: number;
  /** Where events are written: a file or `-` for the standard output. */
  eventsFile?: string;
  /** Which events go to that file; all when empty. */
  eventTypes?: readonly Namespace[];
  /** Answers as the only member of a cluster, for clients that want one. */
  cluster?: boolean;
  /** Folder of the reference's web console, built: it is served as `consoleUrl`. */
  console?: string;
  /** Milliseconds in which a router may not connect a second time. */
  churnLimit?: number;
  /** Dial routers that listen for controllers and are not connected. */
  dialRouters?: boolean;
  /** Milliseconds of an API session without a request. */
  sessionLifetime?: number;
  /** Milliseconds for which one-time tokens are valid. */
  enrollmentLifetime?: number;
  /** The version that routers hear of each other instead of the true one. Below v1.6.6 they dial split or single links. */
  linkVersion?: string;
}

const HIGHEST_PORT = 65_535;
/** Milliseconds; a year. Durations beyond it are mistakes in the unit. */
const YEAR = 365 * 24 * 3_600_000;
/** KiB and passes: argon2 takes at least eight blocks for a lane; beyond this a login needs gigabytes or minutes. */
const COST = { memory: wholeNumber(8, 4_194_304), passes: wholeNumber(1, 1_000) };
/** Passwords being checked take memory: as many as could ever wait. */
const HIGHEST_WAITING = 1_000_000;

const name = hostForOthers('sim.example');
/** An interface may need its zone (`fe80::1%eth0`). */
const host: OptionCheck = (value) => (typeof value === 'string' && isIP(value) !== 0 ? undefined : name(value));

const passwordCost: OptionCheck = (value) => {
  try {
    checkOptions('passwordCost', value, COST);
    const { memory, passes } = value as Partial<PasswordCost>;
    return memory === undefined || passes === undefined ? 'It needs memory (KiB) and passes.' : undefined;
  } catch (error) {
    if (error instanceof OptionError) return `${error.message}.`.replace(/\.\.$/, '.');
    throw error;
  }
};

const version: OptionCheck = (value) =>
  typeof value === 'string' && /^v?\d+\.\d+\.\d+/.test(value) ? undefined : 'It must be a version such as v1.6.5.';

/** A login with another length would be refused. */
const lengthIn = ({ minLength, maxLength }: { readonly minLength: number; readonly maxLength: number }): OptionCheck =>
  textOfLength(minLength, maxLength);

export const OPTION_CHECKS: Readonly<Record<keyof SimulatorOptions, OptionCheck>> = {
  host,
  port: wholeNumber(0, HIGHEST_PORT),
  data: path,
  advertise: listOf(name),
  username: lengthIn(bodies.$defs.username),
  password: lengthIn(bodies.$defs.password),
  log,
  clock: objectWith(['now', 'after', 'every', 'sleep'], 'a clock: SystemClock or VirtualClock'),
  random: objectWith(['next', 'bytes'], 'a source of random numbers with next() and bytes()'),
  passwordCost,
  passwordsWaiting: wholeNumber(0, HIGHEST_WAITING),
  eventsFile: path,
  eventTypes: listOf(namespaceProblem),
  cluster: flag,
  console: path,
  churnLimit: wholeNumber(0, YEAR),
  dialRouters: flag,
  sessionLifetime: wholeNumber(1, YEAR),
  enrollmentLifetime: wholeNumber(1, YEAR),
  linkVersion: version,
};

/** Throws OptionError. */
export function checkSimulatorOptions(options: unknown): void {
  checkOptions('startSimulator', options, OPTION_CHECKS);
  const problem = combinationProblem(options as SimulatorOptions);
  if (problem !== undefined) throw new OptionError(`startSimulator: ${problem}`);
}

/** Options that say nothing without another one. */
export function combinationProblem({ eventsFile, eventTypes = [] }: SimulatorOptions): string | undefined {
  if (eventsFile !== undefined || eventTypes.length === 0) return undefined;
  return 'types of events choose what goes to a file; name the file too (eventsFile, --events-file; - is the standard output)';
}
