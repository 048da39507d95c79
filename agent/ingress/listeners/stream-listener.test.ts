// Connections that get no circuit: they are reset, over TCP and over TLS.

import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { createLog, type Log, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { TlsPort } from '#wire/connection/tls-port.ts';
import { issue, makeAuthority } from '../../../test/support/clients/certificates.ts';
import { ending } from '../../../test/support/networks/overlay.ts';
import { until } from '../../../test/support/until.ts';
import { StreamListener, type StreamListenerInit } from './stream-listener.ts';

const HOST = '127.0.0.1';

/** How the connections to a listener end, over TCP and over TLS. */
async function endings(
  t: Test,
  serve: StreamListenerInit['serve'],
  acceptsCircuits: () => boolean,
  log: Log = silentLog,
): Promise<string[]> {
  const { pem, key } = await issue(await makeAuthority('network'), 'localhost');
  const context = { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  const io = new IoContext({ clock: new SystemClock() });
  const tls = await TlsPort.open({ io, host: HOST, port: 0, requestCert: false, context, log: silentLog });
  const open = (at: StreamListenerInit['at']) =>
    StreamListener.open({ io, log, acceptsCircuits }, { name: 'test', at, serve });
  const listeners = [await open({ host: HOST, port: 0 }), await open({ tls })];
  t.teardown(async () => {
    for (const listener of listeners) listener.close();
    await tls.close();
  });
  const [clear, secured] = listeners.map(({ port }) => port);
  const tlsOptions = { host: HOST, port: secured ?? 0, rejectUnauthorized: false };
  return Promise.all([connect(clear ?? 0, HOST), connectTls(tlsOptions)].map(ending));
}

t.test('a connection without a circuit is reset', async (t) => {
  const rejecting = async () => {
    throw new Error('no such service');
  };
  t.same(await endings(t, rejecting, () => true), ['ECONNRESET', 'ECONNRESET']);
});

t.test('a connection to a router that drains is reset', async (t) => {
  const unexpected = async () => void t.fail('a router that drains serves no connection');
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  t.same(await endings(t, unexpected, () => false, log), ['ECONNRESET', 'ECONNRESET']);
  t.match(lines[0], /"connection reset: the router is draining"/);
});

t.test('connections of one source that wait for a circuit leave room for others', async (t) => {
  const waiting = new Map<string, number>();
  let sockets = 0;
  const serve: StreamListenerInit['serve'] = async ({ remoteAddress = '' }, signal) => {
    waiting.set(remoteAddress, (waiting.get(remoteAddress) ?? 0) + 1);
    sockets++;
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const components = { io: new IoContext({ clock: new SystemClock() }), log, acceptsCircuits: () => true };
  const listener = await StreamListener.open(components, { name: 'test', at: { host: HOST, port: 0 }, serve });
  t.teardown(() => listener.close());
  const reset = new Map<string, number>();
  const open = (localAddress: string, count: number) => {
    for (let index = 0; index < count; index++) {
      const socket = connect({ port: listener.port, host: HOST, localAddress });
      socket.on('error', () => reset.set(localAddress, (reset.get(localAddress) ?? 0) + 1));
      t.teardown(() => socket.destroy());
    }
  };
  open(HOST, 1_010);
  await until('the limit', () => reset.get(HOST) === 10);
  t.match(lines[0], /"connection reset: too many connections wait for a circuit"/);
  open('127.0.0.2', 20);
  await until('the others', () => waiting.get('127.0.0.2') === 20);
  await until('the oldest of the flood', () => reset.get(HOST) === 30);
  t.equal(reset.get('127.0.0.2'), undefined);
  t.equal(sockets, 1_020);
});
