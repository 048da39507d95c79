// The operator socket with well-behaved and hostile clients.

import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { errorCode, ProjectError } from '#lib/errors.ts';
import { createLog, silentLog } from '#lib/log/log.ts';
import { LogLevels } from '#lib/log/log-levels.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { type Clock, SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { Channel } from '#wire/channel/channel.ts';
import { ONLY_ANSWERS } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { DEFAULT_LANE } from '#wire/lanes/lane-name.ts';
import { Message, resultMessage } from '#wire/message.ts';
import { until } from '../../test/support/until.ts';
import { AGENT_MAGIC, AgentMessage } from './agent-protocol.ts';
import { fileAt, removeFile } from './claim-path.ts';
import { askRouter } from './operator-client.ts';
import { agentLink, findOperatorPath, operatorPath, otherUsersWith } from './operator-path.ts';
import { type OperatorCommands, OperatorSocket } from './operator-socket.ts';
import { runningRouter } from './running-router.ts';

const directory = mkdtempSync(join(tmpdir(), 'operator-'));
const configFile = join(directory, 'router.yml');
writeFileSync(configFile, 'v: 3\n');
t.teardown(() => rmSync(directory, { recursive: true }));

/** Calls of the command `wait`. */
let waiting = 0;
const commands: OperatorCommands = {
  echo: ({ arguments: given }) => given,
  count: async ({ progress }) => {
    for (let count = 1; count <= 3; count++) progress(count);
    return 'done';
  },
  big: () => Array.from({ length: 10_000 }, (_, id) => ({ id, padding: 'x'.repeat(1_000) })),
  reject: () => {
    throw new ProjectError('NOT_NOW', 'not now');
  },
  wait: ({ signal }) => {
    waiting += 1;
    return new Promise((_, fail) => signal.addEventListener('abort', () => fail(new Error('gone'))));
  },
};

async function open(): Promise<OperatorSocket> {
  const opened = await OperatorSocket.open({ clock: new SystemClock(), log: silentLog, commands }, configFile);
  if (!opened) throw new Error('the socket could not be opened');
  return opened;
}

/** A program that listens on a socket with the shortest queue. */
const SUSPENDED = `require('node:net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => console.log('open'))`;

/** A process listens on the path and is killed. */
async function leaveSocket(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const owner = spawn(process.execPath, ['--eval', SUSPENDED, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(owner.stdout, 'data');
  owner.kill('SIGKILL');
  await once(owner, 'exit');
}

/** The answer of the router to some bytes, until it closes. */
function raw(bytes: string | Buffer, { end = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(operatorPath(configFile));
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('error', () => undefined).once('close', () => resolve(text));
    if (end) socket.end(bytes);
    else socket.write(bytes);
  });
}

t.test('a command receives its arguments, reports progress, and answers; errors keep their code', async (t) => {
  const socket = await open();
  t.same(await askRouter(configFile, 'echo', { arguments: { a: [1] } }), { a: [1] });
  const progress: unknown[] = [];
  t.equal(await askRouter(configFile, 'count', { onProgress: (each) => progress.push(each) }), 'done');
  t.same(progress, [1, 2, 3]);
  t.equal(((await askRouter(configFile, 'big')) as unknown[]).length, 10_000);
  await t.rejects(askRouter(configFile, 'reject'), { code: 'NOT_NOW', message: 'not now' });
  await t.rejects(askRouter(configFile, 'toString'), { code: 'UNKNOWN_COMMAND' });
  t.match(await raw('{"command":"echo"}\n', { end: true }), /^\{"result":\{\}\}\n$/, 'a client may end its side');
  socket.close();
  await t.rejects(askRouter(configFile, 'echo'), { code: 'ENOENT' });
});

t.test('a second router with the same file leaves the socket to the first one, and logs the reason', async (t) => {
  const first = await open();
  t.teardown(() => first.close());
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const second = await OperatorSocket.open({ clock: new SystemClock(), log, commands }, configFile);
  t.equal(second, undefined);
  t.match(lines.join(''), `another router is running with ${configFile}; stop one of them`);
  t.same(await askRouter(configFile, 'echo'), {});
});

t.test('of routers that start at once with a stale socket, one has the socket and the others leave it', async (t) => {
  const path = operatorPath(configFile);
  for (let round = 0; round < 5; round++) {
    await leaveSocket(path);
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line) });
    const start = () => OperatorSocket.open({ clock: new SystemClock(), log, commands }, configFile);
    const opened = await Promise.all(Array.from({ length: 6 }, start));
    const owners = opened.filter((each) => each !== undefined);
    t.equal(owners.length, 1);
    t.equal(lines.filter((line) => /another router is running/.test(line)).length, 5);
    t.same(await askRouter(configFile, 'echo'), {});
    owners[0]?.close();
    t.notOk(existsSync(path));
    t.same(
      readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path))),
      [],
      'nothing is left',
    );
  }
});

t.test('a file that replaced another one is not removed in its place', async (t) => {
  const path = join(directory, 'replaced');
  writeFileSync(path, 'first');
  const found = fileAt(path);
  writeFileSync(`${path}.next`, 'second');
  renameSync(`${path}.next`, path);
  removeFile(path, found);
  t.equal(readFileSync(path, 'utf8'), 'second');
  removeFile(path, fileAt(path));
  t.notOk(existsSync(path));
  removeFile(path, found);
});

t.test('a file stays if something is beside it that this process cannot replace', async (t) => {
  const path = join(directory, 'blocked');
  writeFileSync(path, 'ours');
  const aside = `${path}.${process.pid}`;
  mkdirSync(join(aside, 'of another user'), { recursive: true });
  removeFile(path, fileAt(path));
  t.equal(readFileSync(path, 'utf8'), 'ours');
  t.ok(existsSync(aside));
});

t.test('a router whose socket has a full queue runs', { skip: process.platform !== 'linux' }, async (t) => {
  const path = operatorPath(configFile);
  const owner = spawn(process.execPath, ['--eval', SUSPENDED, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => owner.kill('SIGKILL'));
  await once(owner.stdout, 'data');
  owner.kill('SIGSTOP');
  const clients: Socket[] = [];
  t.teardown(() => clients.map((client) => client.destroy()));
  let problem = '';
  for (let count = 0; count < 50 && problem === ''; count++) {
    const client = connect(path);
    clients.push(client);
    problem = await new Promise((resolve) => {
      client.once('connect', () => resolve('')).once('error', (error) => resolve(errorCode(error) ?? 'unknown'));
    });
  }
  t.equal(problem, 'EAGAIN', 'the queue is full');
  t.equal(await runningRouter(configFile), path);
  t.equal(await OperatorSocket.open({ clock: new SystemClock(), log: silentLog, commands }, configFile), undefined);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  t.equal(await runningRouter(configFile), undefined);
  const next = await open();
  next.close();
});

t.test('a path that is too long for a socket is reported with the remedy', async (t) => {
  const folder = join(directory, 'long'.repeat(25));
  mkdirSync(folder);
  const { TMPDIR: before } = process.env;
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  process.env.TMPDIR = folder;
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  t.equal(await OperatorSocket.open({ clock: new SystemClock(), log, commands }, configFile), undefined);
  t.match(lines, [/too long: set TMPDIR/]);
  t.notMatch(lines, [/another router/]);
});

t.test('a system that cannot accept a connection for lack of memory costs the router no more than that', async (t) => {
  let server: Server | undefined;
  const onAccepted = (event: unknown) => {
    server ??= (event as { socket: { server: Server } }).socket.server;
  };
  subscribe('net.server.socket', onAccepted);
  t.teardown(() => unsubscribe('net.server.socket', onAccepted));
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const socket = await OperatorSocket.open({ clock: new SystemClock(), log, commands }, configFile);
  await askRouter(configFile, 'echo');
  for (let count = 0; count < 3; count++) server?.emit('error', new Error('accept ENOMEM'));
  t.equal(lines.filter((line) => /operator socket failed/.test(line)).length, 3);
  t.same(await askRouter(configFile, 'echo'), {});
  socket?.close();
});

t.test('only the user of the router reaches the socket', async (t) => {
  const socket = await open();
  const path = operatorPath(configFile);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  socket.close();
});

t.test(
  "a folder with wide permissions is made private, and another user's folder is used by neither side",
  async (t) => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = directory;
    t.teardown(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });
    const folder = dirname(operatorPath(configFile));
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    const lines: string[] = [];
    const log = createLog({ write: (line) => lines.push(line) });
    const components = { clock: new SystemClock(), log, commands };
    const opened = await OperatorSocket.open(components, configFile);
    t.equal(statSync(folder).mode & 0o777, 0o700);
    opened?.close();
    rmSync(folder, { recursive: true });
    symlinkSync(directory, folder);
    t.equal(await OperatorSocket.open(components, configFile), undefined);
    t.match(lines.join(''), /operator socket cannot be opened/);
    await t.rejects(askRouter(configFile, 'echo'), { code: 'FOLDER_TAKEN' });
  },
);

t.test('garbage, a huge line and invalid requests are rejected, half a line gets no answer', async (t) => {
  const socket = await open();
  for (const bytes of [
    'garbage\n',
    '\n',
    '[]\n',
    'null\n',
    '{"command":1}\n',
    '{"command":"echo","arguments":[]}\n',
    `${'['.repeat(5_000)}\n`,
    Buffer.alloc(1024 * 1024, 'x'),
    Buffer.concat([Buffer.alloc(20_000, 'x'), Buffer.from('\n')]),
  ])
    t.match(await raw(bytes), /^\{"error":\{"code":"BAD_REQUEST"/, String(bytes).slice(0, 40));
  t.equal(await raw('{"command":"ec', { end: true }), '', 'half a line');
  t.same(await askRouter(configFile, 'echo'), {});
  socket.close();
});

t.test('a thousand connections are bounded, and block others only until their requests time out', async (t) => {
  const socket = await open();
  const path = operatorPath(configFile);
  const flood: Socket[] = [];
  for (let count = 0; count < 1_000; count++) {
    const client = connect(path);
    client.on('error', () => undefined);
    flood.push(client);
  }
  await until('at most ten open connections', () => flood.filter((client) => !client.closed).length <= 10);
  for (const client of flood) client.destroy();
  let answer: unknown;
  await until('a place for another client', async () => {
    answer = await askRouter(configFile, 'echo').catch(() => undefined);
    return answer !== undefined;
  });
  t.same(answer, {});
  socket.close();
});

t.test('a waiting command ends with the socket, and with its client', async (t) => {
  const socket = await open();
  const answer = askRouter(configFile, 'wait');
  await until('the command to wait', () => waiting > 0);
  socket.close();
  await t.rejects(answer, /closed the connection/);
});

t.test('clients of the protocol of the reference agent change log levels and open a channel', async (t) => {
  const levels = new LogLevels('info');
  levels.follow('link', { level: 'info' });
  const served: number[] = [];
  const agent = {
    io: new IoContext({ clock: new SystemClock() }),
    log: silentLog,
    routerId: 'r1',
    version: 'v1',
    logLevels: levels,
    stackDump: () => 'stack',
    serve: (request: Message) => {
      served.push(request.contentType);
      return Promise.resolve(resultMessage(true, 'done'));
    },
  };
  const components = { clock: new SystemClock(), log: silentLog, commands, agent };
  const socket = await OperatorSocket.open(components, configFile);
  const ask = (...bytes: number[]) => raw(Buffer.concat([AGENT_MAGIC, Buffer.from(bytes)]));
  t.equal(readlinkSync(agentLink()), operatorPath(configFile), 'it is found by the process id');
  t.equal(await ask(0x1), 'stack');
  t.match(JSON.parse(await ask(0x16)), { type: 'router', id: 'r1', agent_capabilities: [] });
  t.equal(await ask(0x11, 5), 'log level set from info to debug\n');
  t.equal(levels.level, 'debug');
  t.match(await ask(0x11, 9), /^invalid log level 9/);
  t.equal(await ask(0x13, 8, ...Buffer.from('link'), 6), 'log level for channel link set to trace\n');
  t.same(levels.components, { link: 'trace' });
  t.match(await ask(0x13, 8, ...Buffer.from('lnks'), 6), /^unknown component "lnks"/);
  t.match(await ask(0x14, 8, ...Buffer.from('link')), /cleared/);
  t.match(await ask(0x99), /does not support operation 153/);
  t.equal(await ask(0x2), 'ok\n');
  t.match(await ask(0x3), /^resident: \d+\.\dMiB \(\d+ bytes\)\nheapUsed: /);
  t.match(await ask(0x7), /^seconds: \d+\ncpuSeconds: [\d.]+\n/);
  t.match(await ask(0xa), /^{"type":"router","id":"r1"/);
  t.match(await ask(0xb), /does not support heap dumps, which contain keys; use pprof-heap\n$/);
  t.match(await ask(0x15, 7), /^invalid app id 7/);
  t.equal(await ask(0x15, 2, ...Buffer.alloc(40, 'x')), '', 'a connection without a hello is closed');

  const connection = connect(operatorPath(configFile));
  connection.write(Buffer.concat([AGENT_MAGIC, Buffer.from([0x15, 2])]));
  const underlay = new Underlay({ socket: connection, io: agent.io });
  const hello = await sendHello(underlay, 'cli', [], 5_000);
  t.equal(hello.string(ChannelHeader.ListenerId), 'r1');
  const channel = new Channel({
    name: 'test',
    peerId: 'r1',
    connectionId: '',
    io: agent.io,
    log: silentLog,
    limits: { maxHeaders: 1_000, maxBody: 1_000 },
    lanes: new Map([[DEFAULT_LANE, { types: [''], queueLimit: 10 }]]),
    heartbeat: ONLY_ANSWERS,
  });
  channel.addUnderlay(underlay);
  const reply = await channel.request(new Message(AgentMessage.Quiesce), { timeout: 60_000 });
  t.match([reply.bool(ChannelHeader.ResultSuccess), reply.body.toString()], [true, 'done']);
  t.same(served, [AgentMessage.Quiesce]);
  const refusal = await channel.request(new Message(10_072), { timeout: 60_000 });
  t.equal(refusal.bool(ChannelHeader.ResultSuccess), false);
  t.equal(refusal.body.toString(), 'this router does not close or open a control channel on request');
  channel.close();
  socket?.close();
  t.throws(() => readlinkSync(agentLink()), { code: 'ENOENT' });

  const clock = new VirtualClock();
  const profiled = await OperatorSocket.open(
    { ...components, agent: { ...agent, io: new IoContext({ clock }) } },
    configFile,
  );
  for (const [operation, key] of [
    [0x5, 'head'],
    [0x6, 'nodes'],
  ] as const) {
    const profile = ask(operation);
    while (clock.timers().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await clock.advance(30_000);
    t.ok(JSON.parse(await profile)[key], `a profile of 30 s: ${key}`);
  }
  profiled?.close();
});

/** A socket that also serves the protocol of the reference's agent. */
async function openForAgent(t: Test, clock: Clock = new SystemClock()) {
  const levels = new LogLevels('info');
  levels.follow('link', { level: 'info' });
  const agent = {
    io: new IoContext({ clock }),
    log: silentLog,
    routerId: 'r1',
    version: 'v1',
    logLevels: levels,
    stackDump: () => 'stack',
    serve: () => undefined,
  };
  const socket = await OperatorSocket.open({ clock, log: silentLog, commands, agent }, configFile);
  t.teardown(() => socket?.close());
}

t.test('the agent of another process with the same id keeps its name', async (t) => {
  const other = createServer((socket) => socket.on('error', () => undefined).end('other'));
  await new Promise<void>((done) => other.listen(agentLink(), done));
  const agent = {
    io: new IoContext({ clock: new SystemClock() }),
    log: silentLog,
    routerId: 'r1',
    version: 'v1',
    logLevels: new LogLevels('info'),
    stackDump: () => 'stack',
    serve: () => Promise.resolve(resultMessage(true, 'done')),
  };
  const components = { clock: new SystemClock(), log: silentLog, commands, agent };
  const socket = await OperatorSocket.open(components, configFile);
  t.ok(socket, 'the router is served');
  t.equal(await text(connect(agentLink())), 'other');
  socket?.close();
  t.equal(await text(connect(agentLink())), 'other', 'also after its end');
  other.close();
});

t.test('the agent names of killed routers with the same file are removed, others stay', async (t) => {
  const name = (pid: number) => join(tmpdir(), `gops-agent.${pid}.sock`);
  const [killed, other] = [name(999_999_001), name(999_999_002)];
  t.teardown(() => [killed, other].map((path) => rmSync(path, { force: true })));
  const path = operatorPath(configFile);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, ''); // a killed router leaves its socket
  symlinkSync(path, killed);
  symlinkSync(join(directory, 'other.sock'), other);
  await openForAgent(t);
  t.throws(() => readlinkSync(killed), { code: 'ENOENT' });
  t.equal(readlinkSync(other), join(directory, 'other.sock'));
  t.equal(readlinkSync(agentLink()), operatorPath(configFile));
});

t.test('a request of the reference agent may arrive in two pieces', async (t) => {
  await openForAgent(t);
  const long = Buffer.alloc(200, 'x'); // its length takes two bytes
  const rows: [Buffer, RegExp][] = [
    [Buffer.from([0x1]), /^stack$/],
    [Buffer.from([0x11, 5]), /^log level set from \w+ to debug/],
    [Buffer.from([0x13, 8, ...Buffer.from('link'), 6]), /^log level for channel link set to trace/],
    [Buffer.from([0x13, 0x90, 0x03, ...long, 6]), /^unknown component "x{200}"/],
    [Buffer.from([0x14, 8, ...Buffer.from('link')]), /^log level for channel link cleared/],
    [Buffer.from([0x15, 7]), /^invalid app id 7/],
  ];
  for (const [operation, expected] of rows) {
    const request = Buffer.concat([AGENT_MAGIC, operation]);
    for (let cut = 1; cut < Math.min(request.length, 24); cut++) {
      const client = connect(operatorPath(configFile));
      client.write(request.subarray(0, cut));
      await askRouter(configFile, 'echo'); // by its answer, the router has read the first piece
      client.write(request.subarray(cut));
      const answer = await text(client);
      if (!expected.test(answer)) t.match(answer, expected, `${operation.toString('hex')} cut at ${cut}`);
    }
    t.pass(operation.toString('hex'));
  }
});

t.test('an incomplete request of the reference agent gets its error at its end, or is closed in time', async (t) => {
  const clock = new VirtualClock();
  await openForAgent(t, clock);
  const ask = (...bytes: number[]) => raw(Buffer.concat([AGENT_MAGIC, Buffer.from(bytes)]), { end: true });
  t.match(await ask(), /does not support operation 0/);
  t.match(await ask(0x11), /^invalid log level undefined/);
  t.match(await ask(0x13, 8, 0x6c), /^the name is incomplete/);
  t.match(await ask(0x13, 8, ...Buffer.from('link')), /^invalid log level undefined/);
  t.match(await ask(0x14, 8, 0x6c), /^the name is incomplete/);
  t.match(await ask(0x14), /^the name is incomplete/);
  t.match(await ask(0x14, 0xff, 0xff), /^the name is too long/);
  t.equal(await raw(AGENT_MAGIC.subarray(0, 2), { end: true }), '');
  t.match(await raw(AGENT_MAGIC.subarray(0, 5), { end: true }), /BAD_REQUEST/);

  const silent = raw(AGENT_MAGIC);
  await askRouter(configFile, 'echo');
  await clock.advance(5_000);
  t.equal(await silent, '');
});

t.test('agent clients that have their answer and do not disconnect lose their places', async (t) => {
  const clock = new VirtualClock();
  await openForAgent(t, clock);
  const idle = Array.from({ length: 10 }, () => connect({ path: operatorPath(configFile), allowHalfOpen: true }));
  t.teardown(() => idle.map((client) => client.destroy()));
  await Promise.all(
    idle.map((client, index) => {
      client.on('error', () => undefined).write(Buffer.concat([AGENT_MAGIC, Buffer.from([index % 2 ? 0x4 : 0x99])]));
      return once(client.resume(), 'end');
    }),
  );
  await clock.advance(30_000);
  t.same(await askRouter(configFile, 'echo'), {});
});

/** A user without files and processes. */
const OTHER_USER = 54_321;
const onlyRoot = { skip: process.getuid?.() !== 0 && 'only root finds the routers of other users' };

t.test('root finds the router of the user who owns the configuration, and no other socket', onlyRoot, async (t) => {
  const folder = join(tmpdir(), `edgeweave-${OTHER_USER}`);
  const state = mkdtempSync(join(tmpdir(), 'operator-state-'));
  const file = join(state, 'router.yml');
  writeFileSync(file, 'v: 3\n');
  mkdirSync(folder, { mode: 0o700 });
  t.teardown(() => [folder, state].map((path) => rmSync(path, { recursive: true })));
  const path = join(folder, basename(operatorPath(file)));
  const server = createServer((socket) => socket.on('error', () => undefined).end('{"result":"theirs"}\n')).listen(
    path,
  );
  t.teardown(() => server.close());
  await once(server, 'listening');
  chownSync(folder, OTHER_USER, OTHER_USER);
  t.not(findOperatorPath(file), path, 'any user may create a socket for a file of root');
  t.same(otherUsersWith(file), [OTHER_USER], 'the message names that user');
  await t.rejects(askRouter(file, 'health'), { code: 'ENOENT' });

  chownSync(state, OTHER_USER, OTHER_USER);
  t.equal(findOperatorPath(file), path, 'the owner of the folder may replace the file');
  t.equal(await askRouter(file, 'health'), 'theirs');
  t.equal(await runningRouter(file), path, 'root does not start a second router');
  chownSync(folder, 0, 0);
  renameSync(folder, `${folder}-real`);
  symlinkSync(`${folder}-real`, folder);
  t.teardown(() => rmSync(`${folder}-real`, { recursive: true }));
  t.throws(() => findOperatorPath(file), { code: 'FOLDER_TAKEN' }, 'a symbolic link may lead anywhere');
});

t.test('a service listens in the folder of its manager, and commands find it there', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'operator-'));
  const before = process.env.RUNTIME_DIRECTORY;
  t.teardown(() => {
    if (before === undefined) delete process.env.RUNTIME_DIRECTORY;
    else process.env.RUNTIME_DIRECTORY = before;
    rmSync(folder, { recursive: true });
  });
  const own = operatorPath(configFile);
  process.env.RUNTIME_DIRECTORY = `${folder}:/run/another`;
  t.equal(dirname(operatorPath(configFile)), folder);
  t.equal(findOperatorPath(configFile), own, 'without a service, the path of the user applies');
  const socket = await open();
  t.equal(findOperatorPath(configFile), operatorPath(configFile));
  t.same(await askRouter(configFile, 'echo', { arguments: { a: 1 } }), { a: 1 });
  socket.close();
  t.equal(findOperatorPath(configFile), own);

  // The manager removes the folder of a killed service, so that only the name is left.
  const killed = join(tmpdir(), 'gops-agent.999999003.sock');
  t.teardown(() => rmSync(killed, { force: true }));
  symlinkSync(operatorPath(configFile), killed);
  await openForAgent(t);
  t.throws(() => readlinkSync(killed), { code: 'ENOENT' });
});
