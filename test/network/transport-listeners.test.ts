// Listeners for clients without an identity (`transport`, `transport_udp`, `proxy`, `proxy_udp`), and the dialers with
// the same names at the other end.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { ending, Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const KIB = 1024;

async function udpEcho() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  socket.on('message', (data, { address, port }) => socket.send(data, port, address));
  await once(socket, 'listening');
  return socket;
}

/** Two routers: a listens with all bindings, b dials. The services are `tcp` and `udp`. */
async function network() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const echo = await udpEcho();
  const { management } = overlay;
  const { id: tcp } = await management.services.create({ name: 'tcp', encryptionRequired: false });
  const { id: udp } = await management.services.create({ name: 'udp', encryptionRequired: false });
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'host',
    listeners: [
      { binding: 'transport', address: 'tcp:127.0.0.1:0' },
      { binding: 'transport', address: 'tls:127.0.0.1:0' },
      { binding: 'proxy', address: 'tcp:127.0.0.1:0', service: tcp },
      { binding: 'transport_udp', address: 'udp:127.0.0.1:0' },
      { binding: 'proxy_udp', address: 'udp4:127.0.0.1:0', service: udp },
    ],
  });
  const [transport = 0, tls = 0, proxy = 0, transportUdp = 0, proxyUdp = 0] = a.ports.fabric;
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const address = `tcp:127.0.0.1:${overlay.echo.port}`;
  await management.terminators.create({ service: tcp, router: b.id, binding: 'transport', address });
  const datagrams = `udp:127.0.0.1:${echo.address().port}`;
  await management.terminators.create({ service: udp, router: b.id, binding: 'transport_udp', address: datagrams });
  await overlay.ready();
  return { overlay, a, b, echo, transport, tls, proxy, transportUdp, proxyUdp };
}

/** Collects lines and the data after them. */
async function conversation(
  socket: Socket,
  first: string,
): Promise<{ answer: Record<string, unknown>; rest: () => string }> {
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  socket.write(first);
  await until('an answer', () => received.includes('\n'));
  const end = received.indexOf('\n');
  return { answer: JSON.parse(received.slice(0, end)), rest: () => received.slice(end + 1) };
}

t.test('every listener connects its clients to the service, and nothing remains', async (t) => {
  const { overlay, a, b, echo, transport, tls, proxy, transportUdp, proxyUdp } = await network();
  await using _ = overlay;

  const proxied = await transfer(proxy, 512 * KIB);
  t.equal(proxied.sha256Received, proxied.sha256Sent, 'proxy');

  for (const [name, open] of [
    ['tcp', () => connect({ port: transport, host: '127.0.0.1', allowHalfOpen: true })],
    ['tls', () => connectTls({ port: tls, host: '127.0.0.1', rejectUnauthorized: false })],
  ] as const) {
    const socket = open();
    const { answer, rest } = await conversation(socket, '{"id": "me", "svcId": "tcp"}\nand data at once');
    t.match(answer, { scc: true, msg: '', circuitId: /./ }, name);
    await until('the data', () => rest() === 'and data at once');
    const closed = ending(socket);
    socket.end('; the end');
    t.equal(await closed, 'closed', name);
    t.equal(rest(), 'and data at once; the end', name);
  }

  const received: string[] = [];
  const datagrams = createSocket('udp4').on('message', (data) => received.push(String(data)));
  datagrams.send('proxied', proxyUdp, '127.0.0.1');
  await until('the datagram', () => received.includes('proxied'));
  datagrams.send('{"id": "me", "svcId": "udp"}', transportUdp, '127.0.0.1');
  await until('the answer', () => received.some((text) => text.startsWith('{"scc":true')));
  datagrams.send('asked for', transportUdp, '127.0.0.1');
  await until('the datagram', () => received.includes('asked for'));
  datagrams.close();

  t.equal(a.router.describe().fabricListeners.length, 5);
  const [clear, secured] = [connect(transport, '127.0.0.1'), connectTls({ port: tls, rejectUnauthorized: false })];
  for (const socket of [clear, secured])
    t.match((await conversation(socket, '{"svcId": "tcp"}\n')).answer, { scc: true });
  const cut: string[] = [];
  for (const socket of [clear, secured]) void ending(socket).then((how) => cut.push(how));
  const services = await overlay.management.services.list();
  for (const { id } of services) await overlay.management.services.delete(id);
  await until('the connections to end', () => cut.length === 2);
  t.same(cut, ['ECONNRESET', 'ECONNRESET'], 'cut circuits end with a reset');
  await until('all circuits to end', () =>
    [a, b].every(({ router }) => router.describe().circuitEnds === 0 && router.describe().circuits === 0),
  );
  echo.close();
});

t.test('edge_transport dials an address of the controller, with end-to-end encryption', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const service = await overlay.addService('echo', a.id);
  const address = `tcp:127.0.0.1:${overlay.echo.port}`;
  const terminator = { service, router: b.id, binding: 'edge_transport', address };
  const [policy] = await overlay.management.servicePolicies.list({ filter: 'name = "echo-bind"' });
  await overlay.management.servicePolicies.delete(policy?.id ?? '');
  const terminators = () => overlay.management.terminators.list();
  await until('no terminator', async () => (await terminators()).length === 0);
  const { id } = await overlay.management.terminators.create(terminator);
  await overlay.ready();
  const { sha256Received, sha256Sent } = await transfer(a.proxyPort, 4 * 1024 * KIB);
  t.equal(sha256Received, sha256Sent);
  await overlay.management.terminators.delete(id);
  await overlay.management.terminators.create({ ...terminator, binding: 'transport' });
  t.equal(
    await ending(connect(a.proxyPort, '127.0.0.1')),
    'ECONNRESET',
    'the binding transport cannot encrypt, so the dialing router rejects it',
  );
  await until('all circuits to end', () => [a, b].every(({ router }) => router.describe().circuits === 0));
});

t.test('a client with an invalid request gets the reason, and the listener continues', async (t) => {
  const { overlay, a, transport, transportUdp, echo } = await network();
  await using _ = overlay;
  const cases: [string, RegExp][] = [
    ['{"id": "me", "svcId": "nothing"}\n', /nothing/],
    ['no JSON\n', /JSON/],
    ['{"id": 5, "svcId": "tcp"}\n', /name a service/],
    ['[]\n', /name a service/],
    ['\n', /JSON/],
    ['x'.repeat(64 * KIB), /longer than 4096 bytes/],
  ];
  for (const [request, message] of cases) {
    const socket = connect(transport, '127.0.0.1');
    const { answer } = await conversation(socket, request);
    t.match(answer, { scc: false, msg: message, circuitId: '' }, request.slice(0, 40));
    await until('the end of the connection', () => socket.destroyed);
  }
  const gone = connect(transport, '127.0.0.1');
  gone.write('{"id":');
  await once(gone, 'connect');
  gone.destroy();

  const received: string[] = [];
  const datagrams = createSocket('udp4').on('message', (data) => received.push(String(data)));
  datagrams.send('no JSON', transportUdp, '127.0.0.1');
  await until('the rejection', () => received.some((text) => text.startsWith('{"scc":false')));
  datagrams.send('{"svcId": "udp"}', transportUdp, '127.0.0.1');
  await until('the circuit', () => received.some((text) => text.startsWith('{"scc":true')));
  datagrams.close();
  echo.close();
  await until('no connection to remain', () => a.router.describe().circuitEnds === 1);
  t.notOk(a.router.describe().timers.includes('circuit request'));
});

t.test('addresses that cannot be dialed, and bindings that only listen, are rejected', async (t) => {
  const { overlay, b, proxy, echo } = await network();
  await using _ = overlay;
  echo.close();
  const { management } = overlay;
  const [service] = await management.services.list({ filter: 'name = "tcp"' });
  const [terminator] = await management.terminators.list({ filter: 'binding = "transport"' });
  for (const [binding, address] of [
    ['proxy', 'tcp:127.0.0.1:1'],
    ['proxy_udp', 'udp:127.0.0.1:1'],
    ['transport_udp', 'unixgram:/tmp/x'],
    ['transport_udp', 'tcp:127.0.0.1:1'],
    ['transport', 'udp:127.0.0.1'],
  ] as const) {
    const { id } = await management.terminators.create({ service: service?.id ?? '', router: b.id, binding, address });
    if (terminator) await management.terminators.delete(terminator.id).catch(() => undefined);
    const socket = connect(proxy, '127.0.0.1');
    t.equal(await ending(socket), 'ECONNRESET', `${binding} ${address}`);
    await management.terminators.delete(id);
  }
  t.equal(b.router.describe().circuitEnds, 0);
});

t.test('a port in use prevents the start, with the reason', async (t) => {
  await using overlay = await Overlay.start();
  const { port } = overlay.echo;
  const listeners = [{ binding: 'proxy', address: `tcp:127.0.0.1:${port}`, service: 'x' }] as const;
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host', listeners });
  await t.rejects(overlay.startRouter(configFile), { code: 'EADDRINUSE', message: /^listeners\[1\]\.address: / });
});
