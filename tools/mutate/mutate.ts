// `npm run mutate -- [ROOM] [--seed N] [--count N]`: changes single places of the sources, and prints the changes that
// no test notices. It works on a copy, so that an interrupted run leaves nothing behind in the sources. Each mutant
// runs the test files that probably execute it until one fails.

import { spawn } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../common/lib/random.ts';
import { print, ROOT } from '../commands.ts';
import { type Mutant, mutantsOf, mutated } from './mutants.ts';
import { ImportGraph, TestWords } from './nearest-tests.ts';

const ROOMS = '{agent,common,controller-sim}';
const LEFT_OUT = ['.git', '.tap', 'build', 'node_modules'];
/** Test files of one mutant: by imports, and further ones by common words. Others test something else. */
const MAX_NEAREST = 6;
const MAX_ALIKE = 6;
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
/** Test files that ran without a mutant, and whether they passed. */
const baseline = new Map<string, Promise<boolean>>();
const survivors: string[] = [];
for (let done = 0; done < count; ) {
  const file = files[Math.floor(random.next() * files.length)] ?? '';
  const text = readFileSync(join(copy, file), 'utf8');
  const mutants = mutantsOf(text);
  const mutant = mutants[Math.floor(random.next() * mutants.length)];
  if (!mutant) continue;
  done++;
  const what = `${file}:${mutant.line} ${mutant.from} → ${mutant.to || 'nothing'}`;
  const killer = await killerOf(file, text, mutant);
  print(`${done} ${killer === undefined ? 'SURVIVED' : 'killed'} ${what}${killer === undefined ? '' : ` (${killer})`}`);
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

/** The first test file that fails. Files that fail without the mutant say nothing. */
async function killerOf(file: string, text: string, mutant: Mutant): Promise<string | undefined> {
  const alike = words.testsOf({ file, text, line: mutant.line }, MAX_ALIKE);
  for (const test of new Set([...graph.testsOf(file, MAX_NEAREST), ...alike])) {
    const known = baseline.get(test) ?? passes(test);
    baseline.set(test, known);
    if (!(await known)) continue;
    writeFileSync(join(copy, file), mutated(text, mutant));
    try {
      if (!(await passes(test))) return test;
    } finally {
      writeFileSync(join(copy, file), text);
    }
  }
  return undefined;
}

/** Runs one test file in a process group of its own, which ends as a whole. */
function passes(test: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', join(copy, 'tools/testing/test-end.mjs'), test], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      env: { ...process.env, EDGEWEAVE_EXIT_WITH_PARENT: String(process.pid) },
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
