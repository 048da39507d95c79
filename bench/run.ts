// `npm run bench [-- NAME…]`: runs benchmarks, prints tables, keeps results and plots, and compares with the last run.
// `bench compare A B` compares two results. Exit codes: 0 done, 1 the work failed, 2 wrong usage.

import { dirname } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { tolerateClosedOutput } from '#lib/commands/closed-output.ts';
import { describeError } from '#lib/errors.ts';
import { didYouMean } from '#lib/text/suggestion.ts';
import { DurationError, parseDuration } from '#lib/time/duration.ts';
import { compareAll, comparisonText } from './compare.ts';
import { Disturbance } from './disturbance.ts';
import { htmlPage } from './html.ts';
import type { Benchmark, BenchmarkOptions, Report } from './report.ts';
import { FORMAT, isWanted, UsageError } from './report.ts';
import {
  checkWritable,
  isKeptResults,
  KEPT_RESULTS,
  keep,
  prepareDirectory,
  readLast,
  readReports,
  writeOut,
} from './result-files.ts';
import { runFacts } from './run-facts.ts';
import { table } from './table.ts';

/** Loaded when measured: they load the router and the simulator. */
const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  queues: async () => (await import('./queues/queues.ts')).queues,
  api: async () => (await import('./api/api.ts')).api,
  data: async () => (await import('./data/data.ts')).data,
  path: async () => (await import('./path/path.ts')).path,
  attack: async () => (await import('./attack/attack.ts')).attack,
  lab: async () => (await import('./lab/lab.ts')).lab,
  cluster: async () => (await import('./cluster/cluster.ts')).cluster,
};
const NAMES = Object.keys(BENCHMARKS);
/** Dials per second that one program can make. */
const MAX_RATE = 100_000;
/** The value of --json for standard output. */
const STDOUT = '-';

interface Options extends BenchmarkOptions {
  readonly json?: string;
  readonly html?: string;
  readonly results?: string;
}

const program = new Command('bench')
  .description(
    'benchmarks of queues, APIs, the data path, wide-area paths, strangers, tests with the simulator and several controllers',
  )
  .argument('[names...]', `benchmarks to run: ${NAMES.join(', ')} (default: all)`)
  .option('--quick', 'fewer tasks and rounds: a functional test, not for figures', false)
  .option('--only <text>', 'only groups whose name contains the text')
  .option('--json <file>', 'write the results as JSON; - for standard output (tables then go to standard error)')
  .option('--html <file>', 'write a page with all plots and tables')
  .option(
    '--results <directory>',
    'folder for results and plots, and for the previous ones (default: bench/results; not kept with --quick, --only or --rate)',
  )
  .option('--config <file>', 'router configuration with queue lengths and workers for `queues`')
  .option(
    '--dial-time <duration>',
    'time of a dial, for example 50ms: how many workers `queues` needs, with --rate',
    duration,
  )
  .option('--rate <number>', 'dials per second, with --dial-time', positive)
  .option('--beside <directory>', 'another checkout of this project, also measured by `data`')
  .addHelpText(
    'after',
    `
Examples:
  npm run bench -- queues --json queues.json --html queues.html
  npm run bench -- queues --dial-time 50ms --rate 400
  npm run bench -- data --only encrypted
  npm run bench -- path --only "20 ms 200 Mbit/s cubic:"
  npm -s run bench -- queues --quick --json - | jq '.[0].run'
  npm run bench -- compare before.json after.json

CPU profiles: with the key profile.cpu.path in its configuration, a router writes a CPU profile every 10
minutes and when it stops (name it NAME.cpuprofile). Open it as a flame graph in Chrome (developer tools, Performance, load
profile) or with https://www.speedscope.app. profile.memory.path (NAME.heapprofile) does the same for allocations.`,
  )
  .enablePositionalOptions()
  .exitOverride()
  .showHelpAfterError('(see --help)')
  .action(run);
program
  .command('compare')
  .description('compare two results by their ratios to the yardstick')
  .argument('<a>', 'earlier results: a JSON file or a folder of them')
  .argument('<b>', 'later results: a JSON file or a folder of them')
  .addHelpText('after', '\nExample:\n  npm run bench -- compare bench/results /tmp/results')
  .exitOverride()
  .action((a: string, b: string) => showComparison(readReports(a, warn), readReports(b, warn)));

tolerateClosedOutput();
try {
  await program.parseAsync();
} catch (error) {
  const { exitCode } = error as { exitCode?: number };
  if (exitCode === undefined) process.stderr.write(`bench: ${describeError(error)}\n`);
  process.exitCode = exitCode === undefined ? (error instanceof UsageError ? 2 : 1) : exitCode === 0 ? 0 : 2;
}

async function run(names: readonly string[], options: Options): Promise<void> {
  const chosen = await choose(names, options);
  const reason = whyNotKept(options);
  const directory = options.results ?? (reason === undefined ? KEPT_RESULTS : undefined);
  if (directory !== undefined) prepareDirectory(directory);
  if (options.json !== undefined && options.json !== STDOUT) checkWritable('--json', options.json);
  if (options.html !== undefined) checkWritable('--html', options.html);
  const printTables = options.json === STDOUT ? progress : print;
  const reports: Report[] = [];
  const kept: string[] = [];
  for (const [name, benchmark] of chosen) {
    const report = await measure(benchmark, options);
    reports.push(report);
    printTables(table(report, readLast(directory ?? KEPT_RESULTS, name)));
    if (directory !== undefined) kept.push(...keep(directory, report));
  }
  if (options.json === STDOUT) print(JSON.stringify(reports, undefined, 2));
  else if (options.json !== undefined) writeOut(options.json, `${JSON.stringify(reports, undefined, 2)}\n`);
  if (options.html !== undefined) writeOut(options.html, htmlPage(reports));
  printTables(
    kept.length > 0 ? `kept: ${kept.join(', ')}` : `the results are not kept (${reason}); --results DIR keeps them`,
  );
}

/** The option because of which the results are not those of a whole run; undefined if they are. */
function whyNotKept({ quick, only, rate }: Options): string | undefined {
  if (quick) return '--quick';
  if (only !== undefined) return '--only';
  return rate === undefined ? undefined : '--rate';
}

function duration(text: string): number {
  try {
    const value = parseDuration(text);
    if (value > 0) return value;
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
  }
  throw new InvalidArgumentError('pass a duration such as 50ms.');
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= MAX_RATE)) throw new InvalidArgumentError(`pass a number up to ${MAX_RATE}.`);
  return value;
}

/** The selected benchmarks with their groups. Invalid arguments are found before the first one starts. */
async function choose(names: readonly string[], options: Options): Promise<[string, Benchmark][]> {
  const chosen = NAMES.filter((name) => names.length === 0 || names.includes(name));
  checkNames(names);
  checkOptions(chosen, options);
  const loaded = await Promise.all(
    chosen.map(async (name) => [name, await BENCHMARKS[name]?.()] as [string, Benchmark]),
  );
  const all = loaded.flatMap(([name, benchmark]) => benchmark.groups(options).map((group) => ({ name, group })));
  const wanted = new Set(all.filter(({ group }) => isWanted(group, options)).map(({ name }) => name));
  if (wanted.size === 0) {
    const list = all.map(({ name, group }) => `\n  ${name}: ${group}`).join('');
    throw new UsageError(`no group contains "${options.only}" (--only); the groups are:${list}`);
  }
  return loaded.filter(([name]) => wanted.has(name));
}

function checkNames(names: readonly string[]): void {
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown === undefined) return;
  const meant = didYouMean(unknown, [...NAMES, 'compare']);
  throw new UsageError(`unknown benchmark ${unknown}; ${meant || `known are ${NAMES.join(', ')}`}`);
}

function checkOptions(chosen: readonly string[], options: Options): void {
  const { quick, results, json, html, config, beside, dialTime, rate } = options;
  const needs = [
    ['--config', config, 'queues'],
    ['--dial-time', dialTime, 'queues'],
    ['--rate', rate, 'queues'],
    ['--beside', beside, 'data'],
  ] as const;
  for (const [flag, value, name] of needs)
    if (value !== undefined && !chosen.includes(name))
      throw new UsageError(`${flag} applies to \`${name}\`, which is not selected; add ${name}, or omit ${flag}`);
  if ((dialTime === undefined) !== (rate === undefined))
    throw new UsageError('--dial-time and --rate belong together: pass both, for example --dial-time 50ms --rate 400');
  if (!quick) return;
  const folders = { '--results': results, '--json': json && dirname(json), '--html': html && dirname(html) };
  for (const [flag, folder] of Object.entries(folders))
    if (folder !== undefined && isKeptResults(folder))
      throw new UsageError(`--quick results must not be kept in ${folder}; pass another folder with ${flag}`);
}

async function measure(benchmark: Benchmark, options: Options): Promise<Report> {
  const facts = runFacts(options.quick, new Date());
  const { result, taken } = await new Disturbance().observed(() => benchmark.measure(options, progress));
  const { rounds, ...findings } = result;
  const { name, title, columns, yardstick, rows, notes, plots } = findings;
  const run = { ...facts, rounds, taken };
  return { format: FORMAT, name, title, run, columns, yardstick, plots, rows, notes };
}

function showComparison(a: readonly Report[], b: readonly Report[]): void {
  const { comparisons, warnings } = compareAll(a, b);
  for (const warning of warnings) warn(warning);
  if (comparisons.length === 0)
    throw new UsageError('A and B have no benchmark in common; compare results of the same one');
  for (const comparison of comparisons) print(comparisonText(comparison));
}

function warn(text: string): void {
  print(`warning: ${text}`);
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
