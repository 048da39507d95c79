// While strangers use more of the main thread than others should feel, an I/O thread takes their next connections. What
// follows TLS does not notice: HTTP in both directions, certificates, ends and failures are as before.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { HttpTimeouts } from '#http/http-timeouts.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { commonName, peerCertificates } from '#pki/certificates.ts';
import { issue, makeAuthority } from '../../../../test/support/clients/certificates.ts';
import { clientHello } from '../../../../test/support/hostile/client-hello.ts';
import { openSockets } from '../../../../test/support/hostile/leftovers.ts';
import { until } from '../../../../test/support/until.ts';
import { type ClientStream, type StreamHandler, TlsPort } from '../tls-port.ts';
import { ThreadedStream } from './threaded-stream.ts';

const HOST = '127.0.0.1';
const MIB = 1024 * 1024;
const PROGRAM = new URL('../../../../controller-sim/assembly/connection-thread.ts', import.meta.url);
/** Its notifications and messages are late, and it is busy now and then. */
const SLOW_PROGRAM = new URL('../../../../test/support/rooms/slow-io-thread.ts', import.meta.url);
const LIMITS = { read: 5_000, write: 5_000, idle: 5_000 };
const skip = whyNoSystemLibrary() ?? false;
const clock = new SystemClock();
const authority = await makeAuthority('network');

async function certificateOf(name: string) {
  const { pem, key } = await issue(authority, name, { ips: [HOST], hosts: [name] });
  return { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) as string };
}

/** Strangers have used more than others should feel. */
function beNoticeable({ unauthenticatedCpu }: IoContext): void {
  unauthenticatedCpu.run({ remoteAddress: '192.0.2.1' }, () => undefined, 60);
}

async function room(t: Test, handler: StreamHandler, program = PROGRAM) {
  const threads = new IoThreads({ count: 1, program, clock, log: silentLog });
  const io = new IoContext({ clock, threads });
  const context = await certificateOf('server');
  const port = await TlsPort.open({ io, host: HOST, port: 0, context, log: silentLog });
  const streams: ClientStream[] = [];
  port.handle('', (stream, connection) => {
    stream.on('error', () => undefined);
    streams.push(stream);
    handler(stream, connection);
  });
  t.teardown(async () => {
    await port.close();
    await threads.close();
  });
  beNoticeable(io);
  await until('the strangers to be noticed', () => io.unauthenticatedCpu.isNoticeable);
  const { port: number } = port.address;
  const dial = async (options: object = {}): Promise<TLSSocket> => {
    const socket = connect({ host: HOST, port: number, rejectUnauthorized: false, ...options });
    socket.on('error', () => undefined);
    t.teardown(() => socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };
  const carried = () => threads.inspect()[0]?.kinds.accepted ?? 0;
  const before = openSockets();
  const areClosed = () => until('all sockets to be closed', () => carried() === 0 && openSockets() <= before);
  return { io, threads, port: number, streams, dial, carried, areClosed };
}

/** Answers each request with what it knows of the client, or with the body. */
function serve(incoming: IncomingMessage, response: ServerResponse): void {
  if (incoming.method === 'POST') {
    incoming.pipe(response);
    return;
  }
  const stream = incoming.socket as ClientStream;
  const [leaf] = peerCertificates(stream);
  response.end(JSON.stringify({ leaf: leaf && commonName(leaf), remote: stream.remoteAddress }));
}

for (const program of [PROGRAM, SLOW_PROGRAM])
  t.test(`HTTP over a ${program === PROGRAM ? 'thread' : 'late thread'}`, { skip }, async (t) => {
    const http = createServer();
    let timeouts: HttpTimeouts | undefined;
    const { io, port, streams, carried, areClosed } = await room(t, (stream) => timeouts?.accept(stream), program);
    timeouts = new HttpTimeouts(http, io, LIMITS, serve);
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ...(await certificateOf('client')) });
    t.teardown(() => agent.destroy());
    const exchange = async (method: string, body?: Buffer): Promise<Buffer> => {
      const sent = request({ host: HOST, port, method, agent, rejectUnauthorized: false }).end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return Buffer.concat(await answer.toArray());
    };
    t.same(JSON.parse(String(await exchange('GET'))), { leaf: 'client', remote: HOST });
    for (const length of [1, 17, 70_000, 3 * MIB]) {
      const body = Buffer.alloc(length, `${length} `);
      t.ok((await exchange('POST', body)).equals(body), `a body of ${length} bytes`);
    }
    t.equal(streams.length, 1, 'one connection');
    t.type(streams[0], ThreadedStream);
    t.equal(carried(), 1);
    agent.destroy();
    await areClosed();
  });

t.test('a client with few strangers around it stays on the main thread', { skip }, async (t) => {
  const { io, dial, streams, carried } = await room(t, (stream) => void stream.resume());
  io.unauthenticatedCpu.run({ remoteAddress: HOST }, () => undefined, -60);
  await until('the strangers to be forgotten', () => !io.unauthenticatedCpu.isNoticeable);
  await dial();
  await until('the connection', () => streams.length === 1);
  t.notOk(streams[0] instanceof ThreadedStream);
  t.equal(carried(), 0);
});

t.test('what a client does not read waits at the writer', { skip }, async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let written = 0;
  const { dial, streams } = await room(t, (stream) => {
    const fill = () => {
      while (written < 64 * MIB) {
        written += chunk.length;
        if (!stream.write(chunk)) return void stream.once('drain', fill);
      }
      stream.end();
    };
    fill();
  });
  const client = await dial();
  client.pause();
  await until('the writer to wait', () => streams[0]?.writableNeedDrain === true);
  const waiting = written;
  t.ok(waiting < 32 * MIB, `${waiting} bytes`);
  let read = 0;
  client.on('data', ({ length }: Buffer) => {
    read += length;
  });
  client.resume();
  await once(client, 'end');
  t.equal(read, 64 * MIB);
});

t.test('each direction ends by itself, if the listener wants that', { skip }, async (t) => {
  const { dial } = await room(t, (stream) => {
    stream.allowHalfOpen = true;
    stream.resume().once('end', () => stream.write('after the end', () => stream.end()));
  });
  const client = await dial({ allowHalfOpen: true });
  client.end('all');
  t.equal(String(Buffer.concat(await client.toArray())), 'after the end');
});

t.test('otherwise the end of a client ends the connection', { skip }, async (t) => {
  const { dial, areClosed } = await room(t, (stream) => void stream.resume());
  const client = await dial({ allowHalfOpen: true });
  client.end();
  await once(client.resume(), 'close');
  await areClosed();
});

t.test('a connection that fails, and one whose thread ends, close', { skip }, async (t) => {
  const { dial, streams, threads, areClosed } = await room(t, (stream) => void stream.resume());
  const [one] = [await dial(), await dial()];
  await until('both connections', () => streams.length === 2);
  const closed = streams.map((stream) => new Promise((resolve) => stream.once('close', resolve)));
  one.destroy();
  await closed[0];
  await threads.close();
  await closed[1];
  t.ok(streams[1]?.errored, 'with a cause');
  await areClosed();
});

t.test('strangers who keep connections open lose places to others', { skip }, async (t) => {
  const { dial, io, carried, port, streams } = await room(t, (stream) => void stream.resume().write('served'));
  const first = await clientHello('');
  const many = Array.from({ length: 250 }, () => {
    const socket = connectTcp({ host: HOST, port, localAddress: '127.7.7.7' });
    socket.on('error', () => undefined).resume();
    t.teardown(() => socket.destroy());
    socket.write(first);
    return socket;
  });
  await until('the places to be taken', () => io.strangersInThreads.size === 192);
  t.ok(carried() <= 256, `${carried()} connections in the thread; the others stay on the main thread`);
  beNoticeable(io);
  const client = await dial({ localAddress: '127.7.7.8' });
  t.equal(String((await once(client, 'data'))[0]), 'served');
  t.type(streams.at(-1), ThreadedStream);
  for (const socket of [...many, client]) socket.destroy();
  await until('all places to be free', () => carried() === 0 && io.strangersInThreads.size === 0);
});

t.test('a fleet that connects at once is served, wherever its connections are', { skip }, async (t) => {
  const { dial, io, streams } = await room(t, (stream) => {
    stream.once('data', () => {
      io.unauthenticatedCpu.authenticated(stream);
      stream.end('served');
    });
  });
  io.unauthenticatedCpu.run({ remoteAddress: HOST }, () => undefined, -60);
  await until('the strangers to be forgotten', () => !io.unauthenticatedCpu.isNoticeable);
  const clients = await Promise.all(Array.from({ length: 150 }, () => dial()));
  const served = await Promise.all(
    clients.map(async (client) => {
      client.write('proof');
      return String(Buffer.concat(await client.toArray()));
    }),
  );
  t.ok(served.every((text) => text === 'served'));
  const inThread = streams.filter((stream) => stream instanceof ThreadedStream).length;
  t.ok(inThread > 0 && inThread < 150, `${inThread} in the thread`);
});
