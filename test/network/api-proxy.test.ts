// The API proxy of an edge router: requests of clients with their certificates, and forged requests.

import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import WebSocket from 'ws';
import type { HttpClient } from '#http/http-client.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { TlsPort } from '#wire/connection/tls-port.ts';
import { Identity } from '../../agent/identity/identity.ts';
import { ApiProxy } from '../../agent/web/api-proxy.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { httpClient } from '../support/clients/http.ts';
import { type Device, enrollDevice, loginOidc } from '../support/clients/sdk-client.ts';
import { CLOSED_PORT } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

interface Network extends AsyncDisposable {
  /** Shared by the router and the controller. */
  io: IoContext;
  overlay: Overlay;
  /** `https://host:port` of the proxy. */
  proxy: string;
}

async function network(upstream?: string): Promise<Network> {
  const io = new IoContext({ clock: new SystemClock() });
  const overlay = await Overlay.start({ churnLimit: 0 }, io);
  const { router } = await overlay.addRouter(
    {
      name: 'a',
      edge: { apiProxy: { listener: '127.0.0.1:0', upstream: upstream ?? new URL(overlay.simulator.baseUrl).host } },
    },
    { io },
  );
  return { io, overlay, proxy: `https://${router.describe().apiProxy}`, [Symbol.asyncDispose]: () => overlay.close() };
}

async function login(base: string, http: HttpClient, headers: Record<string, string> = {}) {
  const { status, bytes } = await http.send(`${base}/edge/client/v1/authenticate?method=cert`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', ...headers },
  });
  const { data } = JSON.parse(bytes.toString()) as { data?: { token: string; identityId: string } };
  return { status, token: data?.token ?? '', identityId: data?.identityId };
}

function certificateHeader({ cert }: Pick<Device, 'cert'>): string {
  return cert.replaceAll(/-----[^-]+-----|\s/g, '');
}

t.test('a client logs in through the proxy with its certificate and continues through it', async (t) => {
  await using all = await network();
  const { overlay, proxy } = all;
  const device = await enrollDevice(overlay, 'device');
  t.teardown(() => device.http.close());
  const { status, token, identityId } = await login(proxy, device.http);
  t.equal(status, 200);
  t.equal(identityId, device.identityId);
  const get = async (path: string, method: 'GET' | 'HEAD' = 'GET') =>
    device.http.send(`${proxy}${path}`, { method, headers: { 'zt-session': token } });
  const answer = await get('/edge/client/v1/current-identity');
  t.match(JSON.parse(answer.bytes.toString()), { data: { id: device.identityId } });
  t.equal((await get('/edge/client/v1/nothing')).status, 404);
  t.equal((await get('/oidc/.well-known/openid-configuration', 'HEAD')).status, 200);
  t.equal((await get('/edge/client/v1/version', 'HEAD')).status, 405, 'and its connection serves further requests');

  const accessToken = await loginOidc({ simulator: { baseUrl: proxy } } as Overlay, device);
  const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
  t.match(claims, { sub: device.identityId });
  t.equal(claims.z_cfs?.length, 1, 'the token is bound to the certificate of the client');
});

t.test('only an answer that needs credentials shows the proxy that it knows a client', async (t) => {
  await using all = await network();
  const { io, overlay, proxy } = all;
  const { unauthenticatedCpu } = io;
  const device = await enrollDevice(overlay, 'device');
  const nobody = httpClient({ ca: overlay.simulator.ca });
  t.teardown(() => Promise.all([device.http.close(), nobody.close()]));
  const known = t.capture(
    unauthenticatedCpu,
    'authenticated',
    unauthenticatedCpu.authenticated.bind(unauthenticatedCpu),
  );
  const proofs = () => known().length;
  proofs();
  for (const base of [proxy, overlay.simulator.baseUrl]) {
    const revoked = await nobody.send(`${base}/oidc/revoke`, {
      method: 'POST',
      body: 'token=unknown',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    t.equal(revoked.status, 200);
    t.equal(proofs(), 0, `${base}`);
  }
  t.equal((await login(proxy, device.http)).status, 200);
  t.equal(proofs(), 2, 'the proxy and the controller');
});

t.test('the proxy forwards only certificates that clients presented', async (t) => {
  await using all = await network();
  const { overlay, proxy } = all;
  const victim = await enrollDevice(overlay, 'victim');
  const attacker = await enrollDevice(overlay, 'attacker');
  const admin = await enrollDevice(overlay, 'admin', { isAdmin: true });
  const nobody = httpClient({ ca: overlay.simulator.ca });
  t.teardown(() => Promise.all([victim, attacker, admin].map(({ http }) => http.close())));
  t.teardown(() => nobody.close());
  const forged = { 'x-client-certpem': certificateHeader(victim), 'x-edge-router-proxy-request': 'now' };
  const { baseUrl } = overlay.simulator;
  t.equal((await login(proxy, attacker.http, forged)).identityId, attacker.identityId, 'forged headers are removed');
  t.equal((await login(proxy, nobody, forged)).status, 401, 'also without a certificate');
  t.equal((await login(baseUrl, attacker.http, forged)).status, 401, 'a client is not a proxy');
  t.equal((await login(baseUrl, nobody, forged)).status, 401);
  t.equal((await login(baseUrl, admin.http)).status, 200, 'an administrator logs in at the controller');
  t.equal((await login(proxy, admin.http)).status, 401, 'a router cannot vouch for administrators');
});

t.test('events stream through the proxy', async (t) => {
  await using all = await network();
  const { overlay, proxy } = all;
  const { ca, username } = overlay.simulator;
  const agent = new Agent({ connect: { ca } });
  t.teardown(() => agent.close());
  const answer = await request(`${proxy}/edge/management/v1/authenticate?method=password`, {
    method: 'POST',
    body: JSON.stringify({ username, password: 'secret' }),
    headers: { 'content-type': 'application/json' },
    dispatcher: agent,
  });
  const { data } = (await answer.body.json()) as { data: { token: string } };
  const address = `${proxy.replace('https', 'wss')}/fabric/v1/ws-api`;
  const stream = new WebSocket(address, { ca, headers: { 'zt-session': data.token } });
  await once(stream, 'open');
  stream.close();
  await once(stream, 'close');
  const rejected = new WebSocket(address, { ca, headers: { 'zt-session': 'none' } });
  const [error] = (await once(rejected, 'error')) as [Error];
  t.match(error.message, /401/, 'the rejection of the controller is forwarded');
});

t.test('the answer names an unreachable controller, and aborted requests leave nothing behind', async (t) => {
  await using all = await network(`127.0.0.1:${CLOSED_PORT}`);
  const { overlay, proxy } = all;
  const agent = new Agent({ connect: { ca: overlay.simulator.ca } });
  t.teardown(() => agent.close());
  const { statusCode, body } = await request(`${proxy}/edge/client/v1/version`, { dispatcher: agent });
  t.equal(statusCode, 502);
  t.match(await body.json(), { error: { code: 'BAD_GATEWAY', message: new RegExp(`127.0.0.1:${CLOSED_PORT}`) } });
  const { port } = new URL(proxy);
  for (const bytes of ['garbage\r\n\r\n', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\n\r\n`]) {
    const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
    socket.resume().on('error', () => undefined);
    socket.write(bytes);
    await once(socket, 'close');
  }
  const plain = connectTcp(Number(port), '127.0.0.1');
  plain.resume().on('error', () => undefined);
  plain.write('GET / HTTP/1.1\r\n\r\n');
  await once(plain, 'close');
  const { router } = overlay.routers[0] ?? {};
  const timers = () => ((router?.describe().timers ?? []) as string[]).filter((name) => name === 'api proxy');
  await until('no timer', () => timers().length === 0);
  t.pass('no timer of a request remains');
});

/** A proxy whose controller is `listener`. */
async function proxyOf(t: Test, listener?: RequestListener) {
  const authority = await makeAuthority('network');
  const { pem, key } = await issue(authority, 'localhost');
  const controller = createServer({ cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) }, listener);
  t.teardown(() => controller.close());
  await once(controller.listen(0, '127.0.0.1'), 'listening');
  const upstream = { host: 'localhost', port: (controller.address() as AddressInfo).port };
  const config = {
    cert: `pem:${pem}`,
    key: `pem:${key.export({ type: 'pkcs8', format: 'pem' })}`,
    ca: `pem:${authority.certificate.toString('pem')}`,
    alt_server_certs: [],
  };
  const clock = new VirtualClock();
  const io = new IoContext({ clock });
  const log = silentLog;
  const identity = await Identity.open({ config, clock, log });
  const port = await TlsPort.open({ io, host: '127.0.0.1', port: 0, context: identity.serverContexts(), log });
  t.teardown(() => port.close());
  const proxy = new ApiProxy({ io, log, port, identity }, upstream);
  t.teardown(() => proxy.close());
  return { controller, clock, address: proxy.address, port: port.address.port };
}

/** Counts the open connections to the controller, and all of them. */
function connectionsOf(controller: Server): { open: number; all: number } {
  const count = { open: 0, all: 0 };
  controller.on('secureConnection', (socket: Duplex) => {
    count.open++;
    count.all++;
    socket.once('close', () => count.open--);
  });
  return count;
}

/** Opens a connection from a source, sends bytes, and collects the answer. */
async function send(port: number, localAddress: string, bytes: string) {
  const tcp = connectTcp({ host: '127.0.0.1', port, localAddress });
  const socket = connect({ socket: tcp, rejectUnauthorized: false });
  const state = { socket, answer: '', isClosed: false };
  socket
    .on('error', () => undefined)
    .on('data', (data) => {
      state.answer += data;
    })
    .once('close', () => {
      state.isClosed = true;
    });
  await once(socket, 'secureConnect');
  socket.write(bytes);
  return state;
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

t.test('clients that withhold their bodies have no connection to the controller, and get status 408', async (t) => {
  const { port, clock, controller } = await proxyOf(
    t,
    (incoming, answer) => void incoming.resume().once('end', () => answer.end('ok')),
  );
  const connections = connectionsOf(controller);
  const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n';
  const stalled = await Promise.all(
    Array.from({ length: 100 }, (_none, index) => send(port, `127.0.0.${2 + (index % 2)}`, post)),
  );
  await until('the requests', () => clock.timers().filter((name) => name === 'body of a request').length === 100);
  t.equal(connections.all, 0);
  t.match(await exchange(port, GET), /^HTTP\/1\.1 200 [\s\S]*ok/);
  // Some send a byte now and then.
  for (const { socket } of stalled.slice(0, 10)) socket.write('x');
  await clock.advance(15_000);
  for (const { socket } of stalled.slice(0, 10)) socket.write('x');
  await clock.advance(10_000);
  await until('the answers', () => stalled.every(({ answer }) => answer !== ''));
  for (const { answer } of stalled)
    t.match(answer, /^HTTP\/1\.1 408 [\s\S]*{"error":{"code":"REQUEST_TIMEOUT","message"/);
  await clock.advance(5_000);
  await until('the end of the connections', () => stalled.every(({ isClosed }) => isClosed));
  t.equal(connections.all, 1);
  t.same(clock.timers(), []);
});

t.test('clients that stop within long bodies leave connections to others, until status 408', async (t) => {
  const { port, clock, controller } = await proxyOf(
    t,
    (incoming, answer) => void incoming.resume().once('end', () => answer.end('ok')),
  );
  const connections = connectionsOf(controller);
  const post = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(50_000)}`;
  const stalled = await Promise.all(
    Array.from({ length: 160 }, (_none, index) => send(port, `127.0.0.${2 + (index % 2)}`, post)),
  );
  await until('the connections', () => connections.open === 86); // two sources get 3/7 each
  t.match(await exchange(port, GET), /^HTTP\/1\.1 200 [\s\S]*ok/);
  for (const { socket } of stalled.splice(100)) socket.destroy();
  await clock.advance(25_000);
  await until('the answers', () => stalled.every(({ answer }) => answer !== ''));
  for (const { answer } of stalled) t.match(answer, /^HTTP\/1\.1 (408|503) /);
  t.ok(stalled.some(({ answer }) => answer.startsWith('HTTP/1.1 408')));
  await until('the end of the connections to the controller', () => connections.open <= 1);
  t.match(await exchange(port, GET), /^HTTP\/1\.1 200 [\s\S]*ok/);
  for (const { socket } of stalled) socket.destroy();
  await until('the end of all timers', () => clock.timers().length === 0);
});

t.test('a controller that switches protocols without being asked keeps no connection', async (t) => {
  const { port, controller } = await proxyOf(t);
  const connections = connectionsOf(controller);
  controller.on('request', ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
  });
  for (let count = 0; count < 3; count++) t.match(await exchange(port, GET), /^HTTP\/1\.1 502 /);
  await until('the end of the connections to the controller', () => connections.open === 0);
  t.equal(connections.all, 3);
});

t.test('a request that finds no connection to the controller for a while gets status 503', async (t) => {
  const { port, clock, controller } = await proxyOf(t, (_incoming, answer) => void answer.write('x')); // never ends
  const connections = connectionsOf(controller);
  const head = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const first = await Promise.all(Array.from({ length: 80 }, () => send(port, '127.0.0.2', head)));
  await until('the answers', () => first.filter(({ answer }) => answer !== '').length === 75);
  t.equal(connections.open, 75);
  await until('the others', () => clock.timers().filter((name) => name === 'api proxy queue').length === 5);
  await clock.advance(10_000);
  await until('the answers', () => first.every(({ answer }) => answer !== ''));
  const statuses = first.map(({ answer }) => answer.slice(9, 12)).toSorted();
  t.same(statuses, [...Array(75).fill('200'), ...Array(5).fill('503')]);
  for (const { socket } of first) socket.destroy();
});

t.test('long bodies arrive unchanged', async (t) => {
  const { port } = await proxyOf(t, async (incoming, answer) => void answer.end(await text(incoming)));
  const body = Array.from({ length: 50_000 }, (_none, index) => `${index} `).join('');
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  for (const [framing, sent] of [
    [`Content-Length: ${body.length}`, body],
    ['Transfer-Encoding: chunked', chunked],
  ])
    t.ok(
      (await exchange(port, `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${framing}\r\n\r\n${sent}`)).includes(
        '49999 ',
      ),
    );
});

t.test('upgrades have shares by source, and leave connections to the controller to requests', async (t) => {
  const { controller, port } = await proxyOf(t, (incoming, answer) =>
    incoming.resume().once('end', () => answer.end('ok')),
  );
  let open = 0;
  let max = 0;
  controller.on('secureConnection', (socket: Duplex) => {
    max = Math.max(max, ++open);
    socket.once('close', () => open--);
  });
  controller.on('upgrade', (_request, socket: Duplex) => void socket.on('error', () => undefined)); // never answers
  const upgrade = (localAddress: string) => {
    const tcp = connectTcp({ host: '127.0.0.1', port, localAddress });
    const socket = connect({ socket: tcp, rejectUnauthorized: false });
    const state = { socket, answer: '' };
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        state.answer += data;
      });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
    return state;
  };
  const held = Array.from({ length: 400 }, () => upgrade('127.0.0.2'));
  await until('the rejections', () => held.filter(({ answer }) => answer !== '').length === 390);
  t.ok(held.every(({ answer }) => answer === '' || /^HTTP\/1\.1 503 [\s\S]*upgrades[\s\S]*10 of one/.test(answer)));
  t.equal(max, 10, 'connections to the controller');
  for (let source = 3; source < 13; source++)
    held.push(...Array.from({ length: 15 }, () => upgrade(`127.0.0.${source}`)));
  await until('the rejections', () => held.filter(({ answer }) => answer !== '').length === 550 - 50);
  t.equal(max, 50);
  t.match(await exchange(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200 [\s\S]*ok/);
  for (const { socket } of held) socket.destroy();
  await until('the connections to close', () => open <= 1);
  const later = upgrade('127.0.0.2');
  await until('another upgrade to reach the controller', () => open === 2);
  t.equal(later.answer, '');
  later.socket.destroy();
});

t.test('requests and upgrades together open at most one limit of connections to the controller', async (t) => {
  const { controller, port } = await proxyOf(t, (incoming) => void incoming.resume()); // never answers
  let open = 0;
  let max = 0;
  controller.on('secureConnection', (socket: Duplex) => {
    max = Math.max(max, ++open);
    socket.once('close', () => open--);
  });
  controller.on('upgrade', (_request, socket: Duplex) => void socket.on('error', () => undefined));
  const sockets = Array.from({ length: 150 }, (_none, index) => {
    const source = 2 + Math.floor(index / 15);
    const tcp = connectTcp({ host: '127.0.0.1', port, localAddress: `127.0.0.${source}` });
    const socket = connect({ socket: tcp, rejectUnauthorized: false });
    const further = index % 5 === 0 ? 'Connection: upgrade\r\nUpgrade: websocket\r\n' : '';
    socket.on('error', () => undefined);
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${further}\r\n`);
    return { socket, secured: once(socket, 'secureConnect') };
  });
  await until('the connections', () => open >= 90); // ten sources leave a few to others
  await Promise.all(sockets.map(({ secured }) => secured));
  t.ok(max <= 100, `${max} connections`);
  for (const { socket } of sockets) socket.destroy();
});

/** Sends bytes on a connection without a client certificate; returns the answers when the proxy closes it. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.write(bytes);
  return text(socket);
}

/** A request whose body is a request of its own. */
function nested(line: string, connection: string, inner: string): string {
  const head = `${line} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}, close\r\n`;
  return connection.includes('content-length')
    ? `${head}Content-Length: ${inner.length}\r\n\r\n${inner}`
    : `${head}Transfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
}

t.test('a body is never read as a request, so it cannot carry the certificate of another identity', async (t) => {
  await using all = await network();
  const { overlay, proxy } = all;
  const victim = await enrollDevice(overlay, 'victim');
  t.teardown(() => victim.http.close());
  const login = [
    'POST /edge/client/v1/authenticate?method=cert HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    `X-Client-CertPem: ${certificateHeader(victim)}`,
    'X-Edge-Router-Proxy-Request: 2026-11-24T17:49:25.107Z',
    'Content-Length: 2',
    '',
    '{}',
  ].join('\r\n');
  const port = Number(new URL(proxy).port);
  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST'])
    for (const connection of ['content-length', 'transfer-encoding', 'host, content-length']) {
      await exchange(port, nested(`${method} /edge/client/v1/version`, connection, login));
      const next = await exchange(port, 'GET /edge/client/v1/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      t.match(
        next,
        /^HTTP\/1\.1 200 [\s\S]*"apiVersions"/,
        `the next client gets its own answer: ${method} ${connection}`,
      );
      t.notMatch(next, /"token"/);
    }
  const sessions = await overlay.management.apiSessions.list();
  t.notOk(
    sessions.some(({ identityId }) => identityId === victim.identityId),
    'the victim has no session',
  );
});

t.test('bodies and headers reach the controller as the client sent them', async (t) => {
  const seen: { line: string; body: string; headers: string[] }[] = [];
  const { port } = await proxyOf(t, async (request, response) => {
    const body = await text(request);
    seen.push({ line: `${request.method} ${request.url}`, body, headers: request.rawHeaders });
    response.end();
  });
  const inner = 'POST /inner HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
  for (const connection of ['content-length', 'transfer-encoding', 'keep-alive'])
    await exchange(port, nested('DELETE /outer', connection, inner));
  await exchange(port, 'POST /empty HTTP/1.1\r\nHost: x\r\nConnection: host, close\r\n\r\n');
  t.same(
    seen.map(({ line, body }) => [line, body]),
    [...Array(3).fill(['DELETE /outer', inner]), ['POST /empty', '']],
  );
  t.ok(seen.every(({ headers }) => headers.includes('Host')));

  const forged = ['X-Client-CertPem', 'x-client-certpem', 'X_CLIENT_CERTPEM', 'X-Client_CertPem']
    .concat(['X-Edge-Router-Proxy-Request', 'x_edge_router_proxy_request'])
    .map((name) => `${name}: forged\r\n`);
  const connection = 'Connection: x-client-certpem, close\r\n';
  await exchange(port, `GET /forged HTTP/1.1\r\nHost: x\r\n${connection}${forged.join('')}${forged.join('')}\r\n`);
  t.notOk(seen.at(-1)?.headers.includes('forged'), 'headers of the router cannot be forged');
});

t.test('an answer in chunks to a rejected upgrade arrives as it was sent', async (t) => {
  const { controller, address } = await proxyOf(t);
  controller.on('upgrade', (_request, socket: Duplex) =>
    socket.end('HTTP/1.1 403 Forbidden\r\ntransfer-encoding: chunked\r\n\r\n3\r\nno \r\n4\r\nway!\r\n0\r\n\r\n'),
  );
  const stream = new WebSocket(`wss://${address}/`, { rejectUnauthorized: false });
  stream.on('error', () => undefined);
  const [, answer] = (await once(stream, 'unexpected-response')) as [unknown, IncomingMessage];
  t.equal(answer.statusCode, 403);
  t.equal(await text(answer), 'no way!');
});

t.test('an upgrade request with a body is rejected, and the next request is answered', async (t) => {
  const { controller, port } = await proxyOf(t, (request, response) => response.end(`answer to ${request.url}`));
  let upgrades = 0;
  controller.on('upgrade', () => upgrades++);
  const upgrade = 'GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n';
  for (const framing of ['Content-Length: 60', 'Transfer-Encoding: chunked']) {
    t.match(await exchange(port, `${upgrade}${framing}\r\n\r\n`), /^HTTP\/1\.1 400 Bad Request\r\n/);
    const next = await exchange(port, 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    t.match(next, /answer to \/next$/);
  }
  t.equal(upgrades, 0);
});

t.test('a client whose upgrade is rejected cannot keep its connection', async (t) => {
  const { controller, clock, port } = await proxyOf(t);
  controller.on('upgrade', (_request, upgraded: Duplex) =>
    upgraded.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'),
  );
  const tcp = connectTcp({ host: '127.0.0.1', port, allowHalfOpen: true });
  const socket = connect({ socket: tcp, rejectUnauthorized: false });
  t.teardown(() => tcp.destroy());
  let isClosed = false;
  socket.on('error', () => undefined);
  tcp
    .on('error', () => undefined)
    .on('close', () => {
      isClosed = true;
    });
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
  socket.resume();
  await once(socket, 'end');
  t.notOk(isClosed);
  await until('the end', async () => {
    await clock.advance(1_000);
    socket.write('x'); // a closed connection is noticed by writing
    return isClosed;
  });
  t.same(clock.timers(), []);
});

t.test('an upgrade request that the controller does not answer gets status 504 with its text', async (t) => {
  const { controller, clock, port } = await proxyOf(t);
  controller.on('upgrade', (_request, socket: Duplex) => {
    socket.on('error', () => undefined);
    void clock.advance(30_000);
  });
  const answer = await exchange(
    port,
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n',
  );
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  t.match(head, /^HTTP\/1\.1 504 Gateway Timeout\r\n/);
  t.match(head, new RegExp(`content-length: ${Buffer.byteLength(body)}$`));
});

t.test('an answer of the controller that is not valid HTTP gets status 502', async (t) => {
  const { controller, port } = await proxyOf(t);
  const lines = ['HTTP/1.1 099 OK', 'HTTP/1.1 200 O\x01K', 'HTTP/1.1 101 OK\r\nConnection: upgrade\r\nUpgrade: x'];
  let line = '';
  controller.on('request', ({ socket }) => socket.end(`${line}\r\nContent-Length: 0\r\n\r\n`));
  for (line of lines) {
    const answer = await exchange(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    t.match(answer, /^HTTP\/1\.1 502 Bad Gateway\r\n[\s\S]*"BAD_GATEWAY"/, line);
  }
});
