// `npm run mutate -- [ROOM] [--seed N] [--count N]`: changes single places of the sources, and prints the changes that
// no test notices. It works on a copy, so that an interrupted run leaves nothing behind in the sources. Each mutant
// runs the test files that execute it, the nearest first, until one fails. A first run without a mutant shows what a
// file executes.

import { spawn } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../common/lib/random.ts';
import { print, ROOT } from '../commands.ts';
import { Coverage } from './coverage.ts';
import { type Mutant, mutantsOf, mutated } from './mutants.ts';
import { ImportGraph, LIMITS_TEST, TestWords } from './nearest-tests.ts';

const ROOMS = '{agent,common,controller-sim}';
const LEFT_OUT = ['.git', '.tap', 'build', 'node_modules'];
/** Candidates of one mutant: test files by imports, and others by common words. */
const MAX_NEAREST = 40;
const MAX_ALIKE = 20;
/** Test files that one mutant runs, of those that execute it. Farther ones test something else. */
const MAX_TESTS = 10;
const SHORT_CIRCUITS = new Set(['&&', '||', '??']);
/** Tests that read sources as texts. */
const READING = 'test/house/';
/** Milliseconds of one test file; a mutant that makes it hang is noticed. */
const MAX_FILE_MS = 120_000;

const USAGE = 'usage: npm run mutate -- [ROOM] [--seed N] [--count N]; a room is a folder of sources';
/** Beyond it, a number does not tell one seed from the next. */
const MAX_NUMBER = 2 ** 32 - 1;

const { room, seed, count } = readArguments();
const files = globSync(`${room.replace(/\/$/, '')}/**/*.ts`, { cwd: ROOT })
  .filter((file) => !/\.test\.ts$|\/gen\/|node_modules/.test(file))
  .toSorted();
if (files.length === 0) reject(`${room} has no sources`);

const copy = mkdtempSync(join(tmpdir(), 'edgeweave-mutate-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
// npm passes on a signal that the whole group already got: the second one must not interrupt the cleanup.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) });
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));

const graph = new ImportGraph(copy);
const words = new TestWords(copy);
const random = seededRandom(seed);
/** The coverage of each test file without a mutant; undefined for one that failed, because it proves nothing. */
const baseline = new Map<string, Coverage | undefined>();
const survivors: string[] = [];
for (let done = 0; done < count; ) {
  const file = files[Math.floor(random.next() * files.length)] ?? '';
  const text = readFileSync(join(copy, file), 'utf8');
  const mutants = mutantsOf(text);
  const mutant = mutants[Math.floor(random.next() * mutants.length)];
  if (!mutant) continue;
  done++;
  const what = `${file}:${mutant.line} ${mutant.from} → ${mutant.to || 'nothing'}`;
  const { killer, tests } = await trial(file, text, mutant);
  print(`${done} ${killer === undefined ? `SURVIVED ${what} (${tests} tests)` : `killed ${what} (${killer})`}`);
  if (killer === undefined) survivors.push(what);
}
for (const each of survivors) print(`survived: ${each}`);
print(`${count - survivors.length} killed, ${survivors.length} survived`);

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        seed: { type: 'string', default: '1' },
        count: { type: 'string', default: '20' },
        help: { type: 'boolean' },
      },
      allowPositionals: true,
    });
    if (values.help) {
      print(USAGE);
      process.exit(0);
    }
    if (positionals.length > 1) reject('name one room');
    const [room = ROOMS] = positionals;
    return { room, seed: readNumber('--seed', values.seed, 0), count: readNumber('--count', values.count, 1) };
  } catch (error) {
    return reject(error instanceof Error ? error.message : String(error));
  }
}

function readNumber(option: string, text: string, min: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= MAX_NUMBER) return number;
  return reject(`${option} ${text}: use a whole number from ${min} to ${MAX_NUMBER}`);
}

function reject(problem: string): never {
  process.stderr.write(`${problem}\n${USAGE}\n`);
  process.exit(2);
}

/** Returns the first test file that fails twice: one with a network may fail once on a busy machine. */
async function trial(file: string, text: string, mutant: Mutant): Promise<{ killer?: string; tests: number }> {
  let tests = 0;
  for (const test of candidatesOf(file, text, mutant)) {
    if (tests === MAX_TESTS) break;
    const coverage = await coverageOf(test);
    if (!coverage || !(test.startsWith(READING) || coverage.executes(file, placeOf(mutant)))) continue;
    tests++;
    writeFileSync(join(copy, file), mutated(text, mutant));
    try {
      if (!(await passes(test)) && !(await passes(test))) return { killer: test, tests };
    } finally {
      writeFileSync(join(copy, file), text);
    }
  }
  return { tests };
}

/** V8 counts an operator to its right side, which may never be executed although the operator is. */
function placeOf({ from, start }: Mutant): number {
  return SHORT_CIRCUITS.has(from) ? start - 1 : start;
}

/** The nearest by imports and the most alike in turns: either may be the test of the place. */
function candidatesOf(file: string, text: string, { line }: Mutant): Set<string> {
  const scores = words.scoresOf({ file, text, line });
  if (scores.size === 1 && scores.has(LIMITS_TEST)) return new Set([LIMITS_TEST]);
  const nearest = graph.testsOf(file, MAX_NEAREST, scores);
  const alike = [...scores.keys()].slice(0, MAX_ALIKE);
  return new Set(nearest.flatMap((test, index) => [test, ...alike.slice(index, index + 1)]).concat(alike));
}

async function coverageOf(test: string): Promise<Coverage | undefined> {
  if (!baseline.has(test)) {
    const folder = mkdtempSync(join(copy, 'coverage-'));
    const isPassed = await passes(test, { NODE_V8_COVERAGE: folder });
    baseline.set(test, isPassed ? new Coverage(folder, copy) : undefined);
    rmSync(folder, { recursive: true });
  }
  return baseline.get(test);
}

/** Runs one test file in a process group of its own, which ends as a whole. */
function passes(test: string, environment: NodeJS.ProcessEnv = {}): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', join(copy, 'tools/testing/test-end.mjs'), test], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      env: {
        ...process.env,
        ...environment,
        EDGEWEAVE_EXIT_WITH_PARENT: String(process.pid),
        TAP_TIMEOUT: String(MAX_FILE_MS / 1_000), // tap ends a file after 30 s, which is too soon on a busy machine
      },
    });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // the group has ended
      }
    };
    let hasFailed = false;
    child.stdout.setEncoding('utf8').on('data', (output: string) => {
      if (!/^ *not ok /m.test(output)) return;
      hasFailed = true;
      kill();
    });
    const timer = setTimeout(kill, MAX_FILE_MS);
    process.once('exit', kill);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      process.off('exit', kill);
      kill();
      resolve(code === 0 && !hasFailed);
    });
  });
}
