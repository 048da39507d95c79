// Feeds a target with broken inputs and judges the results. An input may be rejected with an error that the target
// declares, in time, and without leaving memory behind. Everything else is a finding, which the seed and the input
// reproduce.

import { getHeapStatistics } from 'node:v8';
import { type Random, seededRandom } from '#lib/random.ts';
import { holdings } from '../support/hostile/leftovers.ts';
import { mutated } from './mutate.ts';

/**
 * Milliseconds of processor time for one input, in the fastest of several tries: garbage collections run in between.
 */
export const MAX_INPUT_TIME_MS = 50;
const TRIES = 4;
/** Bytes that a run may leave behind. The first part of a run does not count, because caches fill. */
export const MAX_GROWTH_BYTES = 16 * 1024 * 1024;
const WARM_UP = 0.3;
/** Inputs between checks of the clock. */
const BATCH = 50;
/** Findings after which a target stops. */
const MAX_FINDINGS = 3;

/** Bytes of a repetitive input, as a part of those of a long one. */
const LONG = 64 * 1024;
const TIMES = 4;
/** Milliseconds for the short one below which its growth is not judged: too little to measure. */
const MIN_JUDGED = 3;
/** The long one may take so many times as long, with a garbage collection; sixteen times shows a square. */
const MAX_RATIO = 9;
/** Bytes of a repeated piece. */
const MAX_PIECE_LENGTH = 24;
/** As MIN_JUDGED, in bytes that a short input allocates. */
const MIN_ALLOCATED_BYTES = 1024 * 1024;
/** Default limits for a KiB of input: milliseconds of processor time, and bytes allocated on V8's heap. */
const DEFAULT_COST: Cost = { milliseconds: 1, bytes: 1024 * 1024 };
/** Limits for an input of any length, added to those of its KiB. */
const FREE: Cost = { milliseconds: 10, bytes: 2 * 1024 * 1024 };

/** The work of an input, or the limit on it. */
export interface Cost {
  readonly milliseconds: number;
  readonly bytes: number;
}

export interface FuzzTarget {
  readonly name: string;
  /** Valid inputs, and some invalid ones. */
  readonly seeds: readonly Buffer[];
  /** Size of the largest input in bytes, where another limit precedes the target; 256 KiB by default. */
  readonly longest?: number;
  /** Milliseconds of processor time for an input, where latency does not matter; MAX_INPUT_TIME_MS by default. */
  readonly slowest?: number;
  /** Limits for a KiB, above the default ones. */
  readonly costOfKib?: Partial<Cost>;
  /** Makers of inputs of a length that the repetition of a piece does not make. */
  readonly growing?: Readonly<Record<string, (length: number) => Buffer>>;
  /** Processes an input. Throws if it is rejected. */
  run(input: Buffer): unknown;
  /** Whether the target rejects inputs with this error. */
  rejects(error: unknown): boolean;
}

export interface Finding {
  readonly kind: 'crash' | 'hang' | 'growth' | 'amplification';
  readonly what: string;
  /** Empty for memory growth. */
  readonly input: Buffer;
}

export interface FuzzReport {
  readonly target: string;
  readonly inputs: number;
  readonly rejected: number;
  /** Processor time of the slowest input in milliseconds. */
  readonly slowest: number;
  /** Bytes. */
  readonly growth: number;
  readonly findings: readonly Finding[];
}

export interface FuzzOptions {
  readonly seed: number;
  /** The run ends at the first of both limits. */
  readonly seconds?: number;
  readonly inputs?: number;
}

export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzReport> {
  const { seed, seconds = Number.POSITIVE_INFINITY, inputs: max = Number.POSITIVE_INFINITY } = options;
  const random = seededRandom(seed);
  const begun = performance.now();
  const findings: Finding[] = [];
  let [inputs, rejected, slowest] = [0, 0, 0];
  let before: number | undefined;
  const limit = target.slowest ?? MAX_INPUT_TIME_MS;
  const share = () => Math.max(inputs / max, (performance.now() - begun) / (seconds * 1_000));
  while (share() < 1 && findings.length < MAX_FINDINGS) {
    for (let left = Math.min(BATCH, max - inputs); left > 0 && findings.length < MAX_FINDINGS; left--) {
      const input = mutated(target.seeds, random).subarray(0, target.longest);
      inputs++;
      const { error, milliseconds } = await attempt(target, input);
      const isRejection = error !== undefined && target.rejects(error);
      if (isRejection) rejected++;
      else if (error !== undefined)
        findings.push({ kind: 'crash', what: String((error as Error)?.stack ?? error), input });
      slowest = Math.max(slowest, milliseconds);
      if (milliseconds > limit) findings.push({ kind: 'hang', what: `${Math.round(milliseconds)} ms`, input });
    }
    if (before === undefined && share() > WARM_UP) before = holdings().memory;
  }
  const growth = before === undefined ? 0 : await growthSince(before);
  if (growth > MAX_GROWTH_BYTES) findings.push({ kind: 'growth', what: `${growth} bytes`, input: Buffer.alloc(0) });
  return { target: target.name, inputs, rejected, slowest, growth, findings };
}

/**
 * Feeds a target with inputs that repeat a piece many times, and with those of `growing`: what they cost is bounded for
 * each KiB, and grows with their length, not with its square. Random mutations rarely repeat the one piece that does.
 */
export async function amplify(target: FuzzTarget, { seed, inputs: max = 0 }: FuzzOptions): Promise<FuzzReport> {
  const random = seededRandom(seed);
  const findings: Finding[] = [];
  let [inputs, rejected, slowest] = [0, 0, 0];
  const longest = Math.min(LONG, target.longest ?? LONG);
  for (const [name, make] of Object.entries(target.growing ?? {})) await judge(`${name}: `, make, LONG);
  for (let index = 0; index < max; index++) await judge('', repetition(target.seeds, random), longest);
  return { target: target.name, inputs, rejected, slowest, growth: 0, findings };

  async function judge(name: string, make: (length: number) => Buffer, length: number): Promise<void> {
    if (findings.length >= MAX_FINDINGS) return;
    inputs++;
    const [less, more] = [make(length / TIMES), make(length)];
    let [short, long]: [Attempt, Cost] = [await run(target, less), NOTHING];
    if (short.error !== undefined) rejected++;
    // Most are cheap. Those of `growing` are judged anyway: one limit is for their length.
    if (name === '' && short.milliseconds < MIN_JUDGED && short.bytes < MIN_ALLOCATED_BYTES) return;
    let what: string | undefined;
    // Repeats what looks expensive: other work may have interfered, and code is slower before it is compiled.
    for (let tries = 0; tries < TRIES && (tries === 0 || what !== undefined); tries++) {
      if (short.milliseconds >= MIN_JUDGED) short = min(short, await run(target, less));
      long = min(long, await run(target, more));
      what = excess(short, long, { ...DEFAULT_COST, ...target.costOfKib }, more.length / 1024);
    }
    slowest = Math.max(slowest, long.milliseconds);
    if (what !== undefined) findings.push({ kind: 'amplification', what: `${name}${what}`, input: more });
  }
}

const NOTHING: Cost = { milliseconds: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

function min<T extends Cost>(one: T, other: Cost): T {
  const milliseconds = Math.min(one.milliseconds, other.milliseconds);
  return { ...one, milliseconds, bytes: Math.min(one.bytes, other.bytes) };
}

/** Why inputs cost too much, a short one and one of TIMES its length; undefined if they do not. */
function excess(short: Cost, long: Cost, costOfKib: Cost, kibibytes: number): string | undefined {
  for (const [unit, min] of [
    ['milliseconds', MIN_JUDGED],
    ['bytes', MIN_ALLOCATED_BYTES],
  ] as const) {
    const [before, after] = [short[unit], long[unit]].map((each) => each.toFixed(1));
    if (short[unit] >= min && long[unit] > MAX_RATIO * short[unit])
      return `${before} ${unit}, and ${after} ${unit} for ${TIMES} times the length`;
    if (long[unit] > FREE[unit] + kibibytes * costOfKib[unit])
      return `${after} ${unit} for ${kibibytes.toFixed(0)} KiB`;
  }
  return undefined;
}

/** A seed with one of its pieces repeated, as a function of the length of the whole. */
function repetition(seeds: readonly Buffer[], random: Random): (length: number) => Buffer {
  const seed = seeds[Math.floor(random.next() * seeds.length)] ?? Buffer.alloc(0);
  const from = Math.floor(random.next() * seed.length);
  const to = Math.min(seed.length, from + 1 + Math.floor(random.next() * MAX_PIECE_LENGTH));
  const piece = from < to ? seed.subarray(from, to) : Buffer.from('x');
  const hasEnd = random.next() < 0.5;
  return (length) => {
    const repeated = Buffer.alloc(Math.max(piece.length, length - seed.length), piece);
    return Buffer.concat([seed.subarray(0, to), repeated, hasEnd ? seed.subarray(to) : Buffer.alloc(0)]);
  };
}

/** Bytes. Finalizers release memory after a few turns of the event loop. */
async function growthSince(before: number): Promise<number> {
  let growth = holdings().memory - before;
  for (let tries = 0; tries < TRIES && growth > MAX_GROWTH_BYTES; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    growth = Math.min(growth, holdings().memory - before);
  }
  return growth;
}

/** Runs one input, and repeats a slow one: other work, such as a garbage collection, may have interfered. */
async function attempt(
  target: FuzzTarget,
  input: Buffer,
  limit: number = target.slowest ?? MAX_INPUT_TIME_MS,
): Promise<Attempt> {
  let best = await run(target, input);
  for (let tries = 1; tries < TRIES && best.milliseconds > limit; tries++) best = min(best, await run(target, input));
  return best;
}

interface Attempt extends Cost {
  /** Thrown by the target. */
  readonly error: unknown;
}

/** Processor time is that of this thread: other programs on the machine do not count. */
async function run(target: FuzzTarget, input: Buffer): Promise<Attempt> {
  const given = Buffer.from(input);
  let error: unknown;
  const allocated = getHeapStatistics().total_allocated_bytes;
  const begun = process.threadCpuUsage();
  try {
    const result = target.run(given);
    if (result instanceof Promise) await result;
  } catch (caught) {
    error = caught ?? new Error('undefined was thrown');
  }
  const { user, system } = process.threadCpuUsage(begun);
  const bytes = getHeapStatistics().total_allocated_bytes - allocated;
  return { error, milliseconds: (user + system) / 1_000, bytes };
}
