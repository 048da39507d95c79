// Strangers that hold connections until the router may open no further file: the router's own work continues.

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import { askRouter } from '../../agent/operator/operator-client.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { webServer } from '../support/config/link-config.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { portsOfProcess } from '../support/networks/processes.ts';
import { until } from '../support/until.ts';

const OPEN_FILES = 256;
const STRANGERS = 300;
const ROOT = join(import.meta.dirname, '../..');

/** A program as a process that may open few files. */
function startLimited(args: readonly string[], logFile: string): ChildProcess {
  const command = `ulimit -n ${OPEN_FILES}; exec "$0" "$@"`;
  const child = spawn('sh', ['-c', command, process.execPath, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  child.stderr?.pipe(createWriteStream(logFile));
  return child;
}

/** Opens connections that stay silent, or send a byte. */
async function hold(port: number, localAddress: string, text = ''): Promise<Socket[]> {
  const sockets = Array.from({ length: STRANGERS }, () =>
    connect({ port, host: '127.0.0.1', localAddress }, function (this: Socket) {
      this.write(text);
    })
      .on('error', () => undefined)
      .resume(),
  );
  const settled = (socket: Socket) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  await Promise.all(sockets.map(settled));
  return sockets;
}

t.test('a router with few descriptors obeys its operator while strangers hold connections', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const extra = { web: [webServer(0, 'health-checks')] };
  const a = await overlay.enrollRouter({ name: 'a', mode: 'proxy', extra });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  const logFile = join(overlay.directory, 'a.log');
  const child = startLimited([join(ROOT, 'entry/router-cli.ts'), 'run', a.configFile], logFile);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    child.kill();
    await exited;
  });
  const {
    proxy: [proxyPort = 0],
    web: [webPort = 0],
    link: [linkPort = 0],
  } = await portsOfProcess(a.configFile);
  await until('traffic', async () => (await transfer(proxyPort, 1).catch(() => undefined))?.bytes === 1);
  const held = [
    ...(await hold(proxyPort, '127.0.0.2', 'x')),
    ...(await hold(webPort, '127.0.0.3')),
    ...(await hold(linkPort, '127.0.0.4')),
  ];
  const files = () => readdirSync(`/proc/${child.pid}/fd`).length;
  t.ok(files() < OPEN_FILES - 20, `${files()} files are open`);
  const inspected = (await askRouter(a.configFile, 'inspect', { arguments: { names: ['config'] } })) as object;
  t.ok(inspected, 'the operator socket answers');
  child.kill('SIGHUP');
  await until('the reload', () => /"msg":"[^"]*reloaded/.test(readFileSync(logFile, 'utf8')));
  t.notMatch(readFileSync(logFile, 'utf8'), /EMFILE/);
  for (const socket of held) socket.destroy();
  await until('another circuit', async () => (await transfer(proxyPort, 1).catch(() => undefined))?.bytes === 1);
});

t.test('a simulator with few descriptors stores changes while strangers hold connections', async (t) => {
  const directory = t.testdir({});
  const ready = join(directory, 'ready.json');
  const data = join(directory, 'data.sqlite');
  const login = { username: 'admin', password: 'a long secret' };
  const credentials = Object.entries(login).flatMap(([name, value]) => [`--${name}`, value]);
  const args = [join(ROOT, 'entry/sim-cli.ts'), 'start', '--ready-file', ready, '--data', data, ...credentials];
  const child = startLimited(args, join(directory, 'log'));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    child.kill();
    await exited;
  });
  await until('the simulator', () => existsSync(ready));
  const { port } = JSON.parse(readFileSync(ready, 'utf8')) as { port: number };
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  t.teardown(() => agent.close());
  const ask = async (path: string, token: string, body: object) => {
    const answer = await request(`https://127.0.0.1:${port}/edge/management/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'zt-session': token },
      body: JSON.stringify(body),
      dispatcher: agent,
    });
    return { status: answer.statusCode, data: ((await answer.body.json()) as { data: { token: string } }).data };
  };
  const logIn = () => ask('/authenticate?method=password', '', login).catch(() => undefined);
  await until('the simulator', async () => (await logIn())?.status === 200);
  const held = [...(await hold(port, '127.0.0.2')), ...(await hold(port, '127.0.0.3', '\x16'))];
  const entered = await logIn();
  t.equal(entered?.status, 200);
  const identity = { name: 'new', type: 'Device', isAdmin: false };
  t.equal((await ask('/identities', entered?.data.token ?? '', identity)).status, 201);
  t.ok(readdirSync(`/proc/${child.pid}/fd`).length < OPEN_FILES - 20);
  for (const socket of held) socket.destroy();
});
