// The first steps of a new user: the example network, and every command in the documents.

import { execFile, spawn } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t from 'tap';
import { Network } from '../../examples/two-routers/network.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { RELEASE, THOROUGH } from '../support/house/thorough.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Folders that other tests write meanwhile. */
const GENERATED = ['build', 'dist', 'node_modules'];
const DOCUMENTS = globSync('**/*.md', {
  cwd: ROOT,
  exclude: (name) => GENERATED.includes(name) || name.startsWith('.'),
});
/** Its commands change the system: test/cli/service.test.ts runs them. */
const OF_SYSTEM = 'docs/guides/run-a-router.md';
/** Its scripts are the steps of one. */
const TUTORIAL = 'docs/guides/first-network.md';
/** Commands that other tests run, and the test runner itself, which would recurse forever. */
const COVERED = new Set([
  'npm test',
  'FAULTS_SEED=9 FAULTS_RUNS=1 npm test -- test/faults/cluster.test.ts',
  'npm run check',
  'npm pack --silent',
  `npm install ../edgeweave-${packageJson.version}.tgz`,
  'npm run build:binary',
  'npm run build:image',
  'npm run build:packages',
]);
/** Runs for a release include them: two minutes of a core. Other tests start the same programs with other options. */
const OF_RELEASE = [
  'npm -s start -- --once --json',
  'npm start -- --once',
  'npm run bench -- api --quick --results /tmp/edgeweave-bench',
  'npm run bench -- attack --quick --results /tmp/edgeweave-bench',
  'npm run bench -- data --quick --results /tmp/edgeweave-bench',
  'npm run bench -- lab --quick --results /tmp/edgeweave-bench',
  'npm run bench -- path --quick --results /tmp/edgeweave-bench',
  'npm run bench -- queues --quick --dial-time 50ms --rate 400',
];
/** Thorough runs include them: five seconds of a core. */
const THOROUGH_BLOCKS = ['npm run bench -- cluster --quick --results /tmp/edgeweave-bench'];

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  /** Interrupts the command once the output matches. */
  stopAfter?: RegExp;
  /** Called once with the output when its first line is complete. */
  onLine?: (line: string) => void;
  env?: NodeJS.ProcessEnv;
}

function run(command: string, { stopAfter, onLine, env }: RunOptions = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const withVariables = /^\w+=/.test(command) ? `env ${command}` : command;
    const child = spawn('bash', ['-c', `exec ${withVariables}`], { cwd: ROOT, env: { ...process.env, ...env } });
    const outcome: Outcome = { code: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      const isFirst = !outcome.stdout.includes('\n');
      outcome.stdout += text;
      if (isFirst && outcome.stdout.includes('\n')) onLine?.(outcome.stdout);
      if (stopAfter?.test(outcome.stdout)) child.kill('SIGINT');
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      outcome.stderr += text;
    });
    child.once('close', (code) => resolve({ ...outcome, code }));
  });
}

/** The script with ports of this process instead of the tutorial's. */
async function withFixedPorts(script: string): Promise<string> {
  const documented = [...new Set(script.match(/\b184\d\d\b/g))];
  const fixed = await fixedPorts(documented.length);
  return documented.reduce((text, port, index) => text.replaceAll(port, String(fixed[index])), script);
}

/** Milliseconds: the commands include benchmarks, and other tests run beside them. */
const PATIENCE = RELEASE ? 600_000 : 300_000;
t.setTimeout(2 * PATIENCE);

t.test('npm start keeps running, prints how to use it, and stops cleanly; another one beside it too', async (t) => {
  const example = () => readdirSync(join(ROOT, 'examples/two-routers'));
  const files = example();
  const once = { stopAfter: /Ctrl-C stops the network/ };
  const [{ code, stdout }, beside] = await Promise.all([run('npm -s start', once), run('npm -s start -- --once')]);
  t.equal(code, 0);
  t.equal(beside.code, 0, beside.stderr);
  t.match(stdout, /dashboard +https:.*\/lab\//);
  t.same(example(), files, 'its routers write no files beside their configurations');
  t.match(stdout, /router -- health https:/);
  t.match(stdout, /stopping/);
});

t.test('an interrupted start ends at once, with one document and one line', async (t) => {
  const summary = await run('npm -s start', { stopAfter: /start the controller/ });
  t.equal(summary.code, 1);
  t.equal(summary.stderr, 'the network could not be started: SIGINT was received during the start\n');
  for (const delay of [500, 1_000]) {
    const child = spawn(process.execPath, ['examples/two-routers/start.ts', '--json'], { cwd: ROOT });
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    setTimeout(() => child.kill('SIGINT'), delay);
    t.match(JSON.parse(await stdout), { ok: false, error: /SIGINT/ }, `after ${delay} ms`);
    t.match(await stderr, /^the network could not be started: SIGINT.*\n$/);
  }
});

t.test('an unusable temporary folder is reported', async (t) => {
  const { code, stdout, stderr } = await run('npm -s start -- --once --json', {
    env: { TMPDIR: join(ROOT, 'package.json') },
  });
  t.equal(code, 1);
  t.match(JSON.parse(stdout), { ok: false, error: /TMPDIR/ });
  t.match(stderr, /^the network could not be started: no folder can be created in .*package\.json.*\n$/);
});

t.test('npm -s start -- --json prints one document; a later failure is reported on stderr', async (t) => {
  const { code, stdout, stderr } = await run('npm -s start -- --json', {
    onLine: (line) => process.kill(JSON.parse(line).routers[0].pid, 'SIGKILL'),
  });
  t.equal(code, 1);
  t.match(stderr, /^the network is down: router-a ended with exit code 137\n/);
  const summary = JSON.parse(stdout);
  t.equal(summary.ok, true);
  t.equal(summary.transfer.bytes, 8 * 1024 * 1024);
  t.match(summary.transfer.sha256Sent, /^[0-9a-f]{64}$/);
  t.equal(summary.transfer.sha256Received, summary.transfer.sha256Sent);
  t.same(
    summary.routers.map(({ health }: { health: string }) => health),
    ['healthy', 'healthy'],
  );
  t.match(summary.links, [{ id: /./, from: /^router-[ab]$/, to: /^router-[ab]$/, addresses: { 'link.default': {} } }]);
  t.ok(summary.steps.every(({ name, ms }: { name: string; ms: number }) => name !== '' && ms >= 0));
  t.match(summary.controller.ctrl, /^tls:127\.0\.0\.1:\d+$/);
});

t.test('a program that ends during the start is named at once, with its log', async (t) => {
  const network = await Network.prepare(({ name }) => {
    if (name === 'create the service and its policies') rmSync(join(network.directory, 'router-a.key'));
  });
  t.teardown(() => network.removeFiles());
  t.teardown(() => network.close());
  await t.rejects(network.up(), { message: /^router-a ended with exit code 1/ });
  t.match(network.logTails(), /router-a\.key/);
});

t.test('unknown flags are reported with the known ones', async (t) => {
  const { code, stderr } = await run('npm -s start -- --onec');
  t.equal(code, 2);
  t.match(stderr, /unknown option --onec/);
});

t.test('every shell command of the documents works', { timeout: PATIENCE }, async (t) => {
  const done = new Set([...COVERED, ...(THOROUGH ? [] : THOROUGH_BLOCKS), ...(RELEASE ? [] : OF_RELEASE)]);
  for (const file of DOCUMENTS.filter((each) => each !== OF_SYSTEM)) {
    const blocks = readFileSync(join(ROOT, file), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm);
    for (const command of [...blocks].flatMap(([, block = '']) => block.trim().split('\n'))) {
      if (done.has(command)) continue;
      done.add(command);
      const { code, stderr } = await run(command);
      t.equal(code, 0, `${file}: ${command}\n${stderr}`);
    }
  }
});

t.test('every script of the documents works', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const programs = { 'edgeweave-sim': 'entry/sim-cli.ts', 'edgeweave-router': 'entry/router-cli.ts' };
  for (const [name, file] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, file)} "$@"\n`, {
      mode: 0o755,
    });
  const obstacle = postgresObstacle();
  const postgres = obstacle === undefined ? await Postgres.start() : undefined;
  t.teardown(() => postgres?.close());
  const DATABASE = await postgres?.database('network');
  const env = { ...process.env, DATABASE, PATH: `${folder}:${process.env.PATH}` };
  for (const file of DOCUMENTS) {
    const scripts = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^```bash\n([\s\S]*?)^```/gm)];
    if (file === TUTORIAL) {
      const script = await withFixedPorts(scripts.map(([, each]) => each).join('\n'));
      const cwd = mkdtempSync(join(folder, 'tutorial-'));
      // Whatever happens, what the shell started ends with it.
      const all = `trap 'kill $(jobs -p) 2> /dev/null' EXIT\n${script.replace(/^kill .*$/m, 'echo end')}`;
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', all], { cwd, env });
      t.match(stdout, /^hello from behind the network\nentry may dial hello$/m);
      t.match(stdout, /nothing hosts it[\s\S]*no answer\nend\n$/);
      for (const name of ['exit', 'entry'])
        t.notMatch(
          readFileSync(join(cwd, `${name}.log`), 'utf8'),
          'CFG-PORTABILITY',
          `the reference starts with ${name}.yml`,
        );
      continue;
    }
    for (const [, script = ''] of scripts) {
      if (script.includes('$DATABASE') && obstacle !== undefined) {
        t.comment(`${file}: ${obstacle}`);
        continue;
      }
      const cwd = mkdtempSync(join(folder, 'script-'));
      await t.resolves(promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd, env }), file);
    }
  }
});

t.test('every relative link in the documents resolves', async (t) => {
  for (const file of DOCUMENTS) {
    for (const [, target = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(/\]\(([^)#:]+)\)/g)) {
      t.ok(readFileSync(join(ROOT, dirname(file), target)).length > 0, `${file}: ${target}`);
    }
  }
});
