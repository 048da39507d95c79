// Clients that never prove who they are: their source waits when it has used its time, others do not.

import { connect as connectTcp, type Socket } from 'node:net';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import type { UnauthenticatedCpu } from '#lib/net/unauthenticated-cpu.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Alpn, TlsPort } from '#wire/connection/tls-port.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { until } from '../support/until.ts';

/** Connections of the attacker. */
const FLOOD = 20;
/** Milliseconds of the processor that a source has used before: more than its burst, less than that of all sources. */
const USED = 800;

type Place = Readonly<{ host: string; port: number; localAddress: string }>;

/** A protocol whose clients prove nothing. */
const UPLOAD = 'upload';
/** As bytes of a handshake they would be most of what a source may use at once. */
const UPLOADED = 8 * 1024 * 1024;

interface OpenPort {
  readonly unauthenticatedCpu: UnauthenticatedCpu;
  at(localAddress: string): Place;
  isUploaded(): boolean;
}

/** A port whose other clients prove who they are with their first bytes, which they get back. */
async function openPort(t: Test): Promise<OpenPort> {
  const io = new IoContext({ clock: new SystemClock() });
  const { unauthenticatedCpu } = io;
  const authority = await makeAuthority('test');
  const { pem, key } = await issue(authority, 'localhost');
  const context = { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  const port = await TlsPort.open({ io, host: '127.0.0.1', port: 0, context, log: silentLog });
  t.teardown(() => port.close());
  port.handle(Alpn.None, (socket) => {
    socket.on('data', (data) => (unauthenticatedCpu.authenticated(socket), socket.end(data)));
  });
  let uploads = 0;
  port.handle(UPLOAD, (socket) => void socket.resume().once('close', () => uploads++));
  const isUploaded = () => uploads > 0;
  return {
    unauthenticatedCpu,
    isUploaded,
    at: (localAddress) => ({ host: '127.0.0.1', port: port.address.port, localAddress }),
  };
}

function shakeHands(place: Place): Socket {
  return connect({ ...place, rejectUnauthorized: false }).on('error', () => undefined);
}

t.test('a source that has used its time waits; another client connects', async (t) => {
  const { unauthenticatedCpu, at } = await openPort(t);
  const attacker = at('127.0.0.2');
  unauthenticatedCpu.run({ remoteAddress: attacker.localAddress }, () => undefined, USED);
  let secured = 0;
  const flood = Array.from({ length: FLOOD }, () => shakeHands(attacker).once('secureConnect', () => secured++));
  t.teardown(() => flood.forEach((socket) => void socket.destroy()));
  await until('the flood to wait', () => unauthenticatedCpu.waiting === FLOOD);
  const other = shakeHands(at('127.0.0.3'));
  const answer = new Promise((resolve) => other.once('data', resolve));
  other.write('proof');
  t.equal(String(await answer), 'proof');
  t.equal(secured, 0, 'the flood still waits');
  for (const socket of flood) socket.destroy();
  await until('nothing to wait', () => unauthenticatedCpu.waiting === 0);
});

t.test('clients that prove who they are never wait, however many one source has', async (t) => {
  const { unauthenticatedCpu, at } = await openPort(t);
  const fleet = at('127.0.0.4');
  const spent = { remoteAddress: fleet.localAddress };
  unauthenticatedCpu.run(spent, () => undefined, USED);
  await until('the time to be counted', () => unauthenticatedCpu.usedBy(fleet.localAddress) > 0);
  unauthenticatedCpu.authenticated(spent);
  t.equal(unauthenticatedCpu.usedBy(fleet.localAddress), 0);
  for (let count = 0; count < FLOOD; count++) {
    const client = shakeHands(fleet);
    const answer = new Promise((resolve) => client.once('data', resolve));
    client.write('proof');
    t.equal(String(await answer), 'proof');
  }
  t.ok(unauthenticatedCpu.usedBy(fleet.localAddress) < 1, 'milliseconds');
});

t.test('silent connections take no turn, and closed ones leave nothing', async (t) => {
  const { unauthenticatedCpu, at } = await openPort(t);
  const silent = await Promise.all(
    Array.from({ length: FLOOD }, async () => {
      const socket: Socket = connectTcp(at('127.0.0.5')).on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve));
      return socket;
    }),
  );
  t.equal(unauthenticatedCpu.waiting, 0);
  for (const socket of silent) {
    socket.write('x');
    socket.destroy();
  }
  await until('nothing to wait', () => unauthenticatedCpu.waiting === 0);
});

t.test('bytes after the handshake do not count as its bytes', async (t) => {
  const { unauthenticatedCpu, at, isUploaded } = await openPort(t);
  const source = at('127.0.0.6');
  connect({ ...source, rejectUnauthorized: false, ALPNProtocols: [UPLOAD] }).end(Buffer.alloc(UPLOADED));
  await until('the upload to end', isUploaded);
  const used = unauthenticatedCpu.usedBy(source.localAddress);
  t.ok(used < 100, `${used} ms`);
});
