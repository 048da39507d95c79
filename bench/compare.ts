// `bench compare A B`: compares two results. It compares only ratios to the yardstick, since machines are shared and
// noisy. A change is significant if the ranges of the rounds (least to greatest ratio) do not overlap.

import { ratioText } from './figure.ts';
import type { Column, Report, Row, RunFacts, Value } from './report.ts';
import { describeRun } from './run-facts.ts';
import { align, heading } from './table.ts';

export type Verdict = 'better' | 'worse' | 'within the spread' | 'one round, spread unknown';

export interface Change {
  readonly group: string;
  readonly subject: string;
  readonly column: string;
  /** Ratios to the yardstick. */
  readonly a: number;
  readonly b: number;
  /** `b / a`. */
  readonly change: number;
  readonly verdict: Verdict;
}

export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly yardstick: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly runs: readonly [RunFacts, RunFacts];
  readonly warnings: readonly string[];
  readonly changes: readonly Change[];
}

/** Compares the benchmarks that both have, in the order of `a`. A benchmark on one side only becomes a warning. */
export function compareAll(
  a: readonly Report[],
  b: readonly Report[],
): { comparisons: Comparison[]; warnings: string[] } {
  const [namesA, namesB] = [a, b].map((reports) => new Set(reports.map(({ name }) => name))) as [
    Set<string>,
    Set<string>,
  ];
  const comparisons = a.flatMap((each) => {
    const other = b.find(({ name }) => name === each.name);
    return other ? [compare(each, other)] : [];
  });
  const only = (names: Set<string>, others: Set<string>, which: string) =>
    [...names.difference(others)].map((name) => `${name} is only in ${which}`);
  return { comparisons, warnings: [...only(namesA, namesB, 'A'), ...only(namesB, namesA, 'B')] };
}

export function compare(a: Report, b: Report): Comparison {
  const rowsOfB = new Map(b.rows.map((row) => [keyOf(row), row]));
  const changes = a.rows
    .filter(({ subject }) => subject !== a.yardstick)
    .flatMap((row) => changesOf(row, rowsOfB.get(keyOf(row)), a.columns));
  return {
    name: a.name,
    title: a.title,
    yardstick: a.yardstick,
    columns: a.columns,
    runs: [a.run, b.run],
    warnings: warningsOf(a, b),
    changes: a.yardstick === b.yardstick ? changes : [],
  };
}

export function comparisonText({ title, yardstick, columns, runs, warnings, changes }: Comparison): string {
  const lines: string[][] = [['', 'column', 'A ×', 'B ×', 'B / A', '']];
  for (const [group, members] of Map.groupBy(changes, (change) => change.group)) {
    lines.push([group]);
    for (const { subject, column, a, b, change, verdict } of members)
      lines.push([
        `  ${subject}`,
        heading(column, columns[column] as Column),
        ratioText(a),
        ratioText(b),
        percent(change),
        verdict,
      ]);
  }
  const outside = changes.filter(({ verdict }) => verdict === 'better' || verdict === 'worse').length;
  const unknown = changes.filter(({ verdict }) => verdict.startsWith('one round')).length;
  return [
    title,
    `A: ${describeRun(runs[0])}`,
    `B: ${describeRun(runs[1])}`,
    ...warnings.map((warning) => `warning: ${warning}`),
    `Ratios to ${yardstick}. "better" and "worse": the ranges of the rounds do not overlap. ↑ higher is better, ↓ lower is better.`,
    '',
    ...align(lines, 2).map((line) => line.trimEnd()),
    '',
    `${outside} of ${changes.length} values changed beyond the spread of the rounds${unknown > 0 ? `; the spread of ${unknown} is unknown` : ''}`,
    '',
  ].join('\n');
}

function changesOf({ group, subject, values }: Row, other: Row | undefined, columns: Report['columns']): Change[] {
  return Object.keys(columns).flatMap((column) => {
    const [before, after] = [values[column], other?.values[column]];
    if (!before?.ratio || !after?.ratio || before.ratio.median === 0) return [];
    const [a, b] = [before.ratio.median, after.ratio.median];
    const verdict = verdictOf(before, after, columns[column] as Column);
    return [{ group, subject, column, a, b, change: b / a, verdict }];
  });
}

function verdictOf(before: Value, after: Value, { better }: Column): Verdict {
  if (before.rounds < 2 || after.rounds < 2 || !before.ratio || !after.ratio) return 'one round, spread unknown';
  const isAbove = after.ratio.min > before.ratio.max;
  const isBelow = after.ratio.max < before.ratio.min;
  if (!isAbove && !isBelow) return 'within the spread';
  return isAbove === (better === 'higher') ? 'better' : 'worse';
}

function warningsOf(a: Report, b: Report): string[] {
  const warnings: string[] = [];
  const facts: [what: string, of: (run: RunFacts) => unknown][] = [
    ['CPU models', ({ cpu }) => cpu],
    ['numbers of cores', ({ cores }) => cores],
    ['Node versions', ({ node }) => node],
  ];
  for (const [what, of] of facts)
    if (of(a.run) !== of(b.run))
      warnings.push(`the ${what} differ: ${of(a.run)} and ${of(b.run)}; ratios may differ for that alone`);
  const quick = [a.run.quick && 'A', b.run.quick && 'B'].filter(Boolean);
  if (quick.length > 0) warnings.push(`${quick.join(' and ')} ran with --quick: its figures are not meaningful`);
  if (a.yardstick !== b.yardstick)
    warnings.push(`the yardsticks differ (${a.yardstick} and ${b.yardstick}): nothing can be compared`);
  const rows = (report: Report) => new Set(report.rows.map(keyOf));
  const only = (one: Report, other: Report, which: string) => {
    const missing = rows(one).difference(rows(other)).size;
    if (missing > 0) warnings.push(`${missing} of ${one.rows.length} rows are only in ${which}`);
  };
  only(a, b, 'A');
  only(b, a, 'B');
  return warnings;
}

function keyOf({ group, subject }: Row): string {
  return `${group}\n${subject}`;
}

/** `+8 %`. */
function percent(change: number): string {
  const points = Math.round((change - 1) * 100);
  return `${points > 0 ? '+' : points < 0 ? '−' : '±'}${Math.abs(points)} %`;
}
