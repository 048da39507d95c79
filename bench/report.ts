// The report of a benchmark: the content of its JSON file, and the source of tables, plots, pages and comparisons. The folders beside it
// measure; rounds.ts turns measurements into rows.

/** The first field of every results file. The number changes with the form. */
export const FORMAT = 'edgeweave-bench/2';

export type Direction = 'higher' | 'lower';

/** One unit and one direction for every value of a column. */
export interface Column {
  readonly unit: string;
  /** Which values are better. */
  readonly better: Direction;
  /** A few words for people. */
  readonly meaning: string;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Value extends Spread {
  /** Number of measurements. A single one gives no spread: all three values are equal. */
  readonly rounds: number;
  /**
   * Relative to the yardstick in the same group: the ratio of the medians, the least and the greatest ratio within one round. Absent where
   * the yardstick has no such value or zero.
   */
  readonly ratio?: Spread;
}

export interface Row {
  /** The measured work, for example `link (queue 1000, workers 10): 300 TLS dials`. */
  readonly group: string;
  /** The program or queue that does it. */
  readonly subject: string;
  readonly values: Readonly<Record<string, Value>>;
  /** Its place in a plot of lines: which line, and where on the x axis. */
  readonly point?: Point;
}

export interface Point {
  readonly series: string;
  readonly x: number;
}

/** A plot of one column. Bars show every row that has the column; lines those that have a point as well. */
export interface Plot {
  readonly name: string;
  readonly title: string;
  readonly column: string;
  /** The title of the x axis of lines; bars without one. */
  readonly x?: string;
}

/** Where, when and how it was measured. */
export interface RunFacts {
  /** ISO 8601, of the start. */
  readonly date: string;
  /** The git hash; null outside of a checkout. */
  readonly commit: string | null;
  /** Whether files differed from that commit. */
  readonly dirty: boolean;
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly platform: string;
  /** Rounds of most groups; each value has its own. */
  readonly rounds: number;
  /** Made to see that the benchmark works: no figures to rely on. */
  readonly quick: boolean;
}

/** The outcome of a benchmark. */
export interface Findings {
  readonly name: string;
  readonly title: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** The subject that all others of a group are compared with. */
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
  /** Folder of another checkout of this project. */
  readonly beside?: string | undefined;
  /** Only groups whose name contains this. */
  readonly only?: string | undefined;
}

export interface Benchmark {
  /** The groups that it would measure, `only` aside. Throws UsageError or an Error for options that cannot be used. */
  groups(options: BenchmarkOptions): string[];
  measure(options: BenchmarkOptions, progress: (text: string) => void): Promise<Findings>;
}

/** Arguments that cannot be used: exit code 2. */
export class UsageError extends Error {}

export function isWanted(group: string, { only = '' }: BenchmarkOptions): boolean {
  return group.toLowerCase().includes(only.toLowerCase());
}

/** Rows that have the same columns stand below one head. */
export interface Section {
  readonly columns: readonly string[];
  readonly groups: readonly { readonly group: string; readonly rows: readonly Row[] }[];
}

export function sectionsOf({ columns, rows }: Pick<Report, 'columns' | 'rows'>): Section[] {
  const sections = new Map<string, { columns: string[]; groups: Map<string, Row[]> }>();
  for (const [group, members] of Map.groupBy(rows, (row) => row.group)) {
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
