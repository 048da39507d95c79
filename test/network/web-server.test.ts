// A web server of a router whose certificates change while it runs, and the share of a client in its requests.

import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { Agent, request } from 'undici';
import { createLog, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import type { WebConfig } from '../../agent/config/router-config.ts';
import { Health } from '../../agent/health/health.ts';
import { Identity } from '../../agent/identity/identity.ts';
import { WebServer } from '../../agent/web/web-server.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { edgeListener, linkListener, webServer } from '../support/config/link-config.ts';
import { expensiveChain } from '../support/hostile/expensive-chain.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

type Version = 'TLSv1.2' | 'TLSv1.3';

/** Milliseconds that no slow machine exceeds. */
const LONG = 600_000;
/** A page larger than the buffers of a connection. */
const UNREAD = { contentType: 'text/plain', render: async () => 'x'.repeat(32 * 1024 * 1024) };

async function open(options: Partial<WebConfig['options']>, metrics?: typeof UNREAD) {
  const clock = new SystemClock();
  const { pem, key } = await issue(await makeAuthority('network'), 'localhost');
  const config = {
    cert: `pem:${pem}`,
    key: `pem:${key.export({ type: 'pkcs8', format: 'pem' })}`,
    alt_server_certs: [],
  };
  const identity = await Identity.open({ config, clock, log: silentLog });
  const check = { interval: 60_000, initialDelay: 60_000 };
  const health = new Health(
    { clock, controllers: () => [], links: () => [], isDraining: () => false, unconnectedSince: () => 0 },
    { ctrlPingCheck: check, linkCheck: { ...check, minLinks: 0 } },
  );
  const address = { type: 'tls', host: '127.0.0.1', port: 0 } as const;
  const web: WebConfig = {
    name: 'web',
    bindPoints: [{ interface: address, address }],
    apis: [{ binding: 'health-checks' }, { binding: 'metrics' }],
    options: {
      readTimeout: 5_000,
      writeTimeout: 5_000,
      idleTimeout: 5_000,
      minTLSVersion: 'TLS1.2',
      maxTLSVersion: 'TLS1.3',
      ...options,
    },
  };
  const server = await WebServer.open(
    { clock, io: new IoContext({ clock }), log: silentLog, identity, health, metrics },
    web,
    'web[0]',
  );
  const port = Number(server.addresses[0]?.split(':').at(-1));
  const close = async () => {
    await server.close();
    health.close();
    identity.close();
  };
  return { identity, port, close };
}

/** Whether a client of this version can connect. */
function connects(port: number, version: Version): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, minVersion: version, maxVersion: version };
    const socket = connect(options, () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

t.test('the TLS versions of a web server stay in force when its certificates are renewed', async (t) => {
  const table: [string, Partial<WebConfig['options']>, Version, Version][] = [
    ['minTLSVersion', { minTLSVersion: 'TLS1.3' }, 'TLSv1.3', 'TLSv1.2'],
    ['maxTLSVersion', { maxTLSVersion: 'TLS1.2' }, 'TLSv1.2', 'TLSv1.3'],
  ];
  for (const [name, options, accepted, rejected] of table) {
    const { identity, port, close } = await open(options);
    for (const when of ['at the start', 'after the renewal']) {
      t.equal(await connects(port, accepted), true, `${name}: ${accepted} ${when}`);
      t.equal(await connects(port, rejected), false, `${name}: ${rejected} ${when}`);
      await identity.reload();
    }
    await close();
  }
});

t.test('answers are compressed with the coding that the client prefers', async (t) => {
  const { port, close } = await open({});
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  const table: [string, string | undefined, (body: Buffer) => Buffer][] = [
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, br;q=0.5', 'gzip', gunzipSync],
    ['deflate', undefined, (body) => body],
  ];
  for (const [accepted, coding, decoded] of table) {
    const { headers, body } = await request(`https://127.0.0.1:${port}/health-checks`, {
      headers: { 'accept-encoding': accepted },
      dispatcher: agent,
    });
    t.equal(headers['content-encoding'], coding);
    t.match(JSON.parse(String(decoded(Buffer.from(await body.bytes())))), { data: {} }, accepted);
  }
  await agent.close();
  await close();
});

t.test('the port requests no certificate, so that clients cannot send expensive ones', async (t) => {
  const { port, close } = await open({});
  const chain = expensiveChain({ authorities: 4, bits: 8_192 });
  const tcp = connectTcp({ host: '127.0.0.1', port });
  const socket = connect({ socket: tcp, rejectUnauthorized: false, ...chain });
  await once(socket, 'secureConnect');
  t.ok(tcp.bytesWritten < 4_096, `${tcp.bytesWritten} bytes`);
  socket.destroy();
  await close();
});

t.test('requests beyond the share of a source are rejected, and other sources are served', async (t) => {
  const { port, close } = await open({ readTimeout: LONG, writeTimeout: LONG, idleTimeout: LONG }, UNREAD);
  const held = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const tcp = connectTcp({ host: '127.0.0.1', port, localAddress: '127.0.0.2' });
      const socket = connect({ socket: tcp, rejectUnauthorized: false });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
      return socket.pause();
    }),
  );
  const client = (localAddress: string) => new Agent({ connect: { rejectUnauthorized: false }, localAddress });
  const [beyond, other] = [client('127.0.0.2'), client('127.0.0.3')];
  const ask = async (dispatcher: Agent) => {
    const { statusCode, headers, body } = await request(`https://127.0.0.1:${port}/livez`, { dispatcher });
    return { statusCode, headers, body: await body.text() };
  };
  t.match(await ask(beyond), { statusCode: 503, headers: { 'retry-after': '1' }, body: /20 of one client/ });
  t.match(await ask(other), { statusCode: 200 });
  for (const socket of held) socket.destroy();
  await until('the share to be free', async () => (await ask(beyond)).statusCode === 200);
  await Promise.all([beyond.close(), other.close()]);
  await close();
});

t.test('a web server shares the port of a link or SDK listener', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const [linkPort = 0, sdkPort = 0] = await fixedPorts(2);
  const server = webServer(linkPort, 'health-checks');
  const shared = await overlay.addRouter({
    name: 'shared',
    mode: 'host',
    link: { listeners: [linkListener(linkPort)] },
    listeners: [edgeListener(sdkPort)],
    extra: { web: [{ ...server, bindPoints: [...server.bindPoints, ...webServer(sdkPort).bindPoints] }] },
  });
  await overlay.addRouter({ name: 'other', mode: 'host' });
  await until('the link', () => shared.router.describe().links.length > 0);
  const answer = async (port: number, ALPNProtocols: string[]) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols });
    await once(socket, 'secureConnect');
    socket.write('GET /health-checks HTTP/1.1\r\nHost: x\r\n\r\n');
    const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    socket.destroy();
    return String(data);
  };
  for (const port of [linkPort, sdkPort]) t.match(await answer(port, ['h2', 'http/1.1']), /^HTTP\/1\.1 200 /);
  t.match(await answer(linkPort, []), /^HTTP\/1\.1 200 /, 'clients without ALPN');
  await shared.router.close({ drain: 0 });
  for (const port of [linkPort, sdkPort]) await t.rejects(answer(port, ['http/1.1']), { code: 'ECONNREFUSED' });
});

t.test('a reload reads the files of all identities again, and reports one that is unusable', async (t) => {
  const lines: { msg: string }[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.enrollRouter({ name: 'r', mode: 'host' });
  const own = join(overlay.directory, 'web');
  for (const file of ['cert', 'server.cert', 'key', 'ca'])
    copyFileSync(join(overlay.directory, `r.${file}`), `${own}.${file}`);
  const web = `web:
  - name: health
    identity: {cert: ${own}.cert, server_cert: ${own}.server.cert, key: ${own}.key, ca: ${own}.ca}
    bindPoints: [{interface: "127.0.0.1:0", address: "127.0.0.1:0"}]
    apis: [{binding: health-checks}]
`;
  writeFileSync(configFile, readFileSync(configFile, 'utf8') + web);
  await using router = await overlay.startRouter(configFile, { log });
  const reloads = () => lines.filter(({ msg }) => msg === 'identity reloaded').length;
  await router.reload();
  t.equal(reloads(), 2, "the router's and the web server's");
  for (const [index, content] of ['', 'no certificate'].entries()) {
    writeFileSync(`${own}.ca`, content); // authorities are not watched
    await t.rejects(router.reload(), { message: 'web[0].identity.ca: the file contains no certificate' });
    t.equal(reloads(), 3 + index, 'the other identity was reloaded');
  }
});
