// The file as YAML: merge keys and aliases as in the reference, and any content that is not a configuration.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { accepted, check, MINIMAL, withMore } from '../../../test/support/config/router-config.ts';
import { loadRouterConfig } from '../load.ts';

t.test('tabs are reported once, with the remedy', async (t) => {
  const { findings } = check('v: 3\nidentity:\n\tcert: a\n\tkey: b\nctrl:\n\tendpoint: "tls:a:1"\n');
  t.match(findings, [{ code: 'CFG-YAML', line: 3, message: /indented with a tab$/, hint: /^use spaces/ }]);
  t.equal(findings.length, 1);
});

t.test('a duplicate key is named, with its path', async (t) => {
  const { findings } = withMore('forwarder:\n  linkDialQueueLength: 5\n  linkDialQueueLength: 6\nforwarder: {}');
  t.match(
    findings.filter(({ code }) => code === 'CFG-DUPLICATE-KEY'),
    [
      {
        path: 'forwarder.linkDialQueueLength',
        line: 7,
        message: 'duplicate key linkDialQueueLength; the last one wins',
      },
      { path: 'forwarder', line: 8, message: 'duplicate key forwarder; the last one wins' },
    ],
  );
});

t.test('merge keys are merged as in the reference', async (t) => {
  const common = 'common: &common {linkDialQueueLength: 11, linkDialWorkerCount: 12}';
  const table: [string, string, [number, number]][] = [
    ['below its own keys', 'forwarder:\n  linkDialQueueLength: 1\n  <<: *common', [11, 12]],
    ['above its own keys', 'forwarder:\n  <<: *common\n  linkDialQueueLength: 1', [1, 12]],
    ['in one line', 'forwarder: {<<: *common, linkDialWorkerCount: 2}', [11, 2]],
    ['the first of a list', 'forwarder: {<<: [{linkDialQueueLength: 3}, *common]}', [3, 12]],
    ['twice', 'forwarder:\n  <<: *common\n  <<: {linkDialQueueLength: 4}', [4, 12]],
    ['through another merge', 'more: &more {<<: *common}\nforwarder: {<<: *more}', [11, 12]],
  ];
  for (const [name, text, expected] of table) {
    const { linkDialQueueLength, linkDialWorkerCount } = accepted(withMore(`${common}\n${text}`)).forwarder;
    t.same([linkDialQueueLength, linkDialWorkerCount], expected, name);
  }
  const { values } = withMore(`${common}\nforwarder: {<<: *common}`);
  t.match(
    values.find(({ path }) => path === 'forwarder.linkDialQueueLength'),
    { written: 11, source: 'given' },
  );
  const wrong = withMore('common: &common\n  linkDialQueueLength: -5\nforwarder:\n  <<: *common');
  t.match(
    wrong.findings.find(({ code }) => code === 'CFG-RANGE'),
    { path: 'forwarder.linkDialQueueLength', line: 6, column: 24 },
  );
  t.match(
    withMore('ctrl: {endpoint: "tls:c:1", <<: [{bind: $NOBODY}]}').findings.find(({ path }) => path === 'ctrl.bind'),
    { hint: /^set the environment variable NOBODY; /, line: 5 },
  );
  for (const value of ['3', '[1]', '*list', ''])
    t.match(
      withMore(`list: &list [{}]\nforwarder:\n  <<: ${value}`).findings.find(({ code }) => code === 'CFG-YAML'),
      { path: 'forwarder', line: 7, message: /map or a list of maps/ },
      value,
    );
  t.match(
    withMore('forwarder: {"<<": {}}').findings.find(({ code }) => code === 'CFG-UNKNOWN-KEY'),
    { path: 'forwarder.<<' },
  );
});

t.test(
  'an alias refers to the last anchor before it; without an anchor it is an error, and many aliases cost little',
  async (t) => {
    const levels = 'x: &a {ctrl: 1s}\ny: &a {reportInterval: 7s}\nmetrics: *a\n';
    t.equal(accepted(withMore(levels)).metrics.reportInterval, 7_000);
    const missing = withMore('metrics: *nope');
    t.match(missing.findings, [{ code: 'CFG-YAML', line: 5, path: 'metrics', message: /no anchor/ }]);
    t.notOk(withMore('a: *a\n'.repeat(20_000)).ok, '6,400 of them once took 26 s: these would exceed the time limit');
  },
);

t.test('text is text, as in the reference, even if it looks like a time, a date or an exponent', async (t) => {
  for (const text of ['10:30', '12:30:45', '1:30.5', '2026-01-02', '2026-01-02T03:04:05Z', 'e1', 'E14', '.e1', '_1'])
    t.equal(accepted(withMore(`edge: {csr: {sans: {}, locality: ${text}}}`)).edge?.csr?.locality, text, text);
  const float = (text: string) =>
    accepted(withMore(`link: {dialers: [{binding: transport, healthyDialBackoff: {retryBackoffFactor: ${text}}}]}`))
      .link.dialers[0]?.healthyDialBackoff.retryBackoffFactor;
  for (const text of ['2e1', '2.e1', '2.0e+1', '.2E2', '20.0']) t.equal(float(text), 20, text);
});

t.test('a list in brackets that is not indented is rejected with a remedy', async (t) => {
  for (const list of ['[\n\ttransport\n]', '[a,\nb]', '{a: 1,\n\tb: 2}'])
    t.match(withMore(`plugins: ${list}`).findings[0], { code: 'CFG-YAML', hint: /^indent each line within brackets/ });
  t.match(withMore('plugins:\n  a: 1\n b: 2').findings[0], { code: 'CFG-YAML', hint: '' });
  t.ok(withMore('plugins: [\n  a,\n  b\n]').ok, 'the closing bracket may stand below the key');
});

t.test('any content that is not a configuration gives findings', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const file = join(directory, 'router.yml');
  const bomb = `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 12 }, (_, index) => `a${index + 1}: &a${index + 1} [${Array(10).fill(`*a${index}`).join(',')}]`).join('\n')}`;
  const table: [string, string | Buffer][] = [
    ['empty', ''],
    ['only a comment', '# nothing\n'],
    ['a list', '- v: 3\n'],
    ['a string', 'hello'],
    ['a number', '42'],
    ['invalid YAML', 'v: [3\nctrl: }'],
    ['tabs', 'v: 3\n\tctrl: {}\n'],
    ['NUL bytes', Buffer.from('v: 3\0\n')],
    ['not UTF-8', Buffer.from([0x76, 0x3a, 0xff, 0xfe, 0x0a])],
    ['a binary file', Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256))],
    ['an alias bomb', bomb],
    ['an alias to itself', 'v: 3\nctrl: &a {endpoint: *a}\n'],
    ['ten megabytes of nesting', '['.repeat(10 * 1024 * 1024)],
    ['deep nesting below the size limit', `v: 3\nctrl: ${'['.repeat(100_000)}`],
    [
      'deep maps',
      Array.from({ length: 5_000 }, (_, index) => `${' '.repeat(index)}a:`)
        .join('\n')
        .slice(0, 900_000),
    ],
    ['two documents', `${MINIMAL}---\n${MINIMAL}`],
    ['a tag', 'v: !!js/function "function(){}"\n'],
    ['keys that are prototypes', `${MINIMAL}__proto__: {polluted: true}\nconstructor: {prototype: 1}\n`],
    ['a key that is a map', '{a: 1}: 3\n'],
    ['merge keys', `${MINIMAL}forwarder:\n  <<: {linkDialQueueLength: -5}\n`],
  ];
  for (const [name, content] of table) {
    writeFileSync(file, content);
    const loaded = loadRouterConfig(file, { beforeEnrollment: true });
    t.ok(loaded.findings.length > 0, `${name}: ${JSON.stringify(loaded.findings[0])}`);
    if (!['two documents', 'keys that are prototypes'].includes(name)) t.notOk(loaded.ok, name);
  }
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
  mkdirSync(join(directory, 'folder'));
  for (const path of [join(directory, 'nowhere.yml'), join(directory, 'folder'), '/dev/null']) {
    t.match(loadRouterConfig(path), { ok: false, findings: [{ code: /CFG-(FILE|EMPTY)/ }] }, path);
  }
});

t.test('any YAML value in any place gives findings, never an exception', async (t) => {
  const value = fc
    .anything({ maxDepth: 3, withBigInt: false, withNullPrototype: false })
    .map((each) => JSON.stringify(each) ?? 'null');
  const section = fc.constantFrom(
    'v',
    'ctrl',
    'csr',
    'dialers',
    'edge',
    'forwarder',
    'healthChecks',
    'identity',
    'link',
    'listeners',
    'metrics',
    'trace',
    'transport',
    'profile',
    'web',
    'tls',
    'proxy',
    'x',
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(section, value), { maxLength: 6 }), (sections) => {
      const loaded = check(sections.map(([key, text]) => `${key}: ${text}`).join('\n'));
      return Array.isArray(loaded.findings);
    }),
    { numRuns: 400 },
  );
  t.pass('400 files');
});

t.test('a file of another program is rejected soon, however many unknown keys one of its maps has', async (t) => {
  const keys = (length: number) => Array.from({ length }, (_, index) => `  key${index}: 1\n`).join('');
  const { findings } = withMore(`link:\n${keys(20_000)}`);
  t.equal(findings.filter(({ code }) => code === 'CFG-UNKNOWN-KEY').length, 1_000);
  t.match(findings[0], { code: 'CFG-TOO-LARGE', severity: 'warning', message: /^the file has 19\d{3} more findings/ });
  t.match(withMore(`link:\n${keys(70_000)}`).findings, [{ code: 'CFG-TOO-LARGE' }]);
});

t.test('findings about a value that YAML cannot read do not quote it: it may be a password', async (t) => {
  for (const value of [
    '!hunter2!',
    '!hunter2!x',
    '!<hunter2',
    '!<hunter2>',
    '!hunter2%zz',
    '|hunter2',
    '>hunter2',
    '*hunter2',
    '!hunter2 x',
    '@hunter2',
    '%hunter2',
    '"\\hunter2"',
    '!!hunter2 [',
    '&hunter2 &x',
  ]) {
    const { findings } = withMore(`proxy: {type: http}\ntransport:\n  proxy:\n    password: ${value}`);
    t.notMatch(JSON.stringify(findings), /hunter2/, value);
  }
});
