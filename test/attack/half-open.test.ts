// Connections that are opened and abandoned: a port remains reachable for other clients, and releases all resources
// afterwards.

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import t from 'tap';
import { Agent, request } from 'undici';
import { HttpTimeouts } from '#http/http-timeouts.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Alpn, TlsPort } from '#wire/connection/tls-port.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { edgeListener, linkListener, webServer } from '../support/config/link-config.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const REJECTED = 50;
/** Connections at all ports of a router together: at each more than the handshakes of a web port. */
const HALF_OPEN = RELEASE ? 10_000 : 1_200;
/** Connections at the port of the simulator. */
const SILENT = RELEASE ? 1_000 : 300;
/** Connections with a handshake, at a web port with 500 places; the small port below is full in each run. */
const PARTIAL_REQUESTS = RELEASE ? 520 : 120;
/** Sockets that the network itself may open meanwhile: groups of links and control channels grow after the start. */
const OWN_SOCKETS = 40;
/** Milliseconds for a TLS handshake: longer than a test may take. */
const HANDSHAKE_TIME = 600_000;
/** The start of a TLS record with a client hello of 512 bytes. */
const HALF_HELLO = Buffer.from('160301020001', 'hex');

interface Attacker {
  readonly sockets: Socket[];
  stop(): void;
}

/** Opens connections one after the other, and writes the start of a request on each. */
async function open(count: number, begin: () => Socket, ready = 'connect'): Promise<Attacker> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = begin();
    socket.on('error', () => undefined);
    sockets.push(socket);
    await Promise.race([ready, 'close'].map((event) => new Promise((done) => socket.once(event, done))));
  }
  return { sockets, stop: () => sockets.forEach((socket) => void socket.destroy()) };
}

function ways(port: number, localAddress = '127.0.0.1'): Record<string, () => Promise<Attacker>> {
  const where = { host: '127.0.0.1', port, localAddress };
  const tls = (text: string) => () => {
    const socket = connect({ ...where, rejectUnauthorized: false });
    socket.once('secureConnect', () => socket.write(text));
    return socket;
  };
  return {
    'silent connections': () => open(500, () => connectTcp(where)),
    'partial TLS hellos': () =>
      open(500, () =>
        connectTcp(where)
          .setNoDelay()
          .on('connect', function (this: Socket) {
            this.write(HALF_HELLO);
          }),
      ),
    'partial requests': () =>
      open(PARTIAL_REQUESTS, tls('GET /livez HTTP/1.1\r\nhost: x\r\nx-slow: '), 'secureConnect'),
  };
}

t.test('the web port of a router answers despite hundreds of half-open connections of each kind', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const extra = { web: [webServer(0, 'health-checks')] };
  const { webPort } = await overlay.addRouter({ name: 'a', mode: 'proxy', extra });
  const ca = readFileSync(join(overlay.directory, 'a.ca'), 'utf8');
  const statusNow = async () => {
    const agent = new Agent({ connect: { ca, allowPartialTrustChain: true, timeout: 60_000 } });
    const { statusCode, body } = await request(`https://127.0.0.1:${webPort}/livez`, { dispatcher: agent });
    await body.dump();
    await agent.close();
    return statusCode;
  };
  t.equal(await statusNow(), 200);
  const before = holdings();
  for (const [name, begin] of Object.entries(ways(webPort))) {
    const attacker = await begin();
    t.equal(await statusNow(), 200, name);
    attacker.stop();
  }
  const left = await leftSince(before);
  t.ok(left.sockets <= OWN_SOCKETS, `${left.sockets} sockets`);
  t.ok(left.memory < 8 * MIB, `${Math.round(left.memory / MIB)} MiB`);
});

t.test(
  'thousands of half-open connections at the TLS ports of a router stop nothing, and leave nothing',
  { skip: openFiles() < 2 * HALF_OPEN && `the system permits only ${openFiles()} open files` },
  async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const a = await overlay.addRouter({
      name: 'a',
      mode: 'proxy',
      extra: { web: [webServer(0, 'health-checks')] },
      listeners: [edgeListener(), edgeListener(0, 'wss')],
      link: { listeners: [linkListener()], dialers: [{ binding: 'transport' }] },
    });
    const ports = [...a.ports.web, ...a.ports.sdk, ...a.ports.link];
    const b = await overlay.addRouter({ name: 'b', mode: 'host' });
    await overlay.addService('echo', b.id);
    await overlay.ready();
    await transfer(a.proxyPort, MIB);
    const before = holdings();
    const attackers: Attacker[] = [];
    for (const port of ports) attackers.push(await halfOpen(HALF_OPEN / ports.length, port));
    t.equal((await transfer(a.proxyPort, MIB)).bytes, MIB, 'circuits continue');
    const socket = client(ports[1] ?? 0, '127.0.0.2');
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    t.pass('another client completes its handshake');
    socket.destroy();
    for (const attacker of attackers) attacker.stop();
    const left = await leftSince(before);
    t.ok(left.sockets <= OWN_SOCKETS, `${left.sockets} sockets`);
    t.ok(left.memory < 16 * MIB, `${Math.round(left.memory / MIB)} MiB`);
  },
);

/** Half of the connections send nothing, the others the start of a TLS handshake. */
async function halfOpen(count: number, port: number): Promise<Attacker> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const group = Array.from({ length: 100 }, (_none, index) => {
      const socket = connectTcp({ host: '127.0.0.1', port }).on('error', () => undefined);
      if (index % 2 === 0) socket.once('connect', () => socket.write(HALF_HELLO));
      return socket;
    });
    sockets.push(...group);
    await Promise.all(
      group.map((socket) =>
        Promise.race(['connect', 'close'].map((event) => new Promise((r) => socket.once(event, r)))),
      ),
    );
  }
  return { sockets, stop: () => sockets.forEach((socket) => void socket.destroy()) };
}

/** The number of files that this process may open. */
function openFiles(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  return Number(userLimits?.open_files?.soft) || Number.POSITIVE_INFINITY;
}

/** A TLS port with small limits that serves HTTP. */
async function smallPort(): Promise<{ port: TlsPort; http: Server; ca: string; close(): Promise<void> }> {
  const authority = await makeAuthority('test');
  const { pem, key } = await issue(authority, 'localhost');
  const context = { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  const max = { maxConnections: 20, maxHandshakes: 10, handshakeTimeout: HANDSHAKE_TIME };
  const io = new IoContext({ clock: new SystemClock() });
  const port = await TlsPort.open({ io, host: '127.0.0.1', port: 0, context, ...max, log: silentLog });
  const http = createServer();
  const limits = { read: 60_000, write: 60_000, idle: 60_000 };
  const timeouts = new HttpTimeouts(http, io, limits, (request, response) => {
    if (request.url !== '/held') response.end('answer');
  });
  port.handle(Alpn.None, (socket, connection) => timeouts.accept(socket, connection));
  const close = async () => {
    http.closeAllConnections();
    await port.close();
  };
  return { port, http, ca: authority.certificate.toString('pem'), close };
}

function client(port: number, localAddress: string, text = ''): Socket {
  const where = { host: '127.0.0.1', port, localAddress };
  const socket = connect({ ...where, rejectUnauthorized: false });
  socket.on('error', () => undefined).once('secureConnect', () => socket.write(text));
  return socket;
}

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const dataOf = (socket: Socket) =>
  new Promise<string>((done) => socket.once('data', (data) => done(String(data))).once('close', () => done('')));

t.test('the source with the most connections loses its oldest, except those with a request', async (t) => {
  const { port, close } = await smallPort();
  const { port: number } = port.address;
  const held = client(number, '127.0.0.3', GET.replace('/', '/held'));
  const idle = client(number, '127.0.0.3', GET);
  t.match(await dataOf(idle), /answer/);
  const half = await open(100, () => client(number, '127.0.0.2', 'GET / HT'), 'secureConnect');
  await until('the rest to be closed', () => half.sockets.filter(({ closed }) => !closed).length <= 18);
  t.notOk(held.closed, 'a request in progress');
  idle.write(GET);
  t.match(await dataOf(idle), /answer/, 'an idle connection of another source continues');
  const silent = await open(100, () => connectTcp({ host: '127.0.0.1', port: number, localAddress: '127.0.0.2' }));
  const slow = connectTcp({ host: '127.0.0.1', port: number, localAddress: '127.0.0.4' });
  await sleep(50);
  t.match(await dataOf(client(number, '127.0.0.2', GET)), /answer/, 'a new client of the attacking source');
  t.notOk(slow.closed, 'a slow handshake of another source');
  half.stop();
  silent.stop();
  for (const socket of [held, idle, slow]) socket.destroy();
  await close();
});

t.test(
  'the port of the simulator answers despite half-open connections, and rejected upgrades are closed',
  async (t) => {
    await using api = await ApiClient.start();
    await api.get('/version');
    const before = holdings();
    const where = { host: '127.0.0.1', port: api.simulator.port };
    const silent = await open(SILENT, () => connectTcp({ ...where, localAddress: '127.0.0.2' }));
    t.equal((await api.ask('GET', '/version')).status, 200);
    const upgrade = 'GET /fabric/v1/ws-api HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
    const reject = function (this: Socket) {
      this.write(upgrade);
    };
    silent.stop();
    await until('the silent ones to be closed', () => holdings().sockets <= before.sockets);
    const halfOpen = { ...where, rejectUnauthorized: false, allowHalfOpen: true };
    const rejected = await open(REJECTED, () => connect(halfOpen, reject).resume(), 'end');
    // The clients keep their side open, so every socket beyond theirs belongs to the simulator.
    await until('rejected upgrades to be closed', () => holdings().sockets <= before.sockets + REJECTED);
    rejected.stop();
    t.equal((await leftSince(before)).sockets, 0);
  },
);

t.test('a port closes at once, although connections are in their handshake', async (t) => {
  const { port, http, close } = await smallPort();
  t.teardown(close);
  const where = { host: '127.0.0.1', port: port.address.port };
  const attacker = await open(3, () => connectTcp(where));
  t.teardown(() => attacker.stop());
  await port.close();
  t.pass('it does not wait for them: they may take longer than this test');
  http.close();
});
