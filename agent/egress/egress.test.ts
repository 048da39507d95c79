// Dialers by binding, the error codes of their failures, and dials of circuits that end meanwhile.

import { createSocket } from 'node:dgram';
import dns from 'node:dns';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { PeerDataKey, RouteErrorCode } from '#wire/gen/numbers.ts';
import { issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import { TestProxy } from '../../test/support/hostile/http-proxy.ts';
import type { DatagramClient } from '../xgress/clients/datagram-client.ts';
import { EncryptedStream, makeKeyPair, sessionKeys } from '../xgress/clients/end-to-end.ts';
import { IdleSweeper } from '../xgress/clients/idle-sweeper.ts';
import { datagramDialer } from './datagram.ts';
import { EgressError, routeErrorCodeOf } from './dial-errors.ts';
import { DialsInProgress } from './dials-in-progress.ts';
import { type DialedEgress, dialTime, Egress, type EgressRequest } from './egress.ts';
import { hostEncryption } from './host-encryption.ts';
import { dialSocket, dialThroughProxy } from './socket-dial.ts';
import { transportDialer } from './transport.ts';

const REQUEST: EgressRequest = {
  circuitId: 'circuit',
  address: 'address',
  destination: 'tcp:localhost:1',
  peerData: new Map(),
  timeLeft: 0,
  tags: {},
  owner: 'controller',
  signal: new AbortController().signal,
};

function systemError(code: string, cause?: unknown): Error {
  return Object.assign(new Error(code, { cause }), { code });
}

t.test('the binding of a route selects the dialer; an unknown one is a misconfigured terminator', async (t) => {
  const egress = new Egress(silentLog);
  const dialed = { client: {}, peerData: new Map(), hopType: 'xgress/test', abandon: () => undefined };
  egress.use('test', async ({ destination }) => ({ ...dialed, hopType: destination }) as never);
  t.match(await egress.dial('test', REQUEST), { hopType: REQUEST.destination });
  t.same([egress.has('test'), egress.has('other')], [true, false]);
  const error = await egress.dial('other', REQUEST).catch((thrown: unknown) => thrown);
  t.match(error, { message: /the binding other/ });
  t.equal(routeErrorCodeOf(error), RouteErrorCode.MisconfiguredTerminator);
});

t.test('controllers learn why a dial failed, however deep the cause', async (t) => {
  const table: [error: unknown, code: RouteErrorCode][] = [
    [systemError('ECONNREFUSED'), RouteErrorCode.ConnectionRefused],
    [systemError('ENOTFOUND'), RouteErrorCode.DnsResolutionFailed],
    [systemError('ETIMEDOUT'), RouteErrorCode.DialTimedOut],
    [systemError('EMFILE'), RouteErrorCode.ResourcesNotAvailable],
    [
      new Error('the dial failed', { cause: systemError('OUTER', systemError('ECONNREFUSED')) }),
      RouteErrorCode.ConnectionRefused,
    ],
    [new EgressError(RouteErrorCode.RejectedByApplication, 'rejected'), RouteErrorCode.RejectedByApplication],
    [systemError('constructor'), RouteErrorCode.Generic],
    ['a text', RouteErrorCode.Generic],
  ];
  for (const [error, code] of table) t.equal(routeErrorCodeOf(error), code, String(error));
});

t.test('a dial does not take longer than its route, even without a configured limit', async (t) => {
  const table: [configured: number, timeLeft: number, expected: number][] = [
    [0, 0, 0],
    [0, 9_000, 9_000],
    [5_000, 0, 5_000],
    [5_000, 9_000, 5_000],
    [9_000, 5_000, 5_000],
  ];
  for (const [configured, timeLeft, expected] of table)
    t.equal(dialTime({ ...REQUEST, timeLeft }, configured), expected);
});

t.test('a TLS service that accepts connections but does not answer does not keep a dial', async (t) => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', () => resolve()));
  const sockets: Socket[] = [];
  silent.on('connection', (socket) => sockets.push(socket));
  const clock = new SystemClock();
  const sweeper = new IdleSweeper(clock, { timeout: 1_000, interval: 1_000 });
  const components = { io: new IoContext({ clock }), log: silentLog, identity: { clientContext: () => ({}) }, sweeper };
  const dial = transportDialer(components, { connectTimeout: 0, encryption: false, hopType: 'xgress/transport' });
  const destination = `tls:127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const error = await Promise.resolve(dial({ ...REQUEST, destination, timeLeft: 100 })).catch((each: unknown) => each);
  t.equal(routeErrorCodeOf(error), RouteErrorCode.DialTimedOut);
  for (const socket of sockets) socket.destroy();
  silent.close();
});

t.test('a silent TLS service behind a slow proxy has only the time that the proxy has left', async (t) => {
  const slow = createServer();
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', () => resolve()));
  const connected = new Promise<Socket>((resolve) => slow.once('connection', resolve));
  const clock = new VirtualClock();
  const proxy = { host: '127.0.0.1', port: (slow.address() as AddressInfo).port };
  const options = { io: new IoContext({ clock }), timeout: 1_000, signal: new AbortController().signal };
  const late = t.rejects(dialThroughProxy({ type: 'tls', host: 'tls.example', port: 1 }, proxy, options), {
    code: 'TIMEOUT',
  });
  const socket = await connected;
  await clock.advance(900);
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  await new Promise((resolve) => socket.on('data', (data) => data[0] === 0x16 && resolve(undefined))); // TLS begins
  await clock.advance(100);
  await late;
  socket.destroy();
  slow.close();
});

t.test('a TLS service whose name has several addresses is reached at any of them', async (t) => {
  const authority = await makeAuthority('network');
  const { pem, key } = await issue(authority, 'two.example');
  const server = createTlsServer({ cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) }, (socket) =>
    socket.end('hello'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { lookup } = dns;
  t.teardown(() => Object.assign(dns, { lookup }));
  const both = [
    { address: '::1', family: 6 }, // refuses
    { address: '127.0.0.1', family: 4 },
  ];
  const twoAddresses = (...given: Parameters<typeof lookup>) => {
    const done = given.at(-1) as unknown as (error: null, found: typeof both) => void;
    if (given[0] === 'two.example') process.nextTick(done, null, both);
    else lookup(...given);
  };
  Object.assign(dns, { lookup: twoAddresses });
  const { port } = server.address() as AddressInfo;
  const io = new IoContext({ clock: new SystemClock() });
  const options = { io, context: { ca: authority.certificate.toString('pem') }, timeout: 5_000 };
  const { signal } = new AbortController();
  const { socket } = await dialSocket({ type: 'tls', host: 'two.example', port }, { ...options, signal });
  t.equal(await text(socket), 'hello');
  socket.destroy();
});

t.test('a circuit gets no connection, direct or through a proxy, when clients use all descriptors', async (t) => {
  using proxy = await TestProxy.start();
  const server = createServer((socket) => socket.resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = parseAddress(`tcp:127.0.0.1:${(server.address() as AddressInfo).port}`);
  const clock = new SystemClock();
  const [io, full] = [new IoContext({ clock }), new IoContext({ clock, maxClientSockets: 0 })];
  const options = { timeout: 5_000, signal: new AbortController().signal };
  const [host = '', port] = proxy.address.split(':');
  const dials = {
    direct: (io: IoContext) => dialSocket(address, { ...options, io }),
    'through a proxy': (io: IoContext) => dialThroughProxy(address, { host, port: Number(port) }, { ...options, io }),
  };
  for (const [how, dial] of Object.entries(dials)) {
    const rejected = dial(full).then(
      ({ socket }) => void socket.destroy(),
      (error: unknown) => error,
    );
    t.equal(routeErrorCodeOf(await rejected), RouteErrorCode.ResourcesNotAvailable, how);
    const { socket } = await dial(io);
    socket.destroy();
  }
  while (proxy.open > 0) await new Promise((resolve) => setImmediate(resolve));
  t.equal(proxy.targets.length, 2, 'the proxy connected, and the rejected connection was closed');
});

t.test('a UDP circuit ends when it was idle for long, and not before', async (t) => {
  const service = createSocket('udp4');
  await new Promise<void>((resolve) => service.bind(0, '127.0.0.1', resolve));
  t.teardown(() => service.close());
  const clock = new VirtualClock();
  const sweeper = new IdleSweeper(clock, { timeout: 60_000, interval: 10_000 });
  const dial = datagramDialer({ io: new IoContext({ clock }), log: silentLog, sweeper }, { connectTimeout: 0 });
  const destination = `udp:127.0.0.1:${service.address().port}`;
  const dialed = async () => ((await dial({ ...REQUEST, destination })) as DialedEgress).client as DatagramClient;
  const [idle, busy] = [await dialed(), await dialed()];
  t.teardown(() => {
    for (const client of [idle, busy]) client.closed('cut');
  });
  await clock.advance(50_000);
  busy.receive(Buffer.from('an answer'));
  t.same([idle.isClosed, busy.isClosed], [false, false]);
  await clock.advance(20_000);
  t.same([idle.isClosed, busy.isClosed], [true, false]);
  await clock.advance(50_000);
  t.same([idle.isClosed, busy.isClosed], [true, true]);
  t.same(clock.timers(), [], 'nothing is left to check');
});

t.test('the end of a circuit aborts its dials, and only its own', async (t) => {
  const dials = new DialsInProgress();
  const [first, second, other] = [dials.begin('one', 0), dials.begin('one', 0), dials.begin('other', 0)];
  dials.cancel('one');
  t.same([first.signal.aborted, second.signal.aborted, other.signal.aborted], [true, true, false]);
  t.match(first.signal.reason, { code: 'CIRCUIT_OVER', message: /circuit one was removed/ });
  const again = dials.begin('one', 0);
  first.end();
  second.end();
  dials.cancel('one');
  t.ok(again.signal.aborted, 'the ends of earlier dials do not forget later ones');
  other.end();
  t.equal(dials.size, 0);
});

t.test('a host answers a key with its own, and both ends derive the same stream', async (t) => {
  t.equal(hostEncryption(new Map(), new Map()), undefined, 'the dialing end sent no key');
  const dialer = makeKeyPair();
  const answer = new Map<number, Buffer>();
  const host = hostEncryption(new Map([[PeerDataKey.PublicKey, dialer.publicKey]]), answer);
  const hostKey = answer.get(PeerDataKey.PublicKey) ?? Buffer.alloc(0);
  const client = EncryptedStream.begin(sessionKeys('dialer', dialer, hostKey));
  t.ok(host);
  const opened = host?.open(client.header);
  t.equal(opened?.length ?? 0, 0, 'the header has no data');
  t.equal(String(host?.open(client.seal(Buffer.from('secret')))), 'secret');
  t.throws(() => hostEncryption(new Map([[PeerDataKey.PublicKey, Buffer.alloc(3)]]), new Map()));
});
