// Tables, plots, pages and comparisons of synthetic reports, without measurements.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compare, compareAll, comparisonText } from './compare.ts';
import { figure, ratioText } from './figure.ts';
import { htmlPage } from './html.ts';
import { logAxis, tickLabel, ticksOf } from './plot/axis.ts';
import { plotsOf } from './plot/plots.ts';
import { type Drawing, FONT_SIZE, svgDocument, textWidth } from './plot/svg.ts';
import { type Column, FORMAT, isWanted, type Report, type Row, sectionsOf } from './report.ts';
import { KEPT_RESULTS, keep, readLast, readReports } from './result-files.ts';
import { spreadOf, toRows, type Values } from './rounds.ts';
import { describeRun, runFacts } from './run-facts.ts';
import { table } from './table.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  rate: { unit: '/s', better: 'higher', meaning: 'how many in a second' },
  p99: { unit: 'ms', better: 'lower', meaning: 'how long' },
  memory: { unit: 'MiB', better: 'lower', meaning: 'how much' },
};
const RUN = {
  date: '2026-01-02T03:04:05.678Z',
  commit: '0123456789abcdef',
  dirty: false,
  cpu: 'Model X',
  cores: 4,
  node: 'v26.1.0',
  platform: 'linux 6.1 x64',
  rounds: 3,
  quick: false,
};

function measured(subjects: Readonly<Record<string, readonly Values[]>>): Map<string, readonly Values[]> {
  return new Map(Object.entries(subjects));
}

/** Three rounds around the given rate. */
function rounds(rate: number, p99: number): Values[] {
  return [0.9, 1, 1.1].map((factor) => ({ rate: rate * factor, p99: p99 * factor }));
}

function reportOf(rows: readonly Row[], changes: Partial<Report> = {}): Report {
  return {
    format: FORMAT,
    name: 'things',
    title: 'Things',
    run: RUN,
    columns: COLUMNS,
    yardstick: 'bare',
    rows,
    notes: [],
    plots: [
      { name: 'rate', title: 'how many', column: 'rate' },
      { name: 'p99', title: 'how long', column: 'p99' },
      { name: 'by-size', title: 'by size', column: 'rate', x: 'identities' },
    ],
    ...changes,
  };
}

const SMALL = reportOf([
  ...toRows('one', measured({ bare: rounds(1000, 2), ours: rounds(500, 4) }), 'bare'),
  ...toRows('resident', measured({ bare: [{ memory: 50 }], ours: [{ memory: 100 }] }), 'bare'),
]);

t.test('a value has median, minimum, maximum and rounds, and the ratio within the rounds', async (t) => {
  const [bare, ours] = toRows(
    'g',
    measured({ bare: [{ rate: 10 }, { rate: 20 }, { rate: 40 }], ours: [{ rate: 10 }, { rate: 10 }, { rate: 10 }] }),
    'bare',
  );
  t.same(bare?.values.rate, { median: 20, min: 10, max: 40, rounds: 3, ratio: { median: 1, min: 1, max: 1 } });
  t.same(ours?.values.rate, { median: 10, min: 10, max: 10, rounds: 3, ratio: { median: 0.5, min: 0.25, max: 1 } });
});

t.test('the median of an even number of rounds is between the two in the middle', async (t) => {
  t.equal(spreadOf([4, 1, 3, 2]).median, 2.5);
  t.equal(spreadOf([3, 1, 2]).median, 2);
  t.equal(spreadOf([]).median, 0);
});

t.test('a yardstick of zero has no ratio', async (t) => {
  const [, ours] = toRows('g', measured({ bare: [{ refused: 0 }], ours: [{ refused: 7 }] }), 'bare');
  t.same(ours?.values.refused, { median: 7, min: 7, max: 7, rounds: 1 });
});

t.test('the facts of a run name date, commit, machine and Node', async (t) => {
  const facts = { ...runFacts(true, new Date(0)), rounds: 1 };
  t.equal(facts.date, '1970-01-01T00:00:00.000Z');
  t.ok(facts.commit === null || /^[0-9a-f]{40}$/.test(facts.commit));
  t.equal(facts.node, process.version);
  t.ok(facts.cores >= 1 && facts.cpu !== '' && facts.platform.includes(process.arch));
  t.match(describeRun({ ...facts, commit: 'f'.repeat(40), dirty: true }), /commit f{12} \(dirty\).* 1 round \(--quick/);
});

t.test('outside a checkout the commit is null, even within another repository', async (t) => {
  const folder = t.testdir({ inner: {} });
  t.match(runFacts(false, new Date(0), join(folder, 'inner')), { commit: null, dirty: false });
});

t.test(
  'a table has one unit and direction per column, and separate sections for groups with other columns',
  async (t) => {
    const text = table(SMALL, undefined);
    t.match(text, /2026-01-02T03:04:05\.678Z · commit 0123456789ab · Model X, 4 cores · Node v26\.1\.0 .* · 3 rounds/);
    t.match(text, /^ +rate \/s ↑ +× +p99 ms ↓ +×$/m);
    t.match(text, /^ +ours +500 +0\.50 +4 +2\.00$/m);
    t.match(text, /^ +memory MiB ↓ +×$/m);
    t.match(text, /^ +ours +100 +2\.00$/m);
    t.match(text, /rate \/s ↑: how many in a second/);
    t.same(
      sectionsOf(SMALL).map(({ columns }) => columns),
      [['rate', 'p99'], ['memory']],
    );
  },
);

t.test('with the last run, a table also has its ratio', async (t) => {
  const last = reportOf(toRows('one', measured({ bare: rounds(1000, 2), ours: rounds(250, 4) }), 'bare'));
  const text = table(SMALL, last);
  t.match(text, /last × rate$/m);
  t.match(text, /“last ×” that of the run before\.$/m);
  t.match(text, /^ +ours +500 +0\.50 +4 +2\.00 +0\.25$/m);
  t.match(text, /^ +ours +100 +2\.00 +–$/m, 'values without a previous measurement are missing');
});

t.test('numbers have three digits', async (t) => {
  const table: [number, string][] = [
    [0, '0'],
    [0.000123, '0.000123'],
    [99.96, '100'],
    [9_994, '9994'],
    [12_345, '12.3 k'],
    [1_234_567, '1.23 M'],
  ];
  for (const [value, text] of table) t.equal(figure(value), text);
  for (const [value, text] of [
    [0.0044, '0.0044'],
    [0.5, '0.50'],
    [1, '1.00'],
    [14.38, '14.4'],
    [250, '250'],
  ] as const)
    t.equal(ratioText(value), text);
});

t.test('a change is significant if the rounds of both runs do not overlap', async (t) => {
  const group = (rate: number, p99: number) =>
    toRows(
      'one',
      new Map([
        ['bare', [1, 1, 1].map(() => ({ rate: 1000, p99: 2 }))],
        ['ours', rounds(rate, p99)],
      ]),
      'bare',
    );
  const verdicts = (rate: number, p99: number) =>
    compare(reportOf(group(500, 4)), reportOf(group(rate, p99))).changes.map(({ verdict }) => verdict);
  t.same(verdicts(510, 4.1), ['within the spread', 'within the spread']);
  t.same(verdicts(1000, 8), ['better', 'worse']);
  t.same(verdicts(250, 2), ['worse', 'better']);
  const single = toRows('one', measured({ bare: [{ rate: 2 }], ours: [{ rate: 4 }] }), 'bare');
  const [change] = compare(reportOf(single), reportOf(group(500, 4))).changes;
  t.match(change, { a: 2, b: 0.5, change: 0.25, verdict: 'one round, spread unknown' });
});

t.test('a comparison has both ratios and the change, but not the yardstick itself', async (t) => {
  const other = reportOf(toRows('one', measured({ bare: rounds(2000, 2), ours: rounds(4000, 4) }), 'bare'));
  const text = comparisonText(compare(SMALL, other));
  t.match(text, /^ +ours +rate \/s ↑ +0\.50 +2\.00 +\+300 % +better$/m);
  t.match(text, /^ +ours +p99 ms ↓ +2\.00 +2\.00 +±0 % +within the spread$/m);
  t.notMatch(text, /^ +bare/m);
  t.match(text, /1 of 2 values changed beyond the spread/);
  t.match(text, /warning: 2 of 4 rows are only in A/);
});

t.test('a comparison finds rows by name: with equal sizes, else in the order of their sizes', async (t) => {
  const rowsWith = (sizes: readonly Record<string, number>[], rate: number) =>
    reportOf(
      sizes.flatMap((each) =>
        toRows({ group: 'load', sizes: each }, measured({ bare: rounds(1000, 2), ours: rounds(rate, 2) }), 'bare'),
      ),
    );
  const full = rowsWith([{ workers: 4 }, { workers: 32 }, { workers: 128 }], 500);
  const { changes, warnings } = compare(full, rowsWith([{ workers: 32 }, { workers: 8 }], 500));
  t.same(
    [...new Set(changes.map(({ group }) => group))],
    ['load (workers 4 → 8)', 'load (workers 32)'],
    'one row of the three is left',
  );
  t.same(warnings, ['2 of 6 rows are only in A', 'the sizes of 2 rows differ: A → B']);
  t.same(compare(full, full).warnings, []);
});

t.test('a run that others disturbed is named, in facts and comparisons', async (t) => {
  const disturbed = { ...RUN, taken: { stolen: 0, others: 0.4 } };
  t.match(describeRun(disturbed), /disturbed: other machines 0 %, other programs 40 % of the processor time$/);
  t.notMatch(describeRun({ ...RUN, taken: { stolen: 0.01, others: 0.02 } }), /disturbed/);
  t.match(compare(SMALL, { ...SMALL, run: disturbed }).warnings, [/^B was disturbed: .* other programs 40 %/]);
  t.match(htmlPage([{ ...SMALL, run: disturbed }]), /Disturbance<\/dt><dd>.*40 %/);
});

t.test('a comparison warns about other machines, other versions and --quick', async (t) => {
  const other = reportOf(SMALL.rows, { run: { ...RUN, cpu: 'Model Y', cores: 8, node: 'v27.0.0', quick: true } });
  const { warnings } = compare(SMALL, other);
  t.match(warnings, [
    /CPU models differ: Model X and Model Y/,
    /cores differ: 4 and 8/,
    /Node versions differ/,
    /^B ran with --quick/,
  ]);
  t.same(compare(SMALL, SMALL).warnings, []);
  t.match(compare(SMALL, { ...SMALL, yardstick: 'other' }), { warnings: [/yardsticks differ/], changes: [] });
  t.same(compareAll([SMALL], [{ ...SMALL, name: 'others' }]), {
    comparisons: [],
    warnings: ['things is only in A', 'others is only in B'],
  });
});

t.test('results are read from files and folders as written', async (t) => {
  const folder = t.testdir({ list: {} });
  const paths = keep(folder, SMALL).map((path) => path.slice(folder.length + 1));
  t.same(paths, ['things.json', 'things-rate.svg', 'things-p99.svg']);
  t.same(readReports(join(folder, 'things.json')), [SMALL]);
  t.same(readReports(folder), [SMALL]);
  t.same(readLast(folder, 'things'), SMALL);
  t.equal(readLast(folder, 'nothing'), undefined);
  writeFileSync(join(folder, 'list', 'both.json'), JSON.stringify([SMALL, { ...SMALL, name: 'more' }]));
  t.equal(readReports(join(folder, 'list')).length, 2);
});

t.test('missing, invalid or foreign results are rejected with place and remedy', async (t) => {
  const { format: _, ...older } = SMALL;
  const folder = t.testdir({
    empty: {},
    'broken.json': '{"format": ',
    'package.json': '{"name": "x"}',
    'text.json': '"hello"',
    'none.json': '[]',
    'older.json': JSON.stringify({ ...older, plot: '<svg/>' }),
    'list.json': JSON.stringify([SMALL, 7]),
    'part.json': JSON.stringify({ ...SMALL, rows: undefined }),
    'run.json': JSON.stringify({ ...SMALL, run: {} }),
    'column.json': JSON.stringify({ ...SMALL, columns: { rate: '/s' } }),
    'row.json': JSON.stringify({ ...SMALL, rows: [{ group: 'g', subject: 's', values: { rate: 7 } }] }),
    'null.json': JSON.stringify({ ...SMALL, rows: [null] }),
  });
  const table: [string, RegExp][] = [
    ['nowhere.json', /nowhere\.json does not exist; run the benchmark/],
    ['empty', /the folder .*empty contains no results \(\.json\)/],
    ['broken.json', /broken\.json cannot be read as JSON: .*; pass a file that/],
    ['package.json', /package\.json: these are not benchmark results/],
    ['text.json', /text\.json: these are not benchmark results/],
    ['none.json', /none\.json has no results/],
    ['older.json', /older\.json: .*older version.*; run the benchmark to create one/],
    ['list.json', /list\.json, element 1: these are not benchmark results/],
    ['part.json', /part\.json: a part of the results is missing/],
    ['run.json', /run\.json: a part of the results is missing/],
    ['column.json', /column\.json: a part of the results is missing/],
    ['row.json', /row\.json: row 0 has no group/],
    ['null.json', /null\.json: row 0 has no group/],
  ];
  for (const [name, message] of table)
    t.throws(() => readReports(join(folder, name)), { message, name: 'Error' }, name);
});

t.test('other files in a folder are skipped and reported', async (t) => {
  const warnings: string[] = [];
  const folder = t.testdir({ 'a.json': '{', 'b.json': '{}', 'c.json': JSON.stringify(SMALL), 'd.svg': '<svg/>' });
  t.same(
    readReports(folder, (text) => warnings.push(text)),
    [SMALL],
  );
  t.match(warnings, [
    /^skipped: .*a\.json cannot be read as JSON/,
    /^skipped: .*b\.json: these are not benchmark results/,
  ]);
});

t.test('an axis covers its values, and its labels do not touch', async (t) => {
  const ranges: [number, number][] = [
    [1, 1],
    [3, 4],
    [0.002, 0.9],
    [12, 3_300_000],
    [0.0001, 1e9],
  ];
  for (const [low, high] of ranges) {
    const axis = logAxis([low, high, 0]);
    t.ok(axis.low <= low && axis.high >= high, `${low} to ${high}`);
    for (const length of [100, 460]) {
      const ticks = ticksOf(axis, length, textWidth);
      t.ok(ticks.length > 0);
      for (const [index, { value, label }] of ticks.entries()) {
        const next = ticks[index + 1];
        const distance = next ? (axis.at(next.value) - axis.at(value)) * length : Number.POSITIVE_INFINITY;
        t.ok(distance >= (textWidth(label) + textWidth(next?.label ?? '')) / 2, `${label} ${next?.label}`);
      }
    }
  }
});

t.test('a label has the measured number', async (t) => {
  for (const [value, label] of [
    [0.005, '0.005'],
    [200, '200'],
    [1_500, '1.5 k'],
    [2_000_000, '2 M'],
  ] as const)
    t.equal(tickLabel(value), label);
});

/** Boxes of the texts of a drawing: x, y, width, height. */
function boxesOf({ elements }: Drawing): { label: string; box: [number, number, number, number] }[] {
  const pattern = /<text x="([\d.-]+)" y="([\d.-]+)"(?: class="(\w+)")?(?: text-anchor="(\w+)")?>(.*)<\/text>/;
  return elements.flatMap((element) => {
    const [, x, y, , anchor = 'start', label = ''] = pattern.exec(element) ?? [];
    if (x === undefined) return [];
    const width = textWidth(label);
    const left = Number(x) - (anchor === 'end' ? width : anchor === 'middle' ? width / 2 : 0);
    return [{ label, box: [left, Number(y) - FONT_SIZE * 0.8, width, FONT_SIZE] as [number, number, number, number] }];
  });
}

const WIDE = reportOf(
  [1_000, 10_000, 100_000].flatMap((x) =>
    ['GET things?limit=100 with a rather long filter', 'POST things'].flatMap((series, index) =>
      toRows(
        `${series}, ${x.toLocaleString('en')} identities`,
        measured({ bare: rounds(30_000 / (index + 1), 1), 'a subject with a long name': rounds(9e6 / x, x / 50) }),
        'bare',
        { series, x },
      ),
    ),
  ),
);

t.test(
  'plots have a title, an axis with unit and direction, ticks and a legend, without overlapping text',
  async (t) => {
    const drawings = plotsOf(WIDE);
    t.same(
      drawings.map(({ name }) => name),
      ['rate', 'p99', 'by-size'],
    );
    for (const { name, drawing } of drawings) {
      const boxes = boxesOf(drawing);
      const labels = boxes.map(({ label }) => label);
      t.ok(
        labels.some((label) =>
          /^(rate \/s, higher|p99 ms, lower) is better; .*logarithmic; dot: median, line: least to greatest round$/.test(
            label,
          ),
        ),
        `${name}: axis`,
      );
      t.ok(labels.filter((label) => /^[\d.]+( [kM])?$/.test(label)).length >= 3, `${name}: ticks`);
      t.ok(labels.includes('a subject with a long name'), `${name}: subjects`);
      for (const [index, { label, box }] of boxes.entries()) {
        const [x, y, width, height] = box;
        t.ok(
          x >= 0 && y >= 0 && x + width <= drawing.width && y + height <= drawing.height,
          `${name}: ${label} is inside`,
        );
        for (const other of boxes.slice(index + 1)) {
          const [left, top, otherWidth, otherHeight] = other.box;
          const isApart = x + width <= left || left + otherWidth <= x || y + height <= top || top + otherHeight <= y;
          if (!isApart) t.fail(`${name}: "${label}" lies on "${other.label}"`);
        }
      }
    }
  },
);

t.test('lines have the size on the x axis', async (t) => {
  const lines = plotsOf(WIDE).find(({ name }) => name === 'by-size')?.drawing;
  const below = (label: string) => lines?.elements.filter((each) => each.includes(`text-anchor="middle">${label}<`));
  for (const label of ['identities', '1 k', '10 k', '100 k'])
    t.equal(below(label)?.length, 2, `${label}, in both panels`);
});

t.test('zeros, single points and columns without rows are drawn or omitted', async (t) => {
  const zero = reportOf(
    toRows('g', measured({ bare: [{ rate: 0 }], ours: [{ rate: 0 }] }), 'bare', { series: 's', x: 5 }),
  );
  t.same(
    plotsOf(zero).map(({ name }) => name),
    ['rate', 'by-size'],
  );
  for (const { drawing } of plotsOf(zero)) t.notMatch(svgDocument(drawing), /NaN|Infinity|undefined/);
});

t.test('a plot is a standalone document for light and dark schemes', async (t) => {
  const [first] = plotsOf(WIDE);
  const svg = first ? svgDocument(first.drawing) : '';
  t.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="\d/);
  t.match(svg, 'prefers-color-scheme: dark');
});

t.test('a page is self-contained, with plots, tables and facts; texts are escaped', async (t) => {
  const evil = '<script>alert("1")</script> & \'more\'';
  const rows = toRows(evil, measured({ bare: rounds(10, 1), [evil]: rounds(5, 2) }), 'bare', { series: evil, x: 3 });
  const page = htmlPage([WIDE, reportOf(rows, { title: evil, notes: [evil], run: { ...RUN, cpu: evil } })]);
  t.notMatch(page, /<script/);
  t.match(page, '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;');
  t.notMatch(page, /\b(src|href)=|@import|url\(/, 'no external resources');
  t.equal([...page.matchAll(/<svg /g)].length, 6);
  t.match(page, 'prefers-color-scheme: dark');
  for (const fact of [RUN.date, RUN.commit, 'Model X', 'v26.1.0', 'higher is better', 'p99 ms', 'lower is better'])
    t.match(page, fact);
  t.match(page, /<td>1000<small>900 – 1100<\/small><\/td>|<td>30\.0 k<small>27\.0 k – 33\.0 k<\/small><\/td>/);
});

t.test('groups are selected by a part of their name, regardless of case', async (t) => {
  t.ok(isWanted('Encrypted, 4 connections', { quick: true, only: 'encrypted' }));
  t.ok(isWanted('anything', { quick: true }));
  t.ok(isWanted({ group: 'link', sizes: { queue: 1_000 } }, { quick: true, only: 'queue 1,000' }), 'and by sizes');
  t.notOk(isWanted('circuits', { quick: true, only: 'encrypted' }));
});

t.test('a folder in place of a results file is read as a folder', async (t) => {
  const folder = t.testdir({});
  mkdirSync(join(folder, 'things.json'));
  t.throws(() => readReports(join(folder, 'things.json')), { message: /no results/ });
});

t.test('kept results are complete and not quick', async (t) => {
  const warnings: string[] = [];
  const reports = readReports(KEPT_RESULTS, (text) => warnings.push(text));
  t.same(warnings, []);
  t.same(reports.map(({ name }) => name).toSorted(), ['api', 'attack', 'data', 'path', 'queues']);
  for (const { name, run, rows } of reports) {
    t.equal(run.quick, false, name);
    t.match(run, { commit: /^[0-9a-f]{40}$/, cpu: /./, node: /^v/ }, name);
    t.ok(rows.length > 20, name);
  }
});
