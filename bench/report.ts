// The report of a benchmark: the content of its JSON file, and the source of tables, plots, pages and comparisons. The
// folders beside it measure; rounds.ts converts measurements to rows.

import type { TakenShares } from './disturbance.ts';

/** The first field of every results file. The number changes with the format. */
export const FORMAT = 'edgeweave-bench/2';

export type Direction = 'higher' | 'lower';

/** One unit and one direction for every value of a column. */
export interface Column {
  readonly unit: string;
  /** Whether higher or lower values are better. */
  readonly better: Direction;
  /** A short description for people. */
  readonly meaning: string;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Value extends Spread {
  /** Number of measurements. A single one has no spread: all three values are equal. */
  readonly rounds: number;
  /**
   * Relative to the yardstick in the same group: the ratio of the medians, and the least and greatest ratio within one
   * round. Absent if the yardstick lacks the value or it is zero.
   */
  readonly ratio?: Spread;
}

/** Amounts of the measured work, for example `{ workers: 32, tasks: 300 }`. */
export type Sizes = Readonly<Record<string, number>>;

/** The measured work, for example `link: TLS dials`. Runs with other sizes measure the same work. */
export interface Work {
  readonly group: string;
  readonly sizes?: Sizes;
}

export interface Row extends Work {
  /** The measured program or queue. */
  readonly subject: string;
  readonly values: Readonly<Record<string, Value>>;
  /** Its place in a line plot: the line, and the x value. */
  readonly point?: Point;
}

export interface Point {
  readonly series: string;
  readonly x: number;
}

/** A plot of one column. Dots include every row that has the column; lines those that also have a point. */
export interface Plot {
  readonly name: string;
  readonly title: string;
  readonly column: string;
  /** Title of the x axis of lines; absent for dots. */
  readonly x?: string;
}

/** Circumstances of the measurement. */
export interface RunFacts {
  /** ISO 8601 time of the start. */
  readonly date: string;
  /** The git hash; null outside a checkout. */
  readonly commit: string | null;
  /** Whether files differed from that commit. */
  readonly dirty: boolean;
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly platform: string;
  /** Rounds of most groups; each value has its own number. */
  readonly rounds: number;
  /** Shares of the processor time that others took during the whole run; absent in older results. */
  readonly taken?: TakenShares;
  /** Made to test the benchmark: the figures are unreliable. */
  readonly quick: boolean;
}

/** The outcome of a benchmark. */
export interface Findings {
  readonly name: string;
  readonly title: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** The subject to which all others of a group are compared. */
  readonly yardstick: string;
  readonly rows: readonly Row[];
  /** Lines below the table. */
  readonly notes: readonly string[];
  readonly plots: readonly Plot[];
  /** Rounds of most groups. */
  readonly rounds: number;
}

export interface Report extends Omit<Findings, 'rounds'> {
  readonly format: typeof FORMAT;
  readonly run: RunFacts;
}

export interface BenchmarkOptions {
  readonly quick: boolean;
  /** A router configuration file. */
  readonly config?: string | undefined;
  /** Milliseconds of a dial, and dials per second, for which `queues` shows how many workers are needed. */
  readonly dialTime?: number | undefined;
  readonly rate?: number | undefined;
  /** Folder of another checkout of this project. */
  readonly beside?: string | undefined;
  /** Only groups whose name contains this text. */
  readonly only?: string | undefined;
}

export interface Benchmark {
  /**
   * The labels of the groups that it would measure, ignoring `only`. @throws UsageError or an Error for invalid options
   */
  groups(options: BenchmarkOptions): string[];
  measure(options: BenchmarkOptions, progress: (text: string) => void): Promise<Findings>;
}

/** Invalid arguments: exit code 2. */
export class UsageError extends Error {}

/** Whether the work, a part of whose label `only` is, is measured. */
export function isWanted(work: string | Work, { only = '' }: BenchmarkOptions): boolean {
  const label = typeof work === 'string' ? work : labelOf(work);
  return label.toLowerCase().includes(only.toLowerCase());
}

/** The name of a work with its sizes, for people: `link: TLS dials (workers 32, tasks 300)`. */
export function labelOf({ group, sizes = {} }: Work): string {
  const list = Object.entries(sizes).map(([name, amount]) => `${name} ${amount.toLocaleString('en')}`);
  return list.length === 0 ? group : `${group} (${list.join(', ')})`;
}

/** Rows with the same columns share a header. */
export interface Section {
  readonly columns: readonly string[];
  readonly groups: readonly { readonly group: string; readonly rows: readonly Row[] }[];
}

export function sectionsOf({ columns, rows }: Pick<Report, 'columns' | 'rows'>): Section[] {
  const sections = new Map<string, { columns: string[]; groups: Map<string, Row[]> }>();
  for (const [group, members] of Map.groupBy(rows, labelOf)) {
    const own = Object.keys(columns).filter((name) => members.some(({ values }) => values[name] !== undefined));
    const section = sections.get(own.join()) ?? { columns: own, groups: new Map() };
    sections.set(own.join(), section);
    section.groups.set(group, members);
  }
  return Array.from(sections.values(), ({ columns: own, groups }) => ({
    columns: own,
    groups: Array.from(groups, ([group, members]) => ({ group, rows: members })),
  }));
}
