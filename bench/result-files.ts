// Results as files: where they are kept, and reading them again. Files that are missing, broken or of other programs are refused with their
// place and what to do.

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
import { plotsOf } from './plot/plots.ts';
import { svgDocument } from './plot/svg.ts';
import { FORMAT, type Report, UsageError } from './report.ts';

/** Where figures are kept that others rely on. */
export const KEPT_RESULTS = join(import.meta.dirname, 'results');
const AGAIN = 'run the benchmark again to make one';

/** Writes the report and its plots; answers the paths. */
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

/** Makes the folder. Throws when nothing can be written into it: better before an hour of measuring than after. */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    const remedy = 'name a folder that you may write with --results DIR';
    throw new Error(`the folder of the results cannot be written: ${describeError(error)}; ${remedy}`);
  }
}

/** Throws unless the file of `option` could be written. */
export function checkWritable(option: string, file: string): void {
  try {
    if (existsSync(file) && statSync(file).isDirectory()) throw new Error('it is a folder');
    accessSync(existsSync(file) ? file : dirname(resolve(file)), constants.W_OK);
  } catch (error) {
    throw new Error(
      `${option} ${file} cannot be written: ${describeError(error)}; name a file in a folder that exists`,
    );
  }
}

export function isKeptResults(directory: string): boolean {
  const path = resolve(directory);
  return existsSync(path) && existsSync(KEPT_RESULTS)
    ? realpathSync(path) === realpathSync(KEPT_RESULTS)
    : path === KEPT_RESULTS;
}

/**
 * The reports of a results file, or of all such files in a folder; `warn` is called for other files of the folder. Throws UsageError
 * when there are no reports.
 */
export function readReports(path: string, warn: (text: string) => void = () => undefined): Report[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat)
    throw new UsageError(`there is no file or folder ${path}; ${AGAIN}: npm run bench -- queues --json ${path}`);
  if (!stat.isDirectory()) return readFile(path);
  const reports: Report[] = [];
  for (const name of readdirSync(path).toSorted()) {
    if (!name.endsWith('.json')) continue;
    try {
      reports.push(...readFile(join(path, name)));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      warn(`left out: ${error.message}`);
    }
  }
  if (reports.length === 0) throw new UsageError(`there are no results (.json) in the folder ${path}; ${AGAIN}`);
  return reports;
}

/** The last report of this name, or undefined where there is none of this form. */
export function readLast(directory: string, name: string): Report | undefined {
  try {
    return readFile(join(directory, `${name}.json`)).find((report) => report.name === name);
  } catch {
    return undefined; // the first run, or results of another version: there is nothing to compare with
  }
}

function readFile(path: string): Report[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const remedy = 'name a file that `bench --json FILE` or `--results DIR` wrote';
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

/** Why a value is not a report, or undefined. */
function problemOf(value: unknown): string | undefined {
  const { format, name, columns, rows, run, yardstick, plots, notes } = (value ?? {}) as Partial<Report>;
  if (format !== FORMAT) {
    const isOlder = typeof name === 'string' && Array.isArray(rows) && format === undefined;
    if (isOlder) return 'these results come from an older version, which kept no spread and did not say where it ran';
    return `these are not results of the benchmark in the form ${FORMAT}`;
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

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isValue(value: unknown): boolean {
  if (!isMap(value) || typeof value.rounds !== 'number') return false;
  return isSpread(value) && (value.ratio === undefined || isSpread(value.ratio));
}

function isSpread(value: unknown): boolean {
  const numbers = isMap(value) ? [value.median, value.min, value.max] : [undefined];
  return numbers.every((each) => typeof each === 'number' && Number.isFinite(each));
}
