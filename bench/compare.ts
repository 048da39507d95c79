// `bench compare A B`: compares two results. It compares only ratios to the yardstick, since machines are shared and
// noisy. A change is significant if the ranges of the rounds (least to greatest ratio) do not overlap.

import { describeTaken, isDisturbed } from './disturbance.ts';
import { ratioText } from './figure.ts';
import { type Column, labelOf, type Report, type Row, type RunFacts, type Value } from './report.ts';
import { describeRun } from './run-facts.ts';
import { align, heading } from './table.ts';

export type Verdict = 'better' | 'worse' | 'within the spread' | 'one round, spread unknown';

export interface Change {
  /** With the sizes of both, if they differ. */
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
  const paired = pairsOf(a.rows, b.rows);
  const changes = a.rows
    .filter(({ subject }) => subject !== a.yardstick)
    .flatMap((row) => changesOf(row, paired.get(row), a.columns));
  return {
    name: a.name,
    title: a.title,
    yardstick: a.yardstick,
    columns: a.columns,
    runs: [a.run, b.run],
    warnings: warningsOf(a, b, paired),
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

/**
 * The row of `b` for each row of `a` with the same name and subject: the one with the same sizes, else the others in
 * the order of their sizes. So runs with other numbers of workers, and quick runs, can be compared with full ones.
 */
function pairsOf(a: readonly Row[], b: readonly Row[]): Map<Row, Row> {
  const pairs = new Map<Row, Row>();
  const byName = Map.groupBy(b, nameOf);
  for (const [name, rows] of Map.groupBy(a, nameOf)) {
    const others = new Set(byName.get(name));
    for (const row of rows) {
      const equal = others.values().find((other) => labelOf(other) === labelOf(row));
      if (!equal) continue;
      pairs.set(row, equal);
      others.delete(equal);
    }
    const left = bySize(others);
    for (const row of bySize(rows.filter((each) => !pairs.has(each)))) {
      const other = left.shift();
      if (other) pairs.set(row, other);
    }
  }
  return pairs;
}

function nameOf({ group, subject }: Row): string {
  return `${group}\n${subject}`;
}

/** By the first size that differs. */
function bySize(rows: Iterable<Row>): Row[] {
  const amounts = ({ sizes = {} }: Row) => Object.values(sizes);
  return [...rows].toSorted((a, b) => {
    const others = amounts(b);
    return amounts(a).reduce((order, amount, index) => order || amount - (others[index] ?? 0), 0);
  });
}

/** `link: TLS dials (workers 32 → 64, tasks 300)`. */
function labelOfBoth({ group, sizes = {} }: Row, { sizes: after = {} }: Row): string {
  const list = Object.entries(sizes).map(([name, amount]) => {
    const text = amount.toLocaleString('en');
    const other = after[name];
    return `${name} ${other === undefined || other === amount ? text : `${text} → ${other.toLocaleString('en')}`}`;
  });
  return list.length === 0 ? group : `${group} (${list.join(', ')})`;
}

function changesOf(row: Row, other: Row | undefined, columns: Report['columns']): Change[] {
  if (!other) return [];
  const { subject, values } = row;
  const group = labelOfBoth(row, other);
  return Object.keys(columns).flatMap((column) => {
    const [before, after] = [values[column], other.values[column]];
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

function warningsOf(a: Report, b: Report, paired: ReadonlyMap<Row, Row>): string[] {
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
  for (const [which, { run }] of Object.entries({ A: a, B: b }))
    if (run.taken && isDisturbed(run.taken)) warnings.push(`${which} was disturbed: ${describeTaken(run.taken)}`);
  const only = (rows: readonly Row[], which: string) => {
    const missing = rows.length - paired.size;
    if (missing > 0) warnings.push(`${missing} of ${rows.length} rows are only in ${which}`);
  };
  only(a.rows, 'A');
  only(b.rows, 'B');
  const resized = [...paired].filter(([one, other]) => labelOf(one) !== labelOf(other)).length;
  if (resized > 0) warnings.push(`the sizes of ${resized} rows differ: A → B`);
  return warnings;
}

/** `+8 %`. */
function percent(change: number): string {
  const points = Math.round((change - 1) * 100);
  return `${points > 0 ? '+' : points < 0 ? '−' : '±'}${Math.abs(points)} %`;
}
