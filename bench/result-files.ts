// Writes and reads results files. Missing, invalid or foreign files are rejected with their path and a remedy.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describeError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { plotsOf } from './plot/plots.ts';
import { svgDocument } from './plot/svg.ts';
import { FORMAT, type Report, UsageError } from './report.ts';

/** Folder of the published figures. */
export const KEPT_RESULTS = join(import.meta.dirname, 'results');
const AGAIN = 'run the benchmark to create one';

/** Writes the report and its plots; returns the paths. */
export function keep(directory: string, report: Report): string[] {
  const files = [
    { name: `${report.name}.json`, text: `${JSON.stringify(report, undefined, 2)}\n` },
    ...plotsOf(report).map(({ name, drawing }) => ({ name: `${report.name}-${name}.svg`, text: svgDocument(drawing) })),
  ];
  return files.map(({ name, text }) => {
    const path = join(directory, name);
    writeOut(path, text);
    return path;
  });
}

export function writeOut(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new Error(`${path} cannot be written: ${describeError(error)}`);
  }
}

/** Creates the folder. @throws if it is not writable: better before an hour of measuring than after */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    const remedy = 'pass a writable folder with --results DIR';
    throw new Error(`the folder of the results cannot be written: ${describeError(error)}; ${remedy}`);
  }
}

/** @throws unless the file of `option` is writable */
export function checkWritable(option: string, file: string): void {
  try {
    if (existsSync(file) && statSync(file).isDirectory()) throw new Error('it is a folder');
    accessSync(existsSync(file) ? file : dirname(resolve(file)), constants.W_OK);
  } catch (error) {
    throw new Error(`${option} ${file} cannot be written: ${describeError(error)}; pass a file in an existing folder`);
  }
}

export function isKeptResults(directory: string): boolean {
  const path = resolve(directory);
  return existsSync(path) && existsSync(KEPT_RESULTS)
    ? realpathSync(path) === realpathSync(KEPT_RESULTS)
    : path === KEPT_RESULTS;
}

/**
 * The reports of a results file, or of all such files in a folder; calls `warn` for other files of the folder. @throws
 * UsageError if there are no reports
 */
export function readReports(path: string, warn: (text: string) => void = () => undefined): Report[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new UsageError(`${path} does not exist; ${AGAIN}: npm run bench -- queues --json ${path}`);
  if (!stat.isDirectory()) return readFile(path);
  const reports: Report[] = [];
  for (const name of readdirSync(path).toSorted()) {
    if (!name.endsWith('.json')) continue;
    try {
      reports.push(...readFile(join(path, name)));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      warn(`skipped: ${error.message}`);
    }
  }
  if (reports.length === 0) throw new UsageError(`the folder ${path} contains no results (.json); ${AGAIN}`);
  return reports;
}

/** The last report of this name; undefined if none in this format exists. */
export function readLast(directory: string, name: string): Report | undefined {
  try {
    return readFile(join(directory, `${name}.json`)).find((report) => report.name === name);
  } catch {
    return undefined; // the first run, or results of another version: no comparison
  }
}

function readFile(path: string): Report[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const remedy = 'pass a file that `bench --json FILE` or `--results DIR` wrote';
    throw new UsageError(`${path} cannot be read as JSON: ${describeError(error)}; ${remedy}`);
  }
  const reports = Array.isArray(content) ? content : [content];
  if (reports.length === 0) throw new UsageError(`${path} has no results; ${AGAIN}`);
  for (const [index, report] of reports.entries()) {
    const problem = problemOf(report);
    const place = Array.isArray(content) ? `${path}, element ${index}` : path;
    if (problem !== undefined) throw new UsageError(`${place}: ${problem}; ${AGAIN}`);
  }
  return reports as Report[];
}

/** The reason why a value is not a report, or undefined. */
function problemOf(value: unknown): string | undefined {
  const { format, name, columns, rows, run, yardstick, plots, notes } = (value ?? {}) as Partial<Report>;
  if (format !== FORMAT) {
    const isOlder = typeof name === 'string' && Array.isArray(rows) && format === undefined;
    if (isOlder) return 'these results come from an older version, without spread and run facts';
    return `these are not benchmark results in the format ${FORMAT}`;
  }
  const isWhole = typeof name === 'string' && typeof yardstick === 'string' && isRun(run) && areColumns(columns);
  if (!isWhole || !Array.isArray(rows) || !Array.isArray(plots) || !Array.isArray(notes))
    return 'a part of the results is missing (name, run, columns, yardstick, plots, rows, notes)';
  const broken = rows.findIndex((row) => !isRow(row));
  return broken < 0 ? undefined : `row ${broken} has no group, subject or values with median, min, max and rounds`;
}

function isRun(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { date, commit, cpu, node, platform, cores, rounds } = value;
  const texts = [date, commit ?? '', cpu, node, platform];
  return texts.every((each) => typeof each === 'string') && [cores, rounds].every((each) => typeof each === 'number');
}

function areColumns(value: unknown): boolean {
  return isMap(value) && Object.values(value).every((column) => isMap(column) && typeof column.unit === 'string');
}

function isRow(value: unknown): boolean {
  if (!isMap(value) || typeof value.group !== 'string' || typeof value.subject !== 'string') return false;
  return isMap(value.values) && Object.values(value.values).every(isValue);
}

function isValue(value: unknown): boolean {
  if (!isMap(value) || typeof value.rounds !== 'number') return false;
  return isSpread(value) && (value.ratio === undefined || isSpread(value.ratio));
}

function isSpread(value: unknown): boolean {
  const numbers = isMap(value) ? [value.median, value.min, value.max] : [undefined];
  return numbers.every((each) => typeof each === 'number' && Number.isFinite(each));
}
