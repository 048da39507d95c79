// A router and a simulator whose log is not read: they continue to work, and SIGTERM ends them.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { Alpn } from '#wire/connection/tls-port.ts';
import { webServer } from '../support/config/link-config.ts';
import { open } from '../support/hostile/attacker.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { portsOfProcess } from '../support/networks/processes.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Each handshake logs a line at level debug; together they exceed the capacity of a pipe. */
const HANDSHAKES = 1_000;
const GROUP = 50;

/** Starts a program whose standard error is a pipe without a reader. */
function startUnread(directory: string, args: readonly string[]): { child: ChildProcess; pipe: number } {
  const [file = '', ...rest] = args;
  const path = join(directory, `pipe-${Date.now()}`);
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, 'r+');
  const child = spawn(process.execPath, [join(ROOT, file), ...rest], { stdio: ['ignore', 'ignore', pipe] });
  return { child, pipe };
}

/** Opens connections with bytes that are not TLS. */
async function failHandshakes(port: number): Promise<void> {
  for (let done = 0; done < HANDSHAKES; done += GROUP) {
    await Promise.all(
      Array.from({ length: GROUP }, async () => {
        const socket = createConnection(port, '127.0.0.1', () => socket.end('GET / HTTP/1.1\r\n\r\n'));
        socket.on('error', () => undefined).resume();
        await once(socket, 'close');
      }),
    );
  }
}

/** The port of a simulator that has written its ready file. */
async function portIn(readyFile: string): Promise<number> {
  await until('the ready file', () => existsSync(readyFile));
  return (JSON.parse(readFileSync(readyFile, 'utf8')) as { port: number }).port;
}

async function isOpen(port: number): Promise<boolean> {
  try {
    (await open({ port, alpn: Alpn.Http })).destroy();
    return true;
  } catch {
    return false;
  }
}

t.test('programs whose log is not read continue to serve, and stop on request', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.enrollRouter({
    name: 'a',
    mode: 'host',
    extra: { web: [webServer(0, 'health-checks')] },
  });
  const ready = join(overlay.directory, 'ready.json');
  const verbose = ['--log-level', 'debug', '--log-format', 'json'];
  const programs: readonly [string, () => Promise<number>, readonly string[]][] = [
    [
      'router',
      async () => (await portsOfProcess(configFile)).web[0] ?? 0,
      ['entry/router-cli.ts', 'run', configFile, ...verbose],
    ],
    ['simulator', () => portIn(ready), ['entry/sim-cli.ts', 'start', '--ready-file', ready, ...verbose]],
  ];
  for (const [name, portOf, args] of programs) {
    const { child, pipe } = startUnread(overlay.directory, args);
    t.teardown(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const port = await portOf();
    await until(`the port of the ${name}`, () => isOpen(port));
    await failHandshakes(port);
    t.ok(await isOpen(port), `the ${name} serves`);
    child.kill('SIGTERM');
    t.same(await ended, [0, null], `the ${name} ends`);
    closeSync(pipe);
  }
});
