// Summarizes tap's report for people who read plain text: in a CI log, in a pipe, in a file.

import type { FileResult } from './test-runner.ts';

export interface Failure {
  /** File, tests and the message of the assertion, from the outside in. */
  readonly path: readonly string[];
  /** The difference, the place and the stack, as tap writes them; shortened if long. */
  readonly detail: readonly string[];
}

const INDENT = 4;
/** Lines of detail for one failure: a comparison of long texts must not hide other failures. */
const MAX_DETAIL_LENGTH = 60;
/** Characters of one line. */
const MAX_LINE_LENGTH = 400;
const POINT = /^( *)(ok|not ok) \d+(?: - (.*?))?(?: # (.*))?$/;
const SUBTEST = /^( *)# Subtest: (.*)$/;

/** The failed assertions of a report. A test or file that failed itself (a timeout, a crash) counts as one. */
export function failuresIn(report: string): Failure[] {
  const lines = report.split('\n');
  const found: Failure[] = [];
  const path: string[] = [];
  for (const [index, line] of lines.entries()) {
    const subtest = SUBTEST.exec(line);
    if (subtest) {
      path.length = depthOf(subtest[1]);
      path.push(subtest[2] ?? '');
    }
    const point = POINT.exec(line);
    if (point?.[2] !== 'not ok') continue;
    const outer = path.slice(0, depthOf(point[1]));
    const own = [...outer, point[3] ?? ''];
    // Skips the parents of failures that are already listed.
    if (found.some((failure) => own.every((name, at) => failure.path[at] === name))) continue;
    found.push({ path: own, detail: detailAfter(lines, index) });
  }
  return found;
}

/** One line for a completed file. */
export function progressOf({ file, isOk, milliseconds }: FileResult): string {
  return `${(isOk ? 'ok' : 'not ok').padEnd(6)} ${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${file}`;
}

/** A skipped test, with its reason, if it gives one. */
const SKIPPED = /^ {4}ok \d+ .*# SKIP(?! filter: ) ?(.*)$/gm;

/**
 * The numbers of skipped tests by reason: missing requirements. Tests that `--grep` excludes are not meant to run.
 */
export function skippedIn(report: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, reason = ''] of report.matchAll(SKIPPED)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

/**
 * A file is a point of the report; its tests are one level below. A file that fails itself counts as one failed test;
 * tests that `--grep` excludes do not count.
 */
export function countIn(report: string): { passed: number; failed: number; skipped: number } {
  let [passed, failed, failedInFile] = [0, 0, 0];
  for (const [, indent, state] of report.matchAll(/^( {4})?(ok|not ok) \d+ (?!.*# SKIP )/gm)) {
    if (indent !== undefined) {
      if (state === 'ok') passed++;
      else failedInFile++;
      continue;
    }
    failed += state === 'ok' ? failedInFile : Math.max(1, failedInFile);
    failedInFile = 0;
  }
  return { passed, failed, skipped: [...report.matchAll(SKIPPED)].length };
}

function depthOf(spaces = ''): number {
  return spaces.length / INDENT;
}

/** The block between `---` and `...` below a point, without its indentation and without the quoted source. */
function detailAfter(lines: readonly string[], index: number): string[] {
  const start = lines[index + 1] ?? '';
  if (start.trim() !== '---') return [];
  const spaces = start.length - start.trimStart().length;
  const end = lines.findIndex((line, at) => at > index && line === `${' '.repeat(spaces)}...`);
  const block = lines.slice(index + 2, end < 0 ? undefined : end).map((line) => line.slice(spaces));
  const source = block.findIndex((line) => line.startsWith('source:'));
  const after = block.findIndex((line, at) => at > source && /^\S/.test(line));
  const kept = (source < 0 ? block : [...block.slice(0, source), ...(after < 0 ? [] : block.slice(after))]).map(cut);
  return kept.length <= MAX_DETAIL_LENGTH ? kept : [...kept.slice(0, MAX_DETAIL_LENGTH), `(${kept.length} lines)`];
}

function cut(line: string): string {
  return line.length <= MAX_LINE_LENGTH ? line : `${line.slice(0, MAX_LINE_LENGTH)} (${line.length} characters)`;
}
