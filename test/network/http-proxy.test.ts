// Routers behind an HTTP proxy: control channels, links and TLS services use it, and its errors name it.

import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import t from 'tap';
import { parseAddress } from '#lib/net/address.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { dialTls, type HttpProxy } from '#wire/connection/dial.ts';
import { dialThroughProxy } from '../../agent/egress/socket-dial.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { type ProxyBehaviour, TestProxy } from '../support/hostile/http-proxy.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** Milliseconds until a silent proxy has had its time. */
const TIMEOUT = 400;
/** Milliseconds for every other answer, also on a slow machine. */
const PATIENCE = 20_000;

t.test('a router reaches its controller and other routers through its proxy, with a password', async (t) => {
  using proxy = await TestProxy.start();
  proxy.credentials = 'router:se:cret';
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'proxy',
    link: { listeners: [], dialers: [{ binding: 'transport', startupDelay: '10ms' }] },
    extra: { proxy: { type: 'http', address: proxy.address, username: 'router', password: 'se:cret' } },
  });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  const { sha256Received, sha256Sent } = await transfer(a.proxyPort, 1_000_000);
  t.equal(sha256Received, sha256Sent);
  const control = overlay.simulator.controlAddress.replace('tls:', '');
  t.ok(proxy.targets.includes(control), 'the control channel');
  const links = () => proxy.targets.filter((target) => target !== control);
  await until('all connections of the link', () => links().length >= 4);
  t.equal(new Set(links()).size, 1);
  await a.router.close({ drain: 0 });
  await until('all connections to be closed', () => proxy.open === 0);
});

t.test('TLS services are dialed through the proxy of the section transport, other services are not', async (t) => {
  using proxy = await TestProxy.start();
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const b = await overlay.addRouter({
    name: 'b',
    extra: { transport: { proxy: { type: 'http', address: proxy.address } } },
  });
  const [cert, key] = ['b.server.cert', 'b.key'].map((name) => readFileSync(join(overlay.directory, name)));
  const server = createServer({ cert, key, allowHalfOpen: true }, (socket) => void socket.pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const io = new IoContext({ clock: new SystemClock() });
  const options = { io, timeout: 30_000, signal: AbortSignal.timeout(60_000) };
  const context = { ca: readFileSync(join(overlay.directory, 'b.ca')) };
  const address = parseAddress(`tls:${at}`);
  const [host = '', port = ''] = proxy.address.split(':');
  const { socket } = await dialThroughProxy(address, { host, port: Number(port) }, { ...options, context });
  const echoed = new Promise((resolve) => socket.once('data', (data: Buffer) => resolve(data.toString())));
  socket.write('over TLS');
  t.equal(await echoed, 'over TLS');
  t.same(proxy.targets, [at]);
  socket.destroy();
  // A whole circuit: the terminator's address is dialed unchanged.
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const service = await overlay.addService('echo', b.id, { encrypted: false });
  const terminator = { service, router: b.id, binding: 'transport', address: `tls:${at}` };
  await overlay.management.terminators.create(terminator);
  const flows = async () => (await transfer(a.proxyPort, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
  await until('a circuit', flows);
  t.ok(proxy.targets.length > 1, 'through the proxy');
});

t.test('a connection through a proxy has the local address and port that the dialing side requests', async (t) => {
  using proxy = await TestProxy.start();
  const [host = '', port = ''] = proxy.address.split(':');
  const [localPort = 0] = await fixedPorts(1);
  const { socket } = await dialThroughProxy(
    parseAddress(`tcp:${proxy.address}`),
    { host, port: Number(port) },
    {
      io: new IoContext({ clock: new SystemClock() }),
      timeout: 30_000,
      signal: new AbortController().signal,
      localAddress: host,
      localPort,
    },
  );
  t.equal(socket.localPort, localPort);
  socket.destroy();
});

t.test('the error names a proxy that does not connect, and the cause', async (t) => {
  using test = await TestProxy.start();
  const [host = '', port = ''] = test.address.split(':');
  const proxy: HttpProxy = { host, port: Number(port) };
  const dial = (through: HttpProxy, timeout = PATIENCE) =>
    dialTls({
      address: parseAddress('tls:127.0.0.1:9'),
      context: {},
      proxy: through,
      timeout,
      clock: new SystemClock(),
    });
  const cases: [ProxyBehaviour, RegExp][] = [
    ['forbids', /rejected the connection \(HTTP\/1\.1 403 Forbidden\)/],
    ['garbage', /did not answer like an HTTP proxy/],
    ['silence', /no answer|timed out|within|400/],
    ['endless header', /answer is too long/],
    ['hangs up', /closed/],
    ['half an answer', /closed/],
  ];
  for (const [behaviour, message] of cases) {
    test.behaviour = behaviour;
    const error = await dial(proxy, behaviour === 'silence' ? TIMEOUT : PATIENCE).then(
      () => undefined,
      (reason: Error) => reason,
    );
    t.match(error?.message, message, behaviour);
    t.match(error?.message, test.address, `${behaviour}: names the proxy`);
    t.match(error?.message, 'tls:127.0.0.1:9', `${behaviour}: names the target`);
  }
  test.behaviour = 'connects';
  test.credentials = 'user:password';
  await t.rejects(dial(proxy), { message: /407 .*requires a username and password/ });
  const wrong = dial({ ...proxy, username: 'user', password: 'hunter2' });
  await t.rejects(wrong, { message: /407 .*rejects the username and password/ });
  await wrong.catch((error: Error) => t.notMatch(error.message, /hunter2/));
  const unreachable = { host, port: 9 };
  await t.rejects(dial(unreachable), { message: /the proxy 127\.0\.0\.1:9: connect ECONNREFUSED/ });
  test.credentials = undefined;
  await t.rejects(
    dial(proxy),
    { message: new RegExp(`tls:127\\.0\\.0\\.1:9.*${test.address}`) },
    'no target behind it',
  );
  await until('connections to be closed', () => test.open === 0);
});
