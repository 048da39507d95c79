// Errors of listening: content and remedy, and the detection of a port's holder.

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { basename } from 'node:path';
import t from 'tap';
import { ListenError, type ListenPlace, listening } from './listening.ts';
import { portHolder } from './port-holder.ts';

const PLACE: ListenPlace = { key: 'listeners[1].address', network: 'tcp', host: '127.0.0.1', port: 3022 };

function failing(code: string, syscall: string) {
  return () => Promise.reject(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }));
}

async function messageOf(place: ListenPlace, open: () => Promise<unknown>): Promise<string> {
  try {
    await listening(place, open);
  } catch (error) {
    if (error instanceof ListenError) return `${error.code} ${error.message}`;
    throw error;
  }
  return '';
}

t.test('each error names the setting, the address and the remedy', async (t) => {
  const rejected = (code: string, syscall: string, place: Partial<ListenPlace> = {}) =>
    messageOf({ ...PLACE, ...place }, failing(code, syscall));
  t.match(
    await rejected('EACCES', 'listen', { port: 443 }),
    /^EACCES listeners\[1\]\.address: tcp 127\.0\.0\.1:443 .*CAP_NET_BIND/,
  );
  t.notMatch(await rejected('EACCES', 'bind'), /CAP_NET/);
  t.match(
    await rejected('EADDRNOTAVAIL', 'listen', { host: '192.0.2.1' }),
    /has no address 192\.0\.2\.1; .*0\.0\.0\.0/,
  );
  t.match(
    await rejected('ENOTFOUND', 'getaddrinfo', { host: 'nobody.invalid' }),
    /the name nobody\.invalid has no address/,
  );
  t.match(
    await rejected('EAFNOSUPPORT', 'bind', { network: 'udp' }),
    /udp 127\.0\.0\.1:3022 cannot be listened on: bind EAF/,
  );
  await t.rejects(listening(PLACE, failing('ENOENT', 'open')), { code: 'ENOENT', message: 'open ENOENT' });
  t.equal(await listening(PLACE, async () => 7), 7);
});

t.test(
  'the error of a port in use names the program that holds it',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const program = `
    const server = require('node:net').createServer().listen(0, '127.0.0.1', () => {
      const socket = require('node:dgram').createSocket('udp6').bind(0, '::1', () =>
        console.log(server.address().port, socket.address().port));
    });`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => child.kill('SIGKILL'));
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
    const [stream = 0, datagram = 0] = String(line).trim().split(' ').map(Number);
    const held = `${basename(realpathSync(process.execPath))} (pid ${child.pid})`;
    t.equal(await portHolder('tcp', stream), held);
    t.equal(await portHolder('udp', datagram), held);
    // By chance, another program may hold the UDP port with this number.
    if (datagram !== stream) t.not(await portHolder('udp', stream), held, 'TCP and UDP ports are independent');
    const server = createServer();
    const open = async () => {
      server.listen(stream, '127.0.0.1');
      await once(server, 'listening');
    };
    const message = await messageOf({ ...PLACE, port: stream }, open);
    t.match(
      message,
      new RegExp(`^EADDRINUSE listeners.1..address: tcp 127.0.0.1:${stream} is in use by .*pid ${child.pid}`),
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    t.equal(await portHolder('tcp', stream), undefined, 'no process holds it any longer');
  },
);

t.test('the holder may be this process', { skip: process.platform !== 'linux' }, async (t) => {
  const server = createServer().listen(0, '::');
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(socket, 'listening')]);
  t.equal(await portHolder('tcp', (server.address() as AddressInfo).port), 'this process itself');
  t.equal(await portHolder('udp', socket.address().port), 'this process itself');
  server.close();
  socket.close();
});
