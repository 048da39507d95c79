// Random bytes at every listener of a router, before and inside TLS, with every protocol, and in datagrams: circuits
// continue, and nothing remains.

import { createSocket } from 'node:dgram';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { type Random, seededRandom } from '#lib/random.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { edgeListener, linkListener, webServer } from '../support/config/link-config.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SEED = 20_261_125;
/** Connections for each listener and protocol, and datagrams for each UDP listener. */
const MANY = RELEASE ? 60 : 6;
/** Milliseconds after which a connection that the router keeps is closed. */
const ENOUGH = 300;
/** Sockets that the network itself may open meanwhile: groups of links and control channels grow after the start. */
const OWN_SOCKETS = 40;
/** Protocols that a client offers; none for the first. */
const PROTOCOLS = [undefined, Alpn.Link, Alpn.Edge, Alpn.Control, 'http/1.1', 'unknown'];

/** Two routers. The first has listeners of every kind: the ports of their streams by their names, and those of UDP. */
async function network() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const { id: service } = await overlay.management.services.create({ name: 'tcp', encryptionRequired: false });
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'proxy',
    ctrl: { listeners: [{ bind: 'tls:127.0.0.1:0' }] },
    link: { listeners: [linkListener()], dialers: [{ binding: 'transport' }] },
    listeners: [
      edgeListener(),
      edgeListener(0, 'wss'),
      { binding: 'transport', address: 'tls:127.0.0.1:0' },
      { binding: 'transport', address: 'tcp:127.0.0.1:0' },
      { binding: 'proxy', address: 'tcp:127.0.0.1:0', service },
      { binding: 'transport_udp', address: 'udp:127.0.0.1:0' },
      { binding: 'proxy_udp', address: 'udp:127.0.0.1:0', service },
    ],
    extra: { web: [webServer(0, 'health-checks', 'metrics')] },
  });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  const address = `tcp:127.0.0.1:${overlay.echo.port}`;
  await overlay.management.terminators.create({ service, router: b.id, binding: 'transport', address });
  await until('both terminators', async () => (await overlay.management.terminators.list()).length === 2);
  await overlay.ready();
  const [edge = 0, wss = 0] = a.ports.sdk;
  const [tls = 0, tcp = 0, proxy = 0, udp = 0, proxyUdp = 0] = a.ports.fabric;
  const { webPort: web, linkPort: link, controlPort: control } = a;
  const streams = { web, link, edge, wss, control, tls, tcp, proxy };
  return { overlay, a, b, streams, datagrams: [udp, proxyUdp] };
}

/** Bytes that mean nothing, or the start of something. */
function garbage(random: Random): Buffer {
  const bytes = Buffer.from(Array.from({ length: 1 + random.next() * 2 * KIB }, () => random.next() * 256));
  const starts = ['', '\x03\x06\x09\x0c', '\x16\x03\x01', 'GET / HTTP/1.1\r\n', '{"id": "', '\0'.repeat(64)];
  const start = Buffer.from(starts[Math.floor(random.next() * starts.length)] ?? '', 'latin1');
  return Buffer.concat([start, bytes]);
}

/** Resolves once the router has closed the connection, or after a while. */
async function disturb(socket: Socket, ready: 'connect' | 'secureConnect', bytes: Buffer): Promise<void> {
  socket.on('error', () => undefined).resume();
  socket.once(ready, () => socket.write(bytes));
  const timer = setTimeout(() => socket.destroy(), ENOUGH);
  await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(timer);
}

t.test('random bytes at every listener stop nothing, and leave nothing', async (t) => {
  const { overlay, a, b, streams, datagrams } = await network();
  await using _ = overlay;
  const random = seededRandom(SEED);
  await transfer(a.proxyPort, MIB);
  const before = holdings();
  for (const [name, port] of Object.entries(streams)) {
    const where = { host: '127.0.0.1', port };
    const attacks: Promise<void>[] = [];
    for (let count = 0; count < MANY; count++) {
      attacks.push(disturb(connectTcp(where), 'connect', garbage(random)));
      for (const protocol of PROTOCOLS) {
        const options = { ...where, rejectUnauthorized: false, ...(protocol && { ALPNProtocols: [protocol] }) };
        attacks.push(disturb(connectTls(options), 'secureConnect', garbage(random)));
      }
    }
    await Promise.all(attacks);
    t.equal((await transfer(a.proxyPort, 100 * KIB)).bytes, 100 * KIB, name);
  }
  const socket = createSocket('udp4');
  for (const port of datagrams) {
    for (let count = 0; count < MANY; count++) socket.send(garbage(random), port, '127.0.0.1');
    t.equal((await transfer(a.proxyPort, 100 * KIB)).bytes, 100 * KIB, 'datagrams');
  }
  await new Promise<void>((resolve) => socket.close(resolve));
  await overlay.management.services.delete((await serviceNamed(overlay, 'tcp')) ?? '');
  await until('all circuits to end', () =>
    [a, b].every(({ router }) => router.describe().circuits === 0 && router.describe().circuitEnds === 0),
  );
  const left = await leftSince(before);
  t.ok(left.sockets <= OWN_SOCKETS, `${left.sockets} sockets`);
  t.ok(left.memory < 16 * MIB, `${Math.round(left.memory / MIB)} MiB`);
});

async function serviceNamed({ management }: Overlay, name: string): Promise<string | undefined> {
  const [found] = await management.services.list({ filter: `name = "${name}"` });
  return found?.id;
}
