// SDK clients in browsers: WebSocket over TLS, with the TLS of the client inside.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import WebSocket, { createWebSocketStream } from 'ws';
import { EdgeFlag, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { RouterFile } from '../../agent/config/router-file.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { httpClient } from '../support/clients/http.ts';
import { type Device, enrollDevice, loginLegacy, SdkClient, serviceSession } from '../support/clients/sdk-client.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

interface Network extends AsyncDisposable {
  overlay: Overlay;
  router: TestRouter;
  /** Port for browsers, and port for browsers and other SDK clients. */
  port: number;
  sharedPort: number;
  echo: string;
}

async function network(wss: NonNullable<RouterFile['transport']>['wss'] = {}): Promise<Network> {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const [sharedPort = 0] = await fixedPorts(1);
  const router = await overlay.addRouter({
    name: 'a',
    mode: 'host',
    listeners: [edgeListener(0, 'wss'), edgeListener(sharedPort, 'wss'), edgeListener(sharedPort)],
    extra: { transport: { protocol: 'custom', wss } },
  });
  await overlay.management.edgeRouterPolicies.create({
    name: 'all',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  });
  const echo = await overlay.addService('echo', router.id, { encrypted: false });
  await overlay.ready();
  const port = router.ports.sdk.find((each) => each !== sharedPort) ?? 0;
  return { overlay, router, port, sharedPort, echo, [Symbol.asyncDispose]: () => overlay.close() };
}

/** A WebSocket as browsers open it: without a certificate of the network. */
async function openWebSocket(port: number, path = '/ws'): Promise<WebSocket> {
  const createConnection = () =>
    connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, { createConnection });
  await once(socket, 'open');
  return socket;
}

/** The client's TLS inside the WebSocket. */
function innerTls(webSocket: WebSocket, device?: Pick<Device, 'cert' | 'key'>): TLSSocket {
  const stream = createWebSocketStream(webSocket);
  stream.on('error', () => undefined);
  const key = device?.key.export({ type: 'pkcs8', format: 'pem' });
  const socket = connect({ socket: stream, rejectUnauthorized: false, ...(device && { cert: device.cert, key }) });
  socket.on('error', () => undefined);
  return socket;
}

async function browser(port: number, device: Pick<Device, 'cert' | 'key'>, token: string): Promise<SdkClient> {
  return SdkClient.over(innerTls(await openWebSocket(port), device), token);
}

t.test('a browser dials a service over a dedicated port and over a shared one', async (t) => {
  await using all = await network();
  const { overlay, router, echo } = all;
  const device = await enrollDevice(overlay, 'browser');
  t.teardown(() => device.http.close());
  const token = await loginLegacy(overlay, device);
  const session = await serviceSession(overlay, device, token, echo, 'Dial');
  for (const port of [all.port, all.sharedPort]) {
    const client = await browser(port, device, token);
    const { conn, answer } = await client.dial(session);
    t.equal(answer.contentType, SdkType.StateConnected, 'connected');
    const data = 'x'.repeat(300_000);
    for (let at = 0; at < data.length; at += 30_000) conn.send(data.slice(at, at + 30_000));
    await until('the echo', () => conn.text.length === data.length);
    t.equal(conn.text, data);
    conn.send('', [[SdkHeader.Flags, encodeUint32(EdgeFlag.Fin)]]);
    await until('the end of the other side', () => (conn.flags & EdgeFlag.Fin) !== 0);
    client.close();
  }
  const named = connect({
    host: '127.0.0.1',
    port: all.sharedPort,
    rejectUnauthorized: false,
    ALPNProtocols: ['custom'],
  });
  await once(named, 'secureConnect');
  t.equal(named.alpnProtocol, 'custom', 'the protocol name from transport.protocol');
  named.destroy();
  const plain = await SdkClient.connect(all.sharedPort, device, token);
  t.equal((await plain.dial(session)).answer.contentType, SdkType.StateConnected, 'TLS alone works on the shared port');
  plain.close();
  await until('no client is left', () => router.router.describe().sdkClients === 0);
  const { bytes } = await device.http.send(`${overlay.simulator.clientUrl}/current-identity/edge-routers`, {
    headers: { 'zt-session': token },
  });
  const { data } = JSON.parse(bytes.toString()) as { data: { supportedProtocols: Record<string, string> }[] };
  t.match(data[0]?.supportedProtocols, { wss: /^wss:\/\// }, 'clients learn the address');
});

t.test('strangers are rejected by the TLS inside the WebSocket', async (t) => {
  await using all = await network({ handshakeTimeout: 4, readTimeout: 4, pingInterval: 1, pongTimeout: 2 });
  const { overlay, router, port } = all;
  const http = httpClient({ rejectUnauthorized: false });
  t.teardown(() => http.close());
  const get = async (path: string) => {
    const { status, bytes } = await http.send(`https://127.0.0.1:${port}${path}`);
    return [status, bytes.toString()] as const;
  };
  t.match(await get('/ws'), [426, /WebSocket/]);
  t.match(await get('/other'), [404, /\/ws/]);
  await t.rejects(openWebSocket(port, '/other'), /404/);

  const foreign = await makeAuthority('foreign');
  const stranger = await issue(foreign, 'stranger');
  const token = 'none';
  await t.rejects(browser(port, { cert: stranger.pem, key: stranger.key }, token), 'a foreign certificate');
  await t.rejects(SdkClient.over(innerTls(await openWebSocket(port)), token), 'no certificate');

  const closed = async (what: string, attack: (socket: WebSocket) => void) => {
    const socket = await openWebSocket(port);
    socket.on('error', () => undefined);
    const gone = once(socket, 'close');
    attack(socket);
    await gone;
    t.pass(`closed: ${what}`);
  };
  await closed('silence', () => undefined);
  await closed('garbage', (socket) => socket.send(Buffer.alloc(1_000, 7)));
  await closed('a message that is too large', (socket) => socket.send(Buffer.alloc(2_000_000)));
  await closed('a handshake that is cut', (socket) => {
    const inner = innerTls(socket);
    inner.once('session', () => socket.terminate());
    socket.once('message', () => socket.terminate());
  });

  const device = await enrollDevice(overlay, 'browser');
  t.teardown(() => device.http.close());
  const session = await loginLegacy(overlay, device);
  const webSocket = new WebSocket(`wss://127.0.0.1:${port}/ws`, { rejectUnauthorized: false, autoPong: false });
  await once(webSocket, 'open');
  const client = await SdkClient.over(innerTls(webSocket, device), session);
  await client.channel.closed;
  t.pass('closed: a client that does not answer pings');
  await until('no client is left', () => router.router.describe().sdkClients === 0);
  const timers = router.router.describe().timers;
  t.notOk(
    timers.some((name) => name.startsWith('websocket')),
    'no timer is left',
  );
});

t.test('a client that answers pings stays connected while the router does not read from it', async (t) => {
  await using all = await network({ pingInterval: 1, pongTimeout: 5 });
  const { overlay, router, port } = all;
  const unread = createServer({ pauseOnConnect: true });
  t.teardown(() => unread.close());
  unread.listen(0, '127.0.0.1');
  await once(unread, 'listening');
  const address = unread.address() as { port: number };
  const service = await overlay.addService('unread', router.id, { encrypted: false, port: address.port });
  await overlay.ready();
  const device = await enrollDevice(overlay, 'browser');
  t.teardown(() => device.http.close());
  const token = await loginLegacy(overlay, device);
  const session = await serviceSession(overlay, device, token, service, 'Dial');
  const webSocket = await openWebSocket(port);
  const client = await SdkClient.over(innerTls(webSocket, device), token);
  const connected = once(unread, 'connection') as Promise<[Socket]>;
  const { conn } = await client.dial(session);
  const [accepted] = await connected;
  accepted.on('error', () => undefined); // the circuit is cut when the client disconnects
  t.teardown(() => accepted.destroy());
  let pings = 0;
  webSocket.on('ping', () => void pings++);
  const block = Buffer.alloc(60_000);
  let sent = 0;
  const fill = () => {
    const headers = [[SdkHeader.ConnectionId, encodeUint32(conn.id)]] as const;
    while (sent < 400 && client.channel.trySend(new Message(SdkType.Data, headers, block))) sent++;
  };
  client.channel.lane().onWritable(fill);
  fill();
  await until('more pings than the timeout covers', () => pings >= 8 || client.channel.isClosed);
  t.notOk(client.channel.isClosed, 'connected');
  t.ok(client.channel.lane().queued > 0, 'the router does not read');
  let received = 0;
  accepted.on('data', (data) => {
    received += data.length;
  });
  accepted.resume();
  await until('all data', () => received === 400 * block.length);
  t.equal(sent, 400);
  client.close();
});
