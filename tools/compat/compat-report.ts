// The record of comparisons with the reference, `docs/reference/compat.json`, and the page that follows from it.

import type { CliCounts, DifferentialCounts, SuiteCounts, TrialRow } from './compat-results.ts';

/** When a result was produced, and the commit of this project that was tested. */
export interface Origin {
  readonly date: string;
  readonly commit: string;
}

export interface CompatEntry {
  readonly release: string;
  readonly suite?: Origin & SuiteCounts;
  readonly differential?: Origin & DifferentialCounts;
  readonly cli?: Origin & CliCounts;
}

/** A program of others that was tried in a network of ours. Without a commit, it was tried by hand. */
export interface Trial extends TrialRow {
  readonly date: string;
  readonly commit?: string;
}

/** The content of `compat.json`. */
export interface CompatRecord {
  readonly comparisons: readonly CompatEntry[];
  readonly trials: readonly Trial[];
}

/** Replaces the given parts of the entry of a release, or adds the entry. The newest release comes first. */
export function withEntry(entries: readonly CompatEntry[], update: CompatEntry): CompatEntry[] {
  const before = entries.find(({ release }) => release === update.release);
  const others = entries.filter((entry) => entry !== before);
  return [...others, { ...before, ...update }].sort((a, b) =>
    b.release.localeCompare(a.release, 'en', { numeric: true }),
  );
}

/**
 * Adds rows, or replaces those of the same program and release. Rows of trials by hand stay beside those of the script.
 * Programs are in the order of `PROGRAMS`, the newest release of each first.
 */
export function withTrials(trials: readonly Trial[], added: readonly Trial[]): Trial[] {
  const keyOf = ({ program, release, commit }: Trial) => `${program} ${release} ${commit === undefined}`;
  const all = new Map([...trials, ...added].map((trial) => [keyOf(trial), trial]));
  return [...all.values()].sort(
    (a, b) =>
      placeOf(a) - placeOf(b) ||
      b.release.localeCompare(a.release, 'en', { numeric: true }) ||
      b.date.localeCompare(a.date, 'en'),
  );
}

/** Programs without a place come last. */
function placeOf({ program }: Trial): number {
  const place = PROGRAMS.indexOf(program);
  return place < 0 ? PROGRAMS.length : place;
}

/** The content of `docs/reference/compat.md`. */
export function compatPage({ comparisons, trials }: CompatRecord): string {
  return `${HEAD}${comparisons.map(sectionOf).join('')}${trialsOf(trials)}`;
}

/** The programs of the reference, then those of its clients. */
const PROGRAMS: readonly string[] = [
  'router',
  'controller',
  'command line',
  'Go SDK',
  'C SDK',
  'ziti-edge-tunnel',
  'JVM SDK',
  'zrok',
];

const HEAD = `# Compatibility with the reference

Generated from \`compat.json\` by \`npm run compat\`; do not edit. [Releases and clients that were tried](#releases-and-clients-that-were-tried) are at
the end.

The simulator takes the place of the reference's controller in three comparisons, per release of the reference:

- **Its own tests**: the integration tests of the reference, with its SDK and its routers, run against the simulator. A test counts as passed only if
  all of its checks pass. Tests that use objects of the controller's process cannot pass. \`test/README.md\` of the repository
  names each test that does not pass, with the line and the reason.
- **Random requests**: a seeded generator sends the same requests to both controllers. Status, code and content of the answers are compared; wording
  within causes is not. \`test/README.md\` lists what remains.
- **Command line**: \`ziti edge\`, \`ziti fabric\` and \`ziti ops\` run against both controllers, with the examples of their help and with each
  command that a controller answers. Exit codes and printed text are compared, without ids, dates and the widths of columns.
  \`test/interop/cli/differences.ts\` lists each difference with its reason, and the commands that are left out.

[Differences on purpose](../differences.md) and \`test/README.md\` (behaviour that is not copied) explain the rest.
`;

function sectionOf({ release, suite, differential, cli }: CompatEntry): string {
  const rows: string[][] = [];
  if (suite) {
    rows.push(
      row('its own tests', suite, suite.passed, suite.tests, `${suite.inProcess} use the controller's process`),
    );
    rows.push(row('single checks within them', suite, suite.checksPassed, suite.checks, ''));
  }
  if (differential)
    rows.push(
      row('random requests', differential, differential.equal, differential.exchanges, `seed ${differential.seed}`),
    );
  if (cli) {
    const skipped = cli.examplesSkipped === 0 ? '' : `, ${cli.examplesSkipped} left out`;
    const remark = `${cli.known} differ for a listed reason; ${cli.examples} examples of the help compared${skipped}`;
    rows.push(row('commands', cli, cli.equal, cli.compared, remark));
  }
  const table = [['Comparison', 'Equal', 'Of', 'Share', 'Date', 'Commit', 'Remark'], Array(7).fill('---'), ...rows];
  return `\n## ${release}\n\n${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

function row(name: string, { date, commit }: Origin, part: number, whole: number, remark: string): string[] {
  return [name, `${part}`, `${whole}`, shareOf(part, whole), date, commit, remark];
}

/** Rounded, but 100 only if nothing is missing. */
function shareOf(part: number, whole: number): string {
  if (whole === 0) return '–';
  return part === whole ? '100 %' : `${Math.min(99.9, (100 * part) / whole).toFixed(1)} %`;
}

const TRIALS = `
## Releases and clients that were tried

\`test/interop/try-release.ts\` of the repository runs programs of the reference and of its SDKs in a network of the simulator and our
routers. \`test/README.md\` explains how to add a row. Rows without a commit were tried by hand.
“Partly” means that something works and something does not.

`;

function trialsOf(trials: readonly Trial[]): string {
  if (trials.length === 0) return '';
  const head = ['Program', 'Release', 'Verdict', 'Works', 'Does not work', 'Date', 'Commit'];
  const rows = trials.map(({ program, release, verdict, works, fails, date, commit = '' }) =>
    [program, release, verdict, listed(works), listed(fails), date, commit].map(cell),
  );
  return `${TRIALS}${[head, Array(head.length).fill('---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

function listed(items: readonly string[]): string {
  return items.join('; ');
}

/** Texts of programs can contain what ends a cell or a row. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
}
