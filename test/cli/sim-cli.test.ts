// The command of the simulator, run as by a user.

import { execFileSync, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import t from 'tap';
import { subjectAltNames } from '#pki/certificates.ts';
import { type SimulatorOptions, startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { openManagement } from '../support/clients/management.ts';
import { runProgram } from '../support/programs/run.ts';

const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
const start = (name: string, ...args: string[]) =>
  new Program(name, ['entry/sim-cli.ts', 'start', '--json', ...args], { directory });

interface Ready {
  event: string;
  management: string;
  client: string;
  ctrl: string;
  username: string;
  password: string | null;
  ca: string;
  port: number;
  pid: number;
}

async function ready(program: Program): Promise<Ready> {
  return JSON.parse(await program.firstLine()) as Ready;
}

t.test('one line contains everything to use it', async (t) => {
  const program = start('sim', '--advertise', 'sim.example', '--advertise', '192.0.2.7');
  const line = await ready(program);
  t.match(line, {
    event: 'ready',
    username: 'admin',
    ctrl: /^tls:sim\.example:\d+$/,
    management: /\/edge\/management\/v1$/,
    client: /\/edge\/client\/v1$/,
    dashboard: /^https:\/\/sim\.example:\d+\/lab\/$/,
  });
  t.ok((line.password ?? '').length >= 16, 'a password is generated');
  const ca = readFileSync(line.ca, 'utf8');
  const url = line.management.replace('sim.example', '127.0.0.1');
  await (await openManagement(url, ca, line.username, line.password ?? '')).close();
  const socket = connect({ port: line.port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const { dns, ip } = subjectAltNames(new X509Certificate(socket.getPeerCertificate().raw));
  socket.destroy();
  t.same(dns.toSorted(), ['localhost', 'sim.example']);
  t.same(ip.toSorted(), ['127.0.0.1', '192.0.2.7', '::1']);
  await program.stop();
  t.equal(await program.exited, 0);
  t.throws(() => statSync(line.ca), 'temporary files are deleted');
});

t.test(
  'the lab token of the ready line controls the simulator at any time; --no-lab turns all of it off',
  async (t) => {
    const program = start('lab');
    const line = await program.firstLine();
    const { lab, labToken } = JSON.parse(line) as Record<string, string>;
    t.match(lab, /^https:\/\/127\.0\.0\.1:\d+\/lab\/v1$/);
    t.match(labToken, /^[\w-]{43}$/);
    const file = join(directory, 'lab-ready.json');
    writeFileSync(file, line);
    const sim = (...args: string[]) => runProgram(['entry/sim-cli.ts', ...args, '--ready', file]);
    t.match(await sim('clock', '--advance', '1w'), { code: 0, stdout: /advanced by 168h/ });
    t.match(await sim('clock'), { code: 0, stdout: /advanced by 168h/ });
    writeFileSync(file, line.replace(labToken ?? '', 'A'.repeat(43)));
    t.match(await sim('clock'), { code: 1, stderr: /rejects the lab token: the ready line is of an earlier start/ });
    await program.stop();

    const without = start('without-lab', '--no-lab');
    const other = await without.firstLine();
    t.notMatch(other, /"(?:lab|labToken|dashboard)":/);
    writeFileSync(file, other);
    t.match(await sim('clock'), { code: 1, stderr: /has no lab API: .*--no-lab/ });
    await without.stop();
  },
);

t.test('variables set the options of a service, and a file has the ready line for health checks', async (t) => {
  const file = join(directory, 'service-ready.json');
  writeFileSync(file, 'of a start that was killed');
  const labToken = 'a-key-that-a-service-block-sets';
  const program = new Program('service', ['entry/sim-cli.ts', 'start', '--json'], {
    directory,
    env: {
      EDGEWEAVE_SIM_HOST: '0.0.0.0',
      EDGEWEAVE_SIM_ADVERTISE: 'controller.example,localhost',
      EDGEWEAVE_SIM_PASSWORD: 'of a variable',
      EDGEWEAVE_SIM_LAB_TOKEN: labToken,
      EDGEWEAVE_SIM_READY_FILE: file,
      EDGEWEAVE_SIM_SEED: '',
    },
  });
  const line = await program.firstLine();
  t.match(JSON.parse(line), {
    ctrl: /^tls:controller\.example:\d+$/,
    password: 'of a variable',
    labToken,
    ca: `${file}.ca.pem`,
  });
  t.same(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(line));
  t.equal(statSync(file).mode & 0o777, 0o600);
  const health = () => runProgram(['entry/sim-cli.ts', 'health', '--ready', file]);
  t.match(await health(), { code: 0, stdout: 'ready\n' });
  await program.stop();
  t.match(await health(), { code: 1, stderr: /^not ready: .*service-ready\.json/ });
  t.notOk(existsSync(file));
});

t.test('the address of the dashboard is printed, unless it is turned off', async (t) => {
  for (const [flags, isOn] of [
    [[], true],
    [['--no-dashboard'], false],
  ] as const) {
    const program = start(`dashboard-${isOn}`, ...flags);
    t.equal('dashboard' in (await ready(program)), isOn);
    await program.stop();
    const child = spawn(process.execPath, ['entry/sim-cli.ts', 'start', ...flags]);
    const output = text(child.stdout);
    child.stdout.once('data', () => child.kill());
    t.equal(/^ {2}dashboard +https:\/\/127\.0\.0\.1:\d+\/lab\/$/m.test(await output), isOn);
  }
});

t.test('the printed addresses lead to the host that the simulator listens on', async (t) => {
  const table: [host: string, printed: string][] = [
    ['::1', '[::1]'],
    ['localhost', 'localhost'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '127.0.0.1'],
  ];
  for (const [host, printed] of table) {
    await using simulator = await startSimulator({ host, password: 'secret', passwordCost: TEST_COST });
    t.equal(simulator.controlAddress, `tls:${printed}:${simulator.port}`, host);
    const { managementUrl, ca } = simulator;
    await (await openManagement(managementUrl, ca, 'admin', 'secret')).close();
  }
});

t.test('with a data file: same port, same authority, same password, private', async (t) => {
  const data = join(directory, 'sim.db');
  const first = start('first', '--data', data, '--username', 'root', '--password', 'a long secret');
  const before = await ready(first);
  t.match(before, { username: 'root', password: 'a long secret' });
  const authority = readFileSync(before.ca, 'utf8');
  await first.stop();
  t.equal(statSync(data).mode & 0o777, 0o600);
  const second = start('second', '--data', data);
  const after = await ready(second);
  t.equal(after.port, before.port);
  t.equal(after.password, null, 'a stored password is not printed');
  t.equal(readFileSync(after.ca, 'utf8'), authority);
  await (await openManagement(after.management, authority, 'root', 'a long secret')).close();
  const third = await runProgram(['entry/sim-cli.ts', 'start', '--data', data, '--port', '0']);
  t.equal(third.code, 1);
  t.match(third.stderr, /sim\.db is not usable as a data file: it is in use by /, 'one data file, one simulator');
  if (existsSync('/proc/self/fd')) t.match(third.stderr, new RegExp(`process ${after.pid} \\(.*cli\\.ts start\\)`));
  await second.stop();
});

t.test('a damaged data file is rejected with the file, the table and the row', async (t) => {
  const data = join(directory, 'damaged.db');
  const program = start('healthy', '--data', data);
  await ready(program);
  await program.stop();
  const table: [sql: string, named: RegExp][] = [
    [
      "UPDATE entity SET body = 'x' WHERE rowid = 3",
      /damaged\.db is damaged: table entity, row 3 \(\w+ .*\): .*not JSON; start from/,
    ],
    [
      "DELETE FROM entity; UPDATE meta SET value = '{}' WHERE key LIKE '%root%'",
      /is damaged: table meta, row \S*root\S*: it does/,
    ],
    [
      "UPDATE meta SET value = 'x' WHERE key = 'listener.port'; DELETE FROM meta WHERE key LIKE '%root%'",
      /row listener\.port: /,
    ],
  ];
  for (const [sql, named] of table) {
    const database = new DatabaseSync(data);
    database.exec(sql);
    database.close();
    const { code, stderr } = await runProgram(['entry/sim-cli.ts', 'start', '--data', data]);
    t.equal(code, 1);
    t.match(stderr, named);
    t.notMatch(stderr, /\bat .*\.ts:\d+/);
  }
});

t.test('start errors are one line with the remedy', async (t) => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const { port } = holder.address() as AddressInfo;
  const broken = join(directory, 'broken.db');
  writeFileSync(broken, 'no database '.repeat(100));
  const table: [string[], number, RegExp][] = [
    [['--port', String(port)], 1, /in use.*--port/],
    [['--data', broken], 1, /is not usable as a data file/],
    [['--data', directory], 1, /is not usable as a data file: .* is a folder; name a file\n$/],
    [['--data', join(directory, 'no', 'sim.db')], 1, /data file: the folder .*no does not exist; create it\n$/],
    [['--host', '203.0.113.1'], 1, /EADDRNOTAVAIL|not available|cannot start/],
    [['--port', '70000'], 2, /0 to 65535/],
    [['--port', 'http'], 2, /whole number/],
    [['--bogus'], 2, /unknown option/],
  ];
  for (const [args, code, text] of table) {
    const outcome = await runProgram(['entry/sim-cli.ts', 'start', ...args]);
    t.equal(outcome.code, code, args.join(' '));
    t.match(outcome.stderr, text, args.join(' '));
    t.notMatch(outcome.stderr, /\bat .*\.ts:\d+/);
  }
  holder.close();
});

t.test('the command and startSimulator reject invalid options with the same message', async (t) => {
  const missing = join(directory, 'nowhere', 'events');
  const table: [flags: string[], options: Record<string, unknown>, sentence: RegExp][] = [
    [
      ['--host', 'foo bar'],
      { host: 'foo bar' },
      /Use a host name or an IP address without a port, for example sim\.example\./,
    ],
    [
      ['--advertise', 'foo bar'],
      { advertise: ['foo bar'] },
      /Use a host name or an IP address without a port, for example sim\.example\./,
    ],
    [['--username', 'ann'], { username: 'ann' }, /It must have 4 to 100 characters, not 3\./],
    [['--password', 'abc'], { password: 'abc' }, /It must have 5 to 100 characters, not 3\./],
    [['--data', ''], { data: '' }, /It must not be empty\./],
    [['--port', '70000'], { port: 70_000 }, /It must be a whole number from 0 to 65535\./],
    [['--port', ''], { port: '' }, /It must be a whole number from 0 to 65535\./],
    [['--events', 'linc'], { eventTypes: ['linc'] }, /Event types: alert, apiSession, .*\. Did you mean link\?/],
    [
      ['--events-file', './same', '--data', 'same'],
      { eventsFile: './same', data: 'same' },
      /events need a file of their own: .* is also a file of the data/,
    ],
    [['--events', 'link'], { eventTypes: ['link'] }, /give the file too \(eventsFile, --events-file; /],
    [
      ['--events-file', missing],
      { eventsFile: missing },
      /events file .*nowhere.events cannot be written: the folder .* does not exist; create it/,
    ],
    [['--console', directory], { console: directory }, /holds no built web console/],
  ];
  for (const [flags, options, sentence] of table) {
    const { code, stderr } = await runProgram(['entry/sim-cli.ts', 'start', ...flags]);
    const isStart = /cannot be written|web console/.test(String(sentence));
    t.equal(code, isStart ? 1 : 2, flags.join(' '));
    t.match(stderr, sentence);
    await t.rejects(startSimulator(options as SimulatorOptions), { message: sentence }, JSON.stringify(options));
  }
});

t.test('the log needs a file of its own', async (t) => {
  const file = join(t.testdir(), 'same');
  for (const [flag, log] of [
    ['--data', file],
    ['--data', `${file}.ca.pem`],
    ['--data', `${file}-wal`],
    ['--events-file', file],
  ] as const) {
    const { code, stderr } = await runProgram(['entry/sim-cli.ts', 'start', '--log-file', log, flag, file]);
    t.equal(code, 2, flag);
    const why = `the log needs a file of its own: ${log} is also a file of ${flag}; choose another one with --log-file`;
    t.match(stderr, why);
  }
});

t.test('a named pipe without a reader as the log file is an error', async (t) => {
  const pipe = join(t.testdir(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const { code, stderr } = await runProgram(['entry/sim-cli.ts', 'start', '--log-file', pipe]);
  t.equal(code, 1);
  t.match(stderr, `the log file ${pipe}: ${pipe} is a named pipe without a reader; start its reader first`);
});

t.test('a later start keeps the password and prints how to set a new one; --password sets it', async (t) => {
  const data = join(directory, 'password.db');
  const login = async ({ management: url, ca }: Ready, username: string, password: string) =>
    (await openManagement(url, readFileSync(ca, 'utf8'), username, password)).close();
  const first = start('first-password', '--data', data, '--username', 'root');
  const initial = await ready(first);
  t.notOk('passwordNote' in initial);
  await first.stop();
  const second = start('kept-password', '--data', data);
  const kept = await ready(second);
  t.match(kept, {
    username: 'root',
    password: null,
    passwordNote: /earlier start with .*password\.db; .*--password NEW_PASSWORD/,
  });
  await t.resolves(login(kept, 'root', initial.password ?? ''));
  await second.stop();
  const third = start('new-password', '--data', data, '--password', 'a new secret');
  const renewed = await ready(third);
  t.match(renewed, { username: 'root', password: 'a new secret' }, 'the name is unchanged');
  await t.resolves(login(renewed, 'root', 'a new secret'));
  await t.rejects(login(renewed, 'root', initial.password ?? ''), 'the old one is rejected');
  await third.stop();
  const fourth = start('new-name', '--data', data, '--username', 'chief');
  await t.resolves(login(await ready(fourth), 'chief', 'a new secret'), 'the password is unchanged');
  await fourth.stop();
  const child = spawn(process.execPath, ['entry/sim-cli.ts', 'start', '--data', data]);
  const output = text(child.stdout);
  child.stdout.once('data', () => child.kill());
  t.match(
    await output,
    /username +chief\n +password +\(set by an earlier start with .*; .*--password NEW_PASSWORD to set a new one\)/,
  );
  const help = await runProgram(['entry/sim-cli.ts', 'start', '--help']);
  t.match(help.stdout, /A\s+later\s+start\s+can\s+set\s+a\s+new\s+one/);
  t.match(help.stdout, /start --data sim\.db --password NEW_PASSWORD/);
});

t.test('operations: lists served operations as text and as JSON', async (t) => {
  const text = await runProgram(['entry/sim-cli.ts', 'operations']);
  t.equal(text.code, 0);
  t.match(text.stdout, /^GET +\/edge\/management\/v1\/identities +listIdentities +identity\.read +200$/m);
  t.match(text.stdout, /^(\d+) of \1 operations are served$/m);
  const json = await runProgram(['entry/sim-cli.ts', 'operations', '--format', 'json']);
  const rows = JSON.parse(json.stdout) as { answers: string }[];
  t.ok(rows.length > 290);
  t.notOk(rows.some(({ answers }) => answers === 'missing'));
});

t.test('a reader that closes the pipe, like head, causes no error', async (t) => {
  for (const args of [
    ['entry/sim-cli.ts', 'operations'],
    ['entry/sim-cli.ts', 'start', '--help'],
  ])
    t.match(await runProgram(args, { isDeaf: true }), { code: 0, stderr: '' }, args.join(' '));
});
