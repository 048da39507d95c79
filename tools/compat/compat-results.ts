// Reads the results of the comparisons with the reference: its own tests, random requests, its command line, other
// releases. The tools that produce the first two live outside of the project; `test/interop/cli-examples.test.ts`
// produces the third, `test/interop/try-release.ts` the fourth.

import { isMap } from '#lib/json/is-map.ts';

/** The reference's own tests, with the simulator as their controller. */
export interface SuiteCounts {
  readonly tests: number;
  readonly passed: number;
  /** Tests that end because they use objects of the controller's process. */
  readonly inProcess: number;
  readonly checks: number;
  readonly checksPassed: number;
}

/** Random requests to both controllers. */
export interface DifferentialCounts {
  readonly seed: number;
  readonly exchanges: number;
  readonly equal: number;
}

/** Commands of the reference's command line, run against both controllers. */
export interface CliCounts {
  readonly compared: number;
  readonly equal: number;
  /** Those that differ for a listed reason. */
  readonly known: number;
  readonly examples: number;
  readonly examplesSkipped: number;
}

/** `partly`: something works, and something does not. */
export type Verdict = 'works' | 'partly' | 'fails';

/** One program of others, in one role. */
export interface TrialRow {
  readonly program: string;
  readonly release: string;
  readonly verdict: Verdict;
  /** Steps that succeeded, in order. */
  readonly works: readonly string[];
  /** Steps that failed, each with its reason. */
  readonly fails: readonly string[];
}

/** A file that is not such a result. The message names the remedy. */
export class ResultError extends Error {}

interface SuiteTest {
  verdict: string;
  panic: string | null;
  passed: number;
  failed: unknown[];
}

const HEAD = /^# Differential test, seed (\d+)\s+Ours: ([0-9a-f]{7,40}) of [^.]*\. (\d+) exchanges, (\d+) equal/;
const VERDICTS: readonly Verdict[] = ['works', 'partly', 'fails'];
const CLI_KEYS = ['compared', 'equal', 'known', 'examples', 'examplesSkipped'] as const;

/** `sim.json` of the suite: a map of tests. */
export function readSuite(text: string): SuiteCounts {
  const entries = Object.values(json(text));
  const tests = entries.filter(isSuiteTest);
  if (tests.length === 0 || tests.length !== entries.length)
    throw new ResultError('it is not a map of tests with verdicts; use sim.json of a run of the suite');
  return {
    tests: tests.length,
    passed: tests.filter(({ verdict }) => verdict === 'PASS').length,
    inProcess: tests.filter(({ panic }) => panic?.includes('nil pointer')).length,
    checks: tests.reduce((sum, { passed, failed }) => sum + passed + failed.length, 0),
    checksPassed: tests.reduce((sum, { passed }) => sum + passed, 0),
  };
}

/** The Markdown report of the differential test. It names the commit that was tested. */
export function readDifferential(text: string): DifferentialCounts & { commit: string } {
  const [, seed, commit = '', exchanges, equal] = HEAD.exec(text) ?? [];
  if (commit === '')
    throw new ResultError('its head has no seed, commit and counts; use the Markdown report of the differential test');
  return { seed: Number(seed), exchanges: Number(exchanges), equal: Number(equal), commit };
}

/** The file that `test/interop/cli-examples.test.ts` writes. */
export function readCli(text: string): CliCounts & { release: string } {
  const found = json(text);
  const missing = CLI_KEYS.find((key) => !Number.isInteger(found[key]));
  if (missing !== undefined || typeof found.release !== 'string')
    throw new ResultError(
      `it has no ${missing ?? 'release'}; run test/interop/cli-examples.test.ts with CLI_RESULT=FILE and ZITI_BIN, and use that file`,
    );
  const { release, compared, equal, known, examples, examplesSkipped } = found as unknown as ReturnType<typeof readCli>;
  return { release, compared, equal, known, examples, examplesSkipped };
}

/** The rows that `test/interop/try-release.ts` prints. */
export function readTrials(text: string): TrialRow[] {
  const found = parsed(text);
  if (!Array.isArray(found) || found.length === 0 || !found.every(isTrialRow))
    throw new ResultError('it is not a list of rows; use the output of test/interop/try-release.ts, unchanged');
  return found.map(({ program, release, verdict, works, fails }) => ({ program, release, verdict, works, fails }));
}

function isTrialRow(value: unknown): value is TrialRow {
  const { program, release, verdict, works, fails } = (value ?? {}) as Partial<Record<keyof TrialRow, unknown>>;
  const areTexts = (list: unknown) => Array.isArray(list) && list.every((each) => typeof each === 'string');
  const isNamed = [program, release].every((name) => typeof name === 'string' && name !== '');
  return isNamed && VERDICTS.includes(verdict as Verdict) && areTexts(works) && areTexts(fails);
}

function isSuiteTest(value: unknown): value is SuiteTest {
  const { verdict, panic, passed, failed } = (value ?? {}) as Partial<Record<keyof SuiteTest, unknown>>;
  const isPanic = panic === null || typeof panic === 'string';
  return typeof verdict === 'string' && isPanic && Number.isInteger(passed) && Array.isArray(failed);
}

function json(text: string): Record<string, unknown> {
  const value = parsed(text);
  if (isMap(value)) return value;
  throw new ResultError('it is not a JSON object; use the file that the tool wrote, unchanged');
}

/** Undefined for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
