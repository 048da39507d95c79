// What a benchmark answers, and how it is shown.

export interface Row {
  /** What is measured, for example `link (queue 1000, workers 10), tls dial`. */
  readonly group: string;
  /** Who does it. */
  readonly subject: string;
  readonly values: Readonly<Record<string, number>>;
  /** The value of the first column, relative to that of the yardstick in the same group. */
  readonly ratio: number;
}

export interface Report {
  readonly name: string;
  readonly title: string;
  /** Columns with their units. */
  readonly columns: Readonly<Record<string, string>>;
  /** The subject that all others of a group are compared with. */
  readonly yardstick: string;
  readonly rows: readonly Row[];
  /** Lines below the table. */
  readonly notes?: readonly string[];
  /** An SVG document. */
  readonly plot: string;
}

export interface BenchmarkOptions {
  readonly quick: boolean;
  /** A router configuration file. */
  readonly config: string | undefined;
  /** Folder of another checkout of this project. */
  readonly beside: string | undefined;
  /** Only groups whose name contains this. */
  readonly only: string | undefined;
  progress(text: string): void;
}

export type Benchmark = (options: BenchmarkOptions) => Promise<Report>;

/** A table for people. With the last report, the change of each ratio since then. */
export function table(report: Report, last: Report | undefined): string {
  const names = Object.keys(report.columns);
  const head = [
    '',
    ...names.map((name) => `${name} ${report.columns[name] ?? ''}`.trim()),
    `× ${report.yardstick}`,
    'last run',
  ];
  const lines: string[][] = [];
  let group = '';
  for (const row of report.rows) {
    if (row.group !== group) lines.push([row.group]);
    group = row.group;
    const before = last?.rows.find((other) => other.group === row.group && other.subject === row.subject)?.ratio;
    const change = before === undefined ? '–' : `× ${before.toFixed(2)}`;
    lines.push([
      `  ${row.subject}`,
      ...names.map((name) => (row.values[name] === undefined ? '–' : figure(row.values[name]))),
      row.ratio.toFixed(2),
      change,
    ]);
  }
  const widths = head.map((_, column) =>
    Math.max(...[head, ...lines.filter((line) => line.length > 1)].map((line) => (line[column] ?? '').length)),
  );
  const render = (line: readonly string[]) =>
    line.length === 1
      ? line[0]
      : line
          .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
          .join('  ');
  return [report.title, '', ...[head, ...lines].map(render), ...(report.notes ?? []), ''].join('\n');
}

/** Three significant digits, thousands with k and M. */
export function figure(value: number): string {
  if (value >= 999_500) return `${(value / 1e6).toPrecision(3)} M`;
  if (value >= 9_995) return `${(value / 1e3).toPrecision(3)} k`;
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
