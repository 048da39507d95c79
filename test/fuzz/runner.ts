// Feeds a target with broken inputs and judges the results. An input may be rejected with an error that the target
// declares, in time, and without leaving memory behind. Everything else is a finding, which the seed and the input
// reproduce.

import { type Random, seededRandom } from '#lib/random.ts';
import { holdings } from '../support/leftovers.ts';
import { mutated } from './mutate.ts';

/**
 * Milliseconds of processor time for one input, in the fastest of several tries: garbage collections run in between.
 */
export const SLOWEST_INPUT = 50;
const TRIES = 4;
/** Bytes that a run may leave behind. The first part of a run does not count, because caches fill. */
export const MOST_GROWTH = 16 * 1024 * 1024;
const WARM_UP = 0.3;
/** Inputs between checks of the clock. */
const BATCH = 50;
/** Findings after which a target stops. */
const MOST_FINDINGS = 3;

/** Bytes of a repetitive input, as a part of those of a long one. */
const LONG = 64 * 1024;
const TIMES = 4;
/** Milliseconds for the short one below which its growth is not judged: too little to measure. */
const LEAST_JUDGED = 3;
/** The long one may take so many times as long, with a garbage collection; sixteen times shows a square. */
const MOST_RATIO = 9;
/** Bytes of a repeated piece. */
const LONGEST_PIECE = 24;

export interface FuzzTarget {
  readonly name: string;
  /** Valid inputs, and some invalid ones. */
  readonly seeds: readonly Buffer[];
  /** Size of the largest input in bytes, where another limit precedes the target; 256 KiB by default. */
  readonly longest?: number;
  /** Milliseconds of processor time for an input, where latency does not matter; SLOWEST_INPUT by default. */
  readonly slowest?: number;
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
  const { seed, seconds = Number.POSITIVE_INFINITY, inputs: most = Number.POSITIVE_INFINITY } = options;
  const random = seededRandom(seed);
  const begun = performance.now();
  const findings: Finding[] = [];
  let [inputs, rejected, slowest] = [0, 0, 0];
  let before: number | undefined;
  const limit = target.slowest ?? SLOWEST_INPUT;
  const share = () => Math.max(inputs / most, (performance.now() - begun) / (seconds * 1_000));
  while (share() < 1 && findings.length < MOST_FINDINGS) {
    for (let left = Math.min(BATCH, most - inputs); left > 0 && findings.length < MOST_FINDINGS; left--) {
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
  if (growth > MOST_GROWTH) findings.push({ kind: 'growth', what: `${growth} bytes`, input: Buffer.alloc(0) });
  return { target: target.name, inputs, rejected, slowest, growth, findings };
}

/**
 * Feeds a target with inputs that repeat a piece many times: their cost grows with their length, not with its square.
 * Random mutations rarely repeat the one piece that does.
 */
export async function amplify(target: FuzzTarget, { seed, inputs: most = 0 }: FuzzOptions): Promise<FuzzReport> {
  const random = seededRandom(seed);
  const findings: Finding[] = [];
  let [inputs, rejected, slowest] = [0, 0, 0];
  const longest = Math.min(LONG, target.longest ?? LONG);
  for (; inputs < most && findings.length < MOST_FINDINGS; inputs++) {
    const make = repetition(target.seeds, random);
    const short = await attempt(target, make(longest / TIMES), LEAST_JUDGED);
    if (short.error !== undefined) rejected++;
    if (short.milliseconds < LEAST_JUDGED) continue;
    const input = make(longest);
    const { milliseconds } = await attempt(target, input, LEAST_JUDGED);
    slowest = Math.max(slowest, milliseconds);
    if (milliseconds > MOST_RATIO * short.milliseconds)
      findings.push({
        kind: 'amplification',
        what: `${short.milliseconds.toFixed(1)} ms, and ${milliseconds.toFixed(1)} ms for ${TIMES} times the length`,
        input,
      });
  }
  return { target: target.name, inputs, rejected, slowest, growth: 0, findings };
}

/** A seed with one of its pieces repeated, as a function of the length of the whole. */
function repetition(seeds: readonly Buffer[], random: Random): (length: number) => Buffer {
  const seed = seeds[Math.floor(random.next() * seeds.length)] ?? Buffer.alloc(0);
  const from = Math.floor(random.next() * seed.length);
  const to = Math.min(seed.length, from + 1 + Math.floor(random.next() * LONGEST_PIECE));
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
  for (let tries = 0; tries < TRIES && growth > MOST_GROWTH; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    growth = Math.min(growth, holdings().memory - before);
  }
  return growth;
}

/**
 * Runs one input, and repeats a slow one, because other work may have interfered. Other programs on the machine do not
 * count.
 */
async function attempt(
  target: FuzzTarget,
  input: Buffer,
  limit: number = target.slowest ?? SLOWEST_INPUT,
): Promise<{ error: unknown; milliseconds: number }> {
  let fastest = Number.POSITIVE_INFINITY;
  let error: unknown;
  for (let tries = 0; tries < TRIES && fastest > limit; tries++) {
    const begun = process.threadCpuUsage();
    try {
      const result = target.run(Buffer.from(input));
      if (result instanceof Promise) await result;
    } catch (caught) {
      error = caught ?? new Error('undefined was thrown');
    }
    const { user, system } = process.threadCpuUsage(begun);
    fastest = Math.min(fastest, (user + system) / 1_000);
  }
  return { error, milliseconds: fastest };
}
