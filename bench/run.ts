// `npm run bench [-- NAME…] [--json FILE] [--quick]`: runs benchmarks, prints tables, keeps the results with a plot beside them, and compares
// with the last run. Figures of different runs are only compared as ratios: machines are shared and noisy.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describeError } from '#lib/errors.ts';
import { api } from './api/api.ts';
import { data } from './data/data.ts';
import { queues } from './queues/queues.ts';
import type { Benchmark, Report } from './report.ts';
import { table } from './report.ts';

const BENCHMARKS: Readonly<Record<string, Benchmark>> = { queues, api, data };
const RESULTS = join(import.meta.dirname, 'results');

interface Options {
  json?: string;
  quick: boolean;
  results: string;
  config?: string;
  beside?: string;
  only?: string;
}

const program = new Command('bench')
  .description('measures of the data path and its queues')
  .argument('[names...]', `what to measure: ${Object.keys(BENCHMARKS).join(', ')}; everything when left out`)
  .option('--json <file>', 'also write the results there')
  .option('--results <directory>', 'where results and plots are kept', RESULTS)
  .option('--config <file>', 'router configuration whose queue lengths and worker counts are used')
  .option('--beside <directory>', 'another checkout of this project that `data` measures as well')
  .option('--only <text>', 'groups of `data` whose name contains the text')
  .option('--quick', 'fewer tasks and rounds: to see that it works, not for figures', false)
  .addHelpText('after', '\nExample:\n  npm run bench -- queues --json queues.json')
  .exitOverride()
  .action(run);

try {
  await program.parseAsync();
} catch (error) {
  const { exitCode } = error as { exitCode?: number };
  if (exitCode === undefined) process.stderr.write(`bench: ${describeError(error)}\n`);
  process.exitCode = exitCode === 0 ? 0 : exitCode === undefined ? 1 : 2;
}

async function run(names: string[], options: Options): Promise<void> {
  const unknown = names.find((name) => !(name in BENCHMARKS));
  if (unknown !== undefined)
    throw new Error(`there is no benchmark ${unknown}; there are ${Object.keys(BENCHMARKS).join(', ')}`);
  const reports: Report[] = [];
  for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const { quick, config, beside, only } = options;
    const report = await benchmark({ quick, config, beside, only, progress });
    const last = readLast(options.results, name);
    print(table(report, last));
    keep(options.results, report);
    reports.push(report);
  }
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(reports, undefined, 2)}\n`);
}

function keep(directory: string, report: Report): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${report.name}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
  writeFileSync(join(directory, `${report.name}.svg`), report.plot);
}

/** Undefined when there was none, or one of another form. */
function readLast(directory: string, name: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, `${name}.json`), 'utf8')) as Report;
  } catch {
    return undefined; // the first run has nothing to compare with
  }
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
