// The commands that control a running simulator, as from a shell. Most run in this process; some of each outcome run in
// a process of their own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Command, CommanderError } from 'commander';
import t from 'tap';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { simulatorProgram } from '../../entry/sim-program.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { runCommand } from '../support/programs/command.ts';
import { runProgram } from '../support/programs/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(folder, { recursive: true }));

/** A simulator in this process, with the file that `sim start --json` would have written. */
async function open() {
  const simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  const api = new ApiClient(simulator);
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, simulator.ca);
  const { managementUrl: management, username, password } = simulator;
  const ready = join(folder, 'ready.json');
  const line = { event: 'ready', management, username, password, ca };
  writeFileSync(ready, `${JSON.stringify(line)}\n{"namespace":"service"}\n`);
  const env = { EDGEWEAVE_SIM_READY: '' };
  const run = (...args: string[]) => runCommand(simulatorProgram, args, { env });
  const sim = (...args: string[]) => run(...args, '--ready', ready);
  const close = async () => {
    await api.close();
    await simulator.close();
  };
  return { simulator, api, ca, ready, run, sim, [Symbol.asyncDispose]: close };
}

/** A device that answers like a full disk, where the system has it. */
const FULL_DISK = ['/dev/full'].filter((path) => existsSync(path));

t.test('a command against a simulator that has stopped says so', async (t) => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  const file = join(folder, 'stopped.json');
  const [ca, gone, seed] = [join(folder, 'left.pem'), join(folder, 'gone.pem'), join(folder, 'empty.yml')];
  writeFileSync(ca, '');
  writeFileSync(seed, '{}');
  for (const each of [ca, gone]) {
    const address = { management: 'https://127.0.0.1:1/x', port: 1, username: 'admin', password: 'x' };
    writeFileSync(file, JSON.stringify({ event: 'ready', ...address, labToken: 'x', ca: each, pid: child.pid }));
    for (const args of [['clock'], ['health'], ['seed', seed, '--apply', '--management'], ['load', seed]]) {
      const { code, stderr } = await runCommand(simulatorProgram, [...args, '--ready', file], { env: {} });
      t.equal(code, 1);
      t.match(stderr, /the simulator of .*stopped\.json has stopped: its process \d+ no longer runs; start it again/);
    }
    // It serves until it is stopped, so it is a process of its own.
    const recorded = ['record', '--output', join(folder, 'stopped.jsonl'), '--ready', file, '--ttl', '20s'];
    const { code, stderr } = await runProgram(['entry/sim-cli.ts', ...recorded]);
    t.equal(code, 1);
    t.match(stderr, /^the simulator of .*stopped\.json has stopped/);
  }
});

t.test('a wrong use is rejected before anything is connected', async (t) => {
  for (const [args, message] of [
    [['fault', 'add', '--status', 'high'], /Use a number/],
    [['fault', 'add', '--kind', 'wire'], /Allowed choices are http, control, link, sdk, proxy, store/],
    [['fault', 'disconnect'], /missing required argument 'router'/],
    [['journal', '--limit', '2000'], /Use a whole number from 1 to 1000/],
    [['journal', '--limit', '0'], /Use a whole number from 1 to 1000/],
    [['journal', '--kind', 'links'], /Allowed choices are http, control, link/],
    [['journal', '--links', 'yes'], /Allowed choices are on, off/],
    [['restore'], /missing required argument 'name'/],
    [['clock', '--advance'], /argument missing/],
    [['seed'], /missing required argument 'file'/],
    [['export', '--format', 'xml'], /Allowed choices are yaml, json/],
  ] as const) {
    let printed = '';
    const writeErr = (text: string) => {
      printed += text;
    };
    const overridden = (command: Command): Command => {
      command.exitOverride().configureOutput({ writeErr });
      command.commands.forEach(overridden);
      return command;
    };
    await t.rejects(overridden(simulatorProgram()).parseAsync([...args], { from: 'user' }), CommanderError);
    t.match(printed, message);
  }
});

t.test('time, snapshots and reset', async (t) => {
  await using parts = await open();
  const { sim, api, simulator } = parts;
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await sim(...args);
    t.same({ code, stderr }, { code: 0, stderr: '' }, args.join(' '));
    return stdout;
  };
  t.match(await done('clock'), /^\d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
  t.equal((await api.get('/api-sessions')).length, 1, 'the command logged out');
  t.match(await done('clock', '--advance', '1h30m'), /Z \(advanced by 1h30m0s\)\n$/);
  t.equal(simulator.lab.clock.advanced, 5_400_000);
  t.match(
    await done('clock', '--set', '2031-01-01', '--freeze'),
    /^2031-01-01T00:00:00.000Z \(advanced by .*, stands still\)\n$/,
  );
  t.match(await done('clock', '--advance', '1d', '--rate', '60'), /^2031-01-02T.*, runs 60 times as fast\)\n$/);
  t.match(await sim('clock', '--rate', 'fast'), { code: 2, stderr: /Use a number/ });
  await api.create('/services', { name: 'kept', encryptionRequired: true });
  t.match(await done('snapshot', 'base'), /^base {2}\S+Z {2}\d+ entities\n$/);
  await api.create('/services', { name: 'removed', encryptionRequired: true });
  t.match(await done('snapshot'), /^start .*\nbase .*\n$/);
  t.equal(await done('restore', 'base'), 'restored base: 0 created, 0 changed, 1 deleted\n');
  t.same(await api.names('/services'), ['kept']);
  await done('clock', '--advance', '1d', '--freeze');
  t.equal(await done('reset', '--keep', 'state', 'clock'), 'reset: 0 created, 0 changed, 0 deleted\n');
  t.equal(simulator.lab.clock.rate, 0);
  t.match(await sim('reset', '--keep', 'clocks'), { code: 2, stderr: /Allowed choices are state, clock/ });
  t.equal(await done('reset'), 'reset: 0 created, 0 changed, 1 deleted\n');
  t.equal(await done('snapshot', 'base', '--delete'), 'deleted base\n');
  t.match(await done('snapshot'), /^start .*\n$/);
});

t.test('journal: a line for each request, filters, JSON', async (t) => {
  await using parts = await open();
  const { sim, api } = parts;
  await api.ask('POST', '/authenticate?method=password', { body: { username: 'nobody', password: PASSWORD } });
  await api.ask('GET', '/version', { headers: { 'x-name': 'ignored' } });
  await api.create('/identities', { name: 'red\u001b[31m', type: 'Device', isAdmin: false });
  const { code, stdout, stderr } = await sim('journal');
  t.same({ code, stderr }, { code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  t.match(
    lines[0],
    /^ {4}1 {2}[\d:.]{12} {2}POST \/edge\/client\/v1\/authenticate\?method=password {2}401 INVALID_AUTH {2}.*[\d.]+ ms {2}127\.0\.0\.1 {2}\{"username":"nobody","password":"…"\}$/,
  );
  t.match(lines[1], /GET \/edge\/client\/v1\/version {2}200 {2}/);
  t.notMatch(stdout, /\/lab\//, 'the command itself is not listed');
  t.notOk(stdout.includes('\u001b'), 'no control characters reach the terminal');
  t.equal((await sim('journal', '--failed', '--path', '/edge/client')).stdout, `${lines[0]}\n`);
  const [stable = ''] = (await sim('journal', '--path', '/edge/client/v1/version', '--stable')).stdout.split('\n');
  t.strictSame(Object.keys(JSON.parse(stable)).sort(), ['api', 'kind', 'method', 'operation', 'path', 'status']);
  t.match(JSON.parse((await sim('journal', '--limit', '1', '--path', '/edge/client/v1/version', '--json')).stdout), {
    sequence: 2,
    operation: 'listVersion',
  });
  t.match(await sim('journal', '--links', 'on'), { code: 1, stderr: /no router runs in this process/ });
  t.match(await sim('journal', '--message', 'Rout'), {
    code: 1,
    stderr: /there is no message Rout; did you mean Route\?/,
  });
  t.equal((await sim('journal', '--clear')).code, 0);
  t.equal((await sim('journal')).stdout, '');
});

t.test('journal --follow continues until it is interrupted', async (t) => {
  await using parts = await open();
  const { api, ready } = parts;
  await api.ask('GET', '/version');
  for (const signal of ['SIGINT', undefined] as const) {
    const args = ['entry/sim-cli.ts', 'journal', '--follow', '--json', '--ready', ready];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const lines = createInterface(child.stdout);
    const next = async () => JSON.parse(String((await once(lines, 'line'))[0]));
    t.match(await next(), { operation: 'listVersion' });
    const further = next();
    await api.ask('GET', '/protocols');
    t.match(await further, { operation: 'listProtocols' });
    if (signal) child.kill(signal);
    else child.stdout.destroy(); // as `| head` does
    await api.ask('GET', '/protocols');
    t.same(await ended, [0, null], signal ?? 'a closed pipe');
    api.simulator.lab.journal.clear();
    await api.ask('GET', '/version');
  }
});

t.test('fault: add, list, remove, clear, disconnect', async (t) => {
  await using parts = await open();
  const { sim, api } = parts;
  await api.manage('POST', '/edge-routers', { name: 'router-a' });
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await sim('fault', ...args);
    t.same({ code, stderr }, { code: 0, stderr: '' }, args.join(' '));
    return stdout;
  };
  t.equal(
    await done('add', '--operation', 'listVersion', '--status', '503', '--times', '1'),
    'f1  http  operation=listVersion status=503 times=1  0 hits\n',
  );
  t.equal(
    await done('add', '--router', 'router-a', '--message', 'Route', '--direction', 'out', '--drop'),
    'f2  control  router=router-a message=Route direction=out drop  0 hits\n',
  );
  t.equal((await api.ask('GET', '/edge/management/v1/version')).status, 503);
  t.match(await done('list'), /^f1 .* {2}1 hit\nf2 .* {2}0 hits\n$/);
  t.match((await sim('journal', '--failed', '--path', '/edge/management/v1/version')).stdout, /\[fault f1\]\n$/);
  t.equal(await done('remove', 'f1'), 'removed f1\n');
  t.match(await done('add', '--close', '--path', '/'), /^f3 /);
  t.equal(await done('clear'), 'removed all faults\n', 'the command itself is not affected');
  t.equal(await done('list'), '');
  for (const [args, code, message] of [
    [['add', '--status', '100'], 1, /^status: use 200 to 599\n$/],
    [['add', '--router', 'router-b', '--drop'], 1, /no router router-b; did you mean router-a\?\n$/],
    [['add', '--operation', 'listVersions', '--close'], 1, /did you mean listVersion\?\n$/],
    [['add', '--router', 'router-a', '--status', '500'], 1, /^status: a fault of the kind control has no status/],
    [['remove', 'f9'], 1, /^there is no fault f9; none exist\n$/],
    [['disconnect', 'a'], 1, /^router a is not connected; none is\n$/],
  ] as const) {
    const { code: actual, stderr } = await sim('fault', ...args);
    t.match(stderr, message, args.join(' '));
    t.equal(actual, code, stderr);
  }
});

t.test('proxy: open, list, close; faults of every kind from one definition', async (t) => {
  await using parts = await open();
  const { sim, simulator } = parts;
  const { host, port } = new URL(simulator.baseUrl);
  const opened = await sim('proxy', 'open', 'api', '--to', host);
  t.match(opened, { code: 0, stdout: /^127\.0\.0\.1:\d+\n$/ });
  const add = ['fault', 'add', '--kind', 'proxy', '--proxy', 'api', '--latency', '20ms', '--jitter', '5ms'];
  t.match(await sim(...add, '--slice-delay', '1ms', '--slice', '100', '--scope', 'x', '--lasts', '5m'), {
    code: 0,
    stdout: 'f1  proxy  proxy=api latency=20ms jitter=5ms sliceDelay=1ms slice=100 scope=x lasts=5m0s  0 hits\n',
  });
  const answers = '[{"status":429,"headers":{"Retry-After":"2"}},{}]';
  t.match((await sim('fault', 'add', '--operation', 'listVersion', '--answers', answers)).stdout, /"retry-after":"2"/);
  t.match(
    (await sim('proxy', 'list')).stdout,
    new RegExp(`^api {2}127\\.0\\.0\\.1:\\d+ {2}to 127\\.0\\.0\\.1:${port} {2}0 open\\n$`),
  );
  t.match(await sim('fault', 'clear', '--scope', 'x'), { stdout: 'removed the faults of x\n' });
  t.match(simulator.lab.faults.list(), [{ id: 'f2' }]);
  t.match(await sim('proxy', 'close', 'api'), { code: 0, stdout: 'closed api\n' });
  t.match(await sim('proxy', 'close', 'api'), { code: 1, stderr: 'there is no proxy api; none exists\n' });
  t.match(await sim('proxy', 'open', 'api'), { code: 2, stderr: /--to HOST:PORT is missing/ });
});

t.test('snapshot: save to a file, load it under another name', async (t) => {
  await using parts = await open();
  const { sim, simulator } = parts;
  const file = join(mkdtempSync(join(tmpdir(), 'edgeweave-test-')), 'report.json');
  t.teardown(() => rmSync(dirname(file), { recursive: true }));
  t.match(await sim('snapshot', 'base', '--save', file), { code: 0, stdout: `saved base in ${file}\n`, stderr: '' });
  t.match(await sim('snapshot', 'theirs', '--load', file), { code: 0, stdout: /^theirs {2}/ });
  t.same(
    simulator.lab.snapshots.list().map(({ name }) => name),
    ['start', 'base', 'theirs'],
  );
  t.match(await sim('snapshot', '--save', file), { code: 2, stderr: /name the snapshot/ });
});

t.test('failures have one line with the remedy, and exit code 1; wrong use has 2', async (t) => {
  await using parts = await open();
  const { sim, run, ca, ready, simulator } = parts;
  const nobody = ['--url', 'https://127.0.0.1:1', '--ca', ca, '--username', 'admin', '--password', PASSWORD];
  const empty = join(folder, 'empty');
  writeFileSync(empty, '{"event":"other"}\nnot json\n');
  for (const [outcome, code, message] of [
    [
      sim('clock', '--advance', '-1m'),
      1,
      /^duration: an advance adds time; use a duration such as 31m, or set an earlier time\n$/,
    ],
    [sim('clock', '--advance', '31'), 1, /^duration: missing unit in duration "31"; write for example /],
    [sim('restore', 'non'), 1, /^there is no snapshot non; known are start\n$/],
    [sim('restore', 'star'), 1, /did you mean start\?\n$/],
    [sim('clock', '--password', 'wrong one'), 1, /^the simulator rejects the username or password; use --username/],
    [sim('clock', '--ca', join(folder, 'none')), 1, /none does not exist\n$/],
    [
      sim('clock', '--url', 'nonsense'),
      1,
      /^--url nonsense is not the address of a simulator; use https:\/\/HOST:PORT\n$/,
    ],
    [sim('clock', '--url', 'http://127.0.0.1:1'), 1, /^--url http:\/\/127.0.0.1:1 is not the address/],
    [run('clock', ...nobody), 1, /^no simulator answers at https:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/],
    [run('clock'), 1, /^--url is missing; use --url, or --ready FILE with the output of `sim start --json`\n$/],
    [run('clock', '--ready', empty), 1, /has no ready line; write one with `sim start --json > FILE`\n$/],
    [run('clock', '--ready', folder), 1, /is a folder; name a file\n$/],
    [sim('snapshot', '--delete'), 2, /name the snapshot\n/],
  ] as const) {
    const { code: actual, stdout, stderr } = await outcome;
    t.match(stderr, message);
    t.equal(actual, code, stderr);
    t.equal(stdout, '');
    if (code === 1) t.equal(stderr.trimEnd().split('\n').length, 1);
    t.notMatch(stderr, /wrong one/);
  }
  const named = ['--url', simulator.managementUrl, '--ca', ca, '--username', 'admin'];
  t.equal((await run('clock', ...named, '--password', PASSWORD)).code, 0, 'without a ready line');
  const env = { EDGEWEAVE_SIM_READY: ready };
  const shell = (...args: string[]) => runProgram(['entry/sim-cli.ts', ...args], { env });
  t.match(await shell('clock'), { code: 0, stdout: /^\d{4}-.*Z\n$/, stderr: '' }, 'from the environment');
  t.match(await shell('restore', 'star'), { code: 1, stdout: '', stderr: /^there is no.*did you mean start\?\n$/ });
  t.match(await shell('snapshot', '--delete'), { code: 2, stdout: '', stderr: /name the snapshot\n/ });
});

t.test('seed, export and why', async (t) => {
  await using parts = await open();
  const { sim } = parts;
  const example = 'examples/seed/network.yml';
  const seeded = await sim('seed', example);
  t.match(seeded, {
    code: 0,
    stderr: '',
    stdout: /^created 2 configs, 1 service, .*4 identities, .*service edge router policy\n$/,
  });
  t.match((await sim('seed', example)).stdout, /^created nothing; existed already: 2 configs, /);
  const yaml = await sim('export');
  t.match(yaml, { code: 0, stdout: /^authPolicies: \[\]\ncertificateAuthorities: / });
  const [copy, json] = [join(folder, 'copy.yml'), join(folder, 'copy.json')];
  t.match(await sim('export', '--output', copy), { code: 0, stdout: '' });
  t.equal(readFileSync(copy, 'utf8'), yaml.stdout);
  await sim('export', '--format', 'json', '--output', json);
  t.equal(JSON.parse(readFileSync(json, 'utf8')).services[0].name, 'wiki');
  t.match(await sim('seed', json), { code: 0, stdout: /^created nothing/ });
  const added = join(folder, 'added.yml');
  writeFileSync(added, 'services: [{ name: added, encryptionRequired: true }]\n');
  const asController = ['seed', added, '--apply', '--management'];
  t.same(await sim(...asController, '--plan'), {
    code: 0,
    stderr: '',
    stdout: '+ service added\nplan: created 1 service; changed nothing\n',
  });
  t.match(await sim(...asController), { code: 0, stderr: '', stdout: 'created 1 service; changed nothing\n' });

  const why = await sim('why', 'dial', 'berta', 'wiki');
  t.match(why, {
    code: 1,
    stderr: '',
    stdout: /^berta may not dial wiki\n {2}ok {2}berta can log in with the password of berta\n/,
  });
  t.match(why.stdout, /\n {2}NO {2}no service policy lets berta dial wiki\n {6}→ /);
  const asJson = await sim('why', 'bind', 'edge-1', 'wiki', '--router', 'edge-1', '--json');
  t.match([asJson.code, JSON.parse(asJson.stdout)], [1, { allowed: false, type: 'Bind' }]);

  t.match(await sim('why', 'login', 'berta'), { code: 0, stdout: /^berta can log in\n {2}ok {2}/ });
  t.match(await sim('why', 'posture', 'berta'), { code: 0, stdout: /^berta passes its posture checks\n/ });
  const session = await sim('why', 'session', 'none', '--json');
  t.match([session.code, JSON.parse(session.stdout)], [1, { ok: false, summary: 'the session none is not valid' }]);

  const wrong = join(folder, 'wrong.yml');
  writeFileSync(wrong, 'identities:\n  - {name: anne, pasword: annes secret}\nservice: []\n');
  for (const [outcome, code, message] of [
    [
      sim('seed', wrong),
      1,
      /^\S+wrong\.yml has 2 mistakes, and nothing was changed\n {2}\S+wrong\.yml:2:18 identities\[0\]\.pasword: identity anne: unknown field pasword; did you mean password\?\n {2}\S+wrong\.yml:3:1 service: .*did you mean services\?\n$/,
    ],
    [sim('seed', join(folder, 'none.yml')), 1, /none\.yml does not exist\n$/],
    [sim('export', '--output', folder), 1, /cannot be written/],
    ...FULL_DISK.flatMap((output) =>
      [sim('export', '--output', output), sim('identity', 'gina', '--output', output)].map(
        (each) =>
          [each, 1, /^\/dev\/full cannot be written: the disk is full; free space on the disk of \/dev\n$/] as const,
      ),
    ),
    [sim('why', 'dial', 'ana', 'wiki'), 1, /^there is no identity ana; did you mean anna\?\n$/],
    [sim('why', 'use', 'anna', 'wiki'), 2, /unknown command 'use'/],
    [sim('why', 'link', 'edge-1', 'edge-9'), 1, /^there is no router edge-9; did you mean edge-1\?\n$/],
  ] as const) {
    const { code: actual, stdout, stderr } = await outcome;
    t.match(stderr, message);
    t.equal(actual, code, stderr);
    t.equal(stdout, '');
    t.notMatch(stderr, /secret/);
  }
});

t.test('start --seed prints what it created, and fails with the lines of mistakes', async (t) => {
  const program = new Program(
    'seeded',
    ['entry/sim-cli.ts', 'start', '--json', '--seed', 'examples/seed/network.yml'],
    {
      directory: folder,
    },
  );
  const ready = JSON.parse(await program.firstLine());
  t.match(ready.seeded, { created: { identities: 4 }, existing: {} });
  const file = join(folder, 'seeded.json');
  writeFileSync(file, JSON.stringify(ready));
  const allowed = await runProgram(['entry/sim-cli.ts', 'why', 'dial', 'anna', 'wiki', '--ready', file]);
  t.equal(allowed.code, 1);
  await program.stop();
  const wrong = join(folder, 'broken.yml');
  writeFileSync(wrong, 'identities:\n  - {name: anna, password: four secrets, authPolicy: "@none"}\n');
  const { code, stdout, stderr } = await runProgram(['entry/sim-cli.ts', 'start', '--seed', wrong]);
  t.same([code, stdout], [1, '']);
  t.match(
    stderr,
    /^the simulator cannot start: \S+broken\.yml:2:42 identities\[0\]\.authPolicy: identity anna: there is no auth policy none; add it to the seed\n$/,
  );
});

t.test('verify: exit code 0 if the journal has what a test expects, else 1 and the nearest entries', async (t) => {
  await using parts = await open();
  const { sim, api } = parts;
  await api.ask('GET', '/version');
  const version = ['verify', '--operation', 'listVersion'];
  t.match(await sim(...version, '--times', '1', '--within', '5s'), { code: 0, stdout: 'verified: 1 entries\n' });
  const { code, stdout, stderr } = await sim(...version, '--status', '404');
  t.same({ code, stdout }, { code: 1, stdout: '' });
  t.match(stderr, /must have at least 1 entry with operation listVersion, status 404, and has 0; the nearest:/);
  t.match(stderr, /GET \/edge\/client\/v1\/version 200 \(its status: 200\)/);
  for (const command of ['verify', 'wait', 'journal'])
    t.match(await sim(command, '--status', '2xx'), { code: 2, stdout: '', stderr: /--status .*Use a number/ });
  t.match(await sim(...version, '--within', '2m'), { code: 1, stderr: /within: use a duration from 0 to 50s/ });
  t.match(await sim('journal', '--operation', 'listVersion', '--status', '200'), { code: 0, stdout: /GET .*version/ });
  t.match(await sim('journal', '--method', 'PUT'), { code: 0, stdout: '' });
  const operation = ['--operation', 'listVersion'];
  t.match(await sim('wait', ...operation, '--timeout', '5s'), {
    code: 0,
    stdout: /GET \/edge\/client\/v1\/version {2}200/,
  });
  t.match(await sim('wait', ...operation, '--status', '404', '--timeout', '0s'), { code: 1, stderr: /the nearest:/ });
  const file = join(folder, 'recording.jsonl');
  t.match(await sim('journal', ...operation, '--recording', file), { code: 0, stdout: `wrote 1 request to ${file}\n` });
  t.match(readFileSync(file, 'utf8'), /"path":"\/edge\/client\/v1\/version"/);
  t.match(await sim('journal', '--recording', folder), { code: 1, stderr: /is a folder; name a file$/m });
});

t.test('the enrollment token of a router or an identity', async (t) => {
  await using parts = await open();
  const { sim, api } = parts;
  await api.create('/edge-routers', { name: 'edge "1"' });
  await api.create('/transit-routers', { name: 'transit' });
  await api.create('/identities', { name: 'phone', type: 'Default', isAdmin: false, enrollment: { ott: true } });
  await api.create('/identities', { name: 'nobody', type: 'Default', isAdmin: false });
  for (const [name, method] of [
    ['edge "1"', 'erott'],
    ['transit', 'trott'],
    ['phone', 'ott'],
  ] as const) {
    const { code, stdout } = await sim('token', name);
    t.equal(code, 0, name);
    const [, claims = ''] = stdout.split('.');
    t.match(JSON.parse(Buffer.from(claims, 'base64url').toString()), { em: method }, name);
  }
  t.match(await sim('token', 'nobody'), { code: 1, stderr: /nobody has no enrollment token: .*; re-enroll it/ });
  t.match(await sim('token', 'somebody'), { code: 1, stderr: /there is no router or identity somebody; .*nobody/ });
});
