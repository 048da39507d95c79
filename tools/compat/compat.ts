// `npm run compat`: takes results of comparisons with the reference into docs/reference/compat.json, and writes the
// page that follows from it.

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { print, ROOT } from '../commands.ts';
import { commitOf } from '../commit.ts';
import {
  type CompatEntry,
  type CompatRecord,
  compatPage,
  type Origin,
  type Trial,
  withEntry,
  withTrials,
} from './compat-report.ts';
import { readCli, readDifferential, readSuite, readTrials } from './compat-results.ts';

const USAGE = `Usage: npm run -s compat -- [OPTION…]

Takes results into docs/reference/compat.json and writes docs/reference/compat.md. Parts without an option stay as they are.

  --suite FILE          sim.json of the reference's own tests
  --differential FILE   report of the random requests (Markdown)
  --cli FILE            result of test/interop/cli-examples.test.ts (CLI_RESULT=FILE)
  --trials FILE         output of test/interop/try-release.ts; its rows name their releases
  --release NAME        release of the reference of the first three; the file of --cli names that of its binary
  --commit ID           commit of this project that was tested (HEAD); the file of --differential names its own
  --folder FOLDER       folder of compat.json and compat.md (docs/reference)
  --help                this text
`;
/** The version of a binary that was built without one. */
const UNNAMED = 'v0.0.0';
/** Characters of a commit's id in the record. */
const SHORT_COMMIT = 7;

const EMPTY: CompatRecord = { comparisons: [], trials: [] };

/** A wrong option or file: exit code 2. */
class UsageError extends Error {}

try {
  main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`compat: ${error.message}\n`);
  process.exitCode = 2;
}

function main(): void {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(USAGE);
    return;
  }
  const folder = options.folder ?? join(ROOT, 'docs/reference');
  const record = join(folder, 'compat.json');
  const update = updateFrom(options);
  const trials = trialsFrom(options);
  const before = read(record, (text) => JSON.parse(text) as CompatRecord, JSON.stringify(EMPTY));
  const after: CompatRecord = {
    comparisons: update ? withEntry(before.comparisons, update) : before.comparisons,
    trials: withTrials(before.trials, trials),
  };
  writeFileSync(record, `${JSON.stringify(after, null, 2)}\n`);
  writeFileSync(join(folder, 'compat.md'), compatPage(after));
  print(`${after.comparisons.length} release(s) and ${after.trials.length} trial(s) in ${join(folder, 'compat.md')}`);
}

function readOptions() {
  const text = { type: 'string' } as const;
  try {
    const results = { suite: text, differential: text, cli: text, trials: text };
    const options = { ...results, release: text, commit: text, folder: text, help: { type: 'boolean' } } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** The new parts of one release; undefined without any. */
function updateFrom({
  suite,
  differential,
  cli,
  release,
  commit,
}: ReturnType<typeof readOptions>): CompatEntry | undefined {
  if (suite === undefined && differential === undefined && cli === undefined) return undefined;
  const tested = commit ?? head();
  const entry: { -readonly [Key in keyof CompatEntry]: CompatEntry[Key] } = { release: release ?? '' };
  if (suite !== undefined) entry.suite = { ...originOf(suite, tested), ...read(suite, readSuite) };
  if (differential !== undefined) {
    const { commit: named, ...counts } = read(differential, readDifferential);
    entry.differential = { ...originOf(differential, named), ...counts };
  }
  if (cli !== undefined) {
    const { release: named, ...counts } = read(cli, readCli);
    entry.cli = { ...originOf(cli, tested), ...counts };
    if (named !== UNNAMED) entry.release ||= named;
    if (named !== UNNAMED && named !== entry.release)
      throw new UsageError(`${cli} is about release ${named}, not ${entry.release}; omit --release`);
  }
  if (entry.release === '')
    throw new UsageError(
      'the release of the reference is unknown; name it with --release, for example --release v2.0.0',
    );
  return entry;
}

function trialsFrom({ trials, commit }: ReturnType<typeof readOptions>): Trial[] {
  if (trials === undefined) return [];
  const origin = originOf(trials, commit ?? head());
  return read(trials, readTrials).map((row) => {
    if (row.release.includes(UNNAMED))
      throw new UsageError(`${trials} has a binary without a version; run it again with ZITI_RELEASE=NAME`);
    return { ...row, ...origin };
  });
}

/** A file carries the date of its last change: the end of the run. */
function originOf(file: string, commit: string): Origin {
  return { date: read(file, () => statSync(file).mtime.toISOString().slice(0, 10)), commit };
}

function head(): string {
  const commit = commitOf(ROOT);
  if (commit === undefined) throw new UsageError('this is not a checkout; name the tested commit with --commit');
  return commit.slice(0, SHORT_COMMIT);
}

/** @param missing what a missing file is read as; without it, a missing file is a mistake. */
function read<T>(file: string, parse: (text: string) => T, missing?: string): T {
  try {
    return parse(textOf(file, missing));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function textOf(file: string, missing: string | undefined): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (missing !== undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return missing;
    throw error;
  }
}
