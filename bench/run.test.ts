// The command `bench` as a user types it. Only `queues --quick` measures.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { runProgram } from '../test/support/programs/run.ts';
import { labelOf, type Report } from './report.ts';
import { readReports } from './result-files.ts';

const ROOT = dirname(import.meta.dirname);
const KEPT = join(ROOT, 'bench', 'results');
const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(directory, { recursive: true }));
const bench = (...args: string[]) => runProgram(['bench/run.ts', ...args], { env: { ZITI_BIN: '' } });
const at = (...path: string[]) => join(directory, ...path);

function keptResults(): string[] {
  return readdirSync(KEPT).map((name) => `${name} ${readFileSync(join(KEPT, name), 'utf8').length}`);
}

t.test('a quick run is not kept among the figures, and says so; --json - prints only JSON to stdout', async (t) => {
  const before = keptResults();
  const { code, stdout, stderr } = await bench(
    'queues',
    '--quick',
    '--only',
    'LINK',
    '--json',
    '-',
    '--html',
    at('page.html'),
  );
  t.equal(code, 0, stderr);
  const [report, ...others] = JSON.parse(stdout) as Report[];
  t.same(others, []);
  t.match(report, {
    format: 'edgeweave-bench/2',
    name: 'queues',
    run: { date: /^\d{4}-.*Z$/, cpu: /./, cores: Number, node: process.version, platform: /./, rounds: 1, quick: true },
  });
  t.ok(report?.run.commit === null || /^[0-9a-f]{40}$/.test(report?.run.commit ?? ''));
  t.type(report?.run.dirty, 'boolean');
  t.same(
    [...new Set(report?.rows.map(labelOf))],
    ['link: no-op tasks (queue 1,000, workers 32, tasks 2,000)', 'link: TLS dials (queue 1,000, workers 32, tasks 20)'],
  );
  for (const { subject, values } of report?.rows ?? []) {
    t.ok((values.tasks?.median ?? 0) > 0, subject);
    t.match(values['wait p99'], { median: Number, min: Number, max: Number, rounds: 1, ratio: { median: Number } });
  }
  t.match(stderr, /tasks \/s ↑/, 'the table');
  t.match(stderr, /the results are not kept \(--quick\); --results DIR keeps them\n$/);
  t.same(keptResults(), before);
  const page = readFileSync(at('page.html'), 'utf8');
  for (const part of ['<svg ', 'p50', 'p99', report?.run.cpu ?? '']) t.match(page, part);
});

t.test('kept results can be compared with another run', async (t) => {
  const run = (folder: string, ...more: string[]) =>
    bench('queues', '--quick', '--only', 'link', '--results', at(folder), ...more);
  const first = await run('first');
  t.equal(first.code, 0, first.stderr);
  t.match(first.stdout, /kept: .*first\/queues\.json, .*first\/queues-tasks\.svg/);
  t.notMatch(first.stdout, /last ×/);
  const again = await run('first', '--json', at('again.json'));
  t.match(again.stdout, /last × tasks/);
  const { code, stdout } = await bench('compare', at('first'), at('again.json'));
  t.equal(code, 0);
  t.match(stdout, /warning: A and B ran with --quick/);
  t.match(stdout, /^ +TaskQueue +tasks \/s ↑ +[\d.]+ +[\d.]+ +.\d+ % +one round, spread unknown$/m);
});

t.test('queue lengths and workers come from --config', async (t) => {
  const file = at('router.yml');
  writeFileSync(
    file,
    [
      'v: 3',
      `identity: {cert: ${at('a.cert')}, server_cert: ${at('a.server')}, key: ${at('a.key')}, ca: ${at('a.ca')}}`,
      'ctrl: {endpoint: "tls:127.0.0.1:6262"}',
      'edge: {csr: {sans: {dns: [localhost]}}}',
      'forwarder: {linkDialQueueLength: 77, linkDialWorkerCount: 3}',
    ].join('\n'),
  );
  const { code, stdout, stderr } = await bench('queues', '--quick', '--only', '77', '--config', file);
  t.equal(code, 0, stderr);
  t.match(stdout, 'link: no-op tasks (queue 77, workers 3, tasks 2,000)');
});

t.test('for a time of a dial and a rate, the needed workers are named, and more and fewer are measured', async (t) => {
  const args = ['queues', '--quick', '--dial-time', '20ms', '--rate', '200', '--results', at('sizing')];
  const { code, stdout, stderr } = await bench(...args);
  t.equal(code, 0, stderr);
  t.match(stdout, /^200 dials a second × 20 ms keep 4 workers busy on average/m);
  const [report] = readReports(at('sizing'));
  t.same([...new Set(report?.rows.map(({ sizes }) => sizes?.workers))], [2, 3, 4, 5, 6, 8]);
  for (const { subject, values } of report?.rows ?? []) t.ok((values.tasks?.median ?? 0) > 0, subject);
});

t.test('invalid arguments are rejected before the measurement, with a sentence each', async (t) => {
  const broken = at('broken.yml');
  writeFileSync(broken, 'v: 3\nforwarder: {linkDialQueueLength: many}\n');
  const file = at('file');
  writeFileSync(file, '');
  mkdirSync(at('folder'));
  const table: [args: string[], code: number, message: RegExp][] = [
    [['quues'], 2, /^bench: unknown benchmark quues; did you mean queues\?\n$/],
    [['comapre', 'a', 'b'], 2, /^bench: unknown benchmark comapre; did you mean compare\?\n$/],
    [
      ['everything'],
      2,
      /^bench: unknown benchmark everything; known are queues, api, data, path, attack, lab, cluster\n$/,
    ],
    [
      ['queues', '--quick', '--only', 'nothing'],
      2,
      /no group contains "nothing" \(--only\).*\n {2}queues: link: no-op tasks \(queue 1,000/,
    ],
    [['queues', '--quick', '--results', KEPT], 2, /--quick results must not be kept in .*pass another folder/],
    [
      ['queues', '--quick', '--json', join(KEPT, 'queues.json')],
      2,
      /--quick results must not be kept.* with --json\n$/,
    ],
    [['queues', '--results', join(file, 'x')], 1, /folder of the results cannot be written: ENOTDIR.*--results DIR\n$/],
    [
      ['queues', '--quick', '--json', at('nowhere', 'x.json')],
      1,
      /--json .*nowhere\/x\.json cannot be written: ENOENT/,
    ],
    [['queues', '--quick', '--html', at('folder')], 1, /--html .*folder cannot be written: it is a folder/],
    [['queues', '--quick', '--config', at('nosuch.yml')], 1, /nosuch\.yml/],
    [['queues', '--quick', '--config', broken], 1, /broken\.yml:2:\d+ error CFG-\S+ forwarder\.linkDialQueueLength/],
    [['api', '--config', broken], 2, /--config applies to `queues`, which is not selected/],
    [['api', '--dial-time', '50ms', '--rate', '400'], 2, /--dial-time applies to `queues`/],
    [['queues', '--dial-time', '50ms'], 2, /--dial-time and --rate belong together: pass both/],
    [['queues', '--dial-time', 'soon', '--rate', '400'], 2, /'--dial-time <duration>' .* pass a duration such as 50ms/],
    [['queues', '--dial-time', '50ms', '--rate', '0'], 2, /'--rate <number>' .* pass a number up to 100000/],
    [['queues', '--beside', directory], 2, /--beside applies to `data`/],
    [['data', '--beside', directory], 2, /--beside .* is not a checkout of this project/],
    [['--quik'], 2, /unknown option '--quik'[\s\S]*--quick/],
    [['compare', 'a'], 2, /missing required argument 'b'/],
    [['compare', 'a', 'b', 'c'], 2, /too many arguments/],
    [['compare', at('nosuch.json'), file], 2, /^bench: .*nosuch\.json does not exist/],
    [['compare', file, file], 2, /cannot be read as JSON/],
  ];
  for (const [args, code, message] of table) {
    const outcome = await bench(...args);
    t.equal(outcome.code, code, args.join(' '));
    t.match(outcome.stderr, message, args.join(' '));
    t.notMatch(outcome.stderr, /\bat .*\.ts:\d+|^link \(/m, 'no stack, no measuring');
    t.equal(outcome.stdout, '');
  }
});

t.test('an unusable binary of the reference is reported before the routers start', async (t) => {
  const { code, stderr } = await runProgram(['bench/run.ts', 'data', '--quick'], { env: { ZITI_BIN: at('ziti') } });
  t.equal(code, 2);
  t.match(stderr, /^bench: ZITI_BIN cannot be run: ENOENT.*; set it to the program/);
});

t.test('the help describes every option, the comparison, and flame graphs', async (t) => {
  const { code, stdout } = await bench('--help');
  t.equal(code, 0);
  for (const part of [
    '--quick',
    '--json',
    '--html',
    '--results',
    'compare',
    'profile.cpu.path',
    'flame graph',
    'speedscope',
  ])
    t.match(stdout, part);
  t.match((await bench('compare', '--help')).stdout, /folder of them/);
});

t.test('an interrupted benchmark leaves no files', async (t) => {
  const own = at('interrupted');
  mkdirSync(own);
  const args = ['-u', 'NODE_OPTIONS', process.execPath, join(ROOT, 'bench', 'run.ts'), 'data', '--quick'];
  const child = spawn('env', args, {
    env: { ...process.env, ZITI_BIN: '', TMPDIR: own },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  for await (const text of child.stderr) if (`${text}`.includes('starting edgeweave')) break;
  t.equal(readdirSync(own).filter((name) => !name.startsWith('edgeweave-ports')).length, 1);
  child.kill('SIGINT');
  t.same(await ended, [1, null]);
  t.same(readdirSync(own), []);
});
