// The operator's view of a running router, and answers of its listeners to strangers.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { connect } from 'node:tls';
import t from 'tap';
import { Agent, request } from 'undici';
import { DaemonLog } from '#lib/log/daemon-log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { loadRouterConfig } from '../../agent/config/load.ts';
import { Router } from '../../agent/router.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { enrollDevice, loginLegacy, SdkClient, serviceSession } from '../support/clients/sdk-client.ts';
import { edgeListener, webServer } from '../support/config/link-config.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { portsOf } from '../support/networks/router-ports.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

async function withWeb() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const extra = {
    healthChecks: {
      ctrlPingCheck: { interval: '100ms', initialDelay: '10ms' },
      linkCheck: { interval: '100ms', initialDelay: '10ms', minLinks: 1 },
    },
    web: [webServer(0, 'health-checks', 'metrics')],
  };
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', extra });
  const b = await overlay.addRouter({
    name: 'b',
    mode: 'host',
    listeners: [edgeListener()],
  });
  await overlay.addService('echo', b.id);
  const agent = new Agent({
    connect: { ca: readFileSync(join(overlay.directory, 'a.ca'), 'utf8'), allowPartialTrustChain: true },
  });
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await request(`https://127.0.0.1:${a.webPort}${path}`, { dispatcher: agent, headers });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  };
  return { overlay, a, b, get, agent };
}

t.test('health follows controllers and links; probes get a status, operators get reasons', async (t) => {
  const { overlay, b, get, agent } = await withWeb();
  await using _ = overlay;
  await until('the router to be ready', async () => (await get('/readyz')).status === 200);
  const healthy = JSON.parse((await get('/health-checks')).text);
  t.equal(healthy.data.healthy, true);
  t.same(healthy.data.checks.map(({ id }: { id: string }) => id).sort(), ['controllerPing', 'link.health']);
  t.match(healthy.data.checks.find(({ id }: { id: string }) => id === 'link.health').details, [{ destRouterId: b.id }]);
  await b.router.close({ drain: 0 });
  await until('the router to be not ready', async () => (await get('/readyz')).status === 503);
  const failed = JSON.parse((await get('/health-checks')).text);
  t.equal((await get('/health-checks')).status, 200, 'the reference always answers 200');
  t.match(
    failed.data.checks.find(({ id }: { id: string }) => id === 'link.health'),
    { healthy: false, err: { message: /minimum of 1/ } },
  );
  t.equal((await get('/livez')).status, 200, 'a process that answers is alive');
  for (const [accepted, encoding] of [
    ['gzip;q=0, br;q=0', undefined],
    ['gzip;q=0, br', 'br'],
    ['gzip', 'gzip'],
  ]) {
    const { headers } = await get('/livez', { 'accept-encoding': String(accepted) });
    t.match([headers['content-encoding'], headers.vary], [encoding, 'accept-encoding'], String(accepted));
  }
  await agent.close();
});

t.test('a router that reaches no controller is starting: alive, not ready, with the reason', async (t) => {
  await using overlay = await Overlay.start();
  const { configFile } = await overlay.enrollRouter({
    name: 'a',
    mode: 'host',
    extra: { web: [webServer(0, 'health-checks')] },
  });
  await overlay.simulator.close();
  await using router = await overlay.startRouter(configFile);
  const {
    web: [port],
  } = portsOf(router.describe());
  const agent = new Agent({
    connect: { ca: readFileSync(join(overlay.directory, 'a.ca'), 'utf8'), allowPartialTrustChain: true },
  });
  const status = async (path: string) => {
    const response = await request(`https://127.0.0.1:${port}${path}`, { dispatcher: agent });
    return [response.statusCode, JSON.parse(await response.body.text()).data];
  };
  const starting = { healthy: false, state: 'starting', reason: 'no controller is connected' };
  t.match(await status('/livez'), [200, starting]);
  t.match(await status('/readyz'), [503, starting]);
  t.match(await status('/health-checks?type=short'), [200, starting]);
  const { code, stdout } = await runProgram(['entry/router-cli.ts', 'health', configFile]);
  t.equal(code, 1);
  t.match(
    stdout,
    /^waits {2}controllerPing: .*\nok {5}link\.health\nthe router is starting: no controller is connected/,
  );
  await agent.close();
});

t.test('the metrics page contains queues, links, circuits, bytes and controllers', async (t) => {
  const { overlay, a, get, agent } = await withWeb();
  await using _ = overlay;
  await overlay.ready();
  // The counters of a link go on when its duplicate replaces it.
  await until('the link to be counted', async () => {
    await transfer(a.proxyPort, 100_000);
    return /link_bytes_total\{peer="[^"]+",link_key="[^"]+",protocol="tls",direction="tx"\} \d{5}/.test(
      (await get('/metrics')).text,
    );
  });
  const { status, text } = await get('/metrics');
  t.equal(status, 200);
  for (const pattern of [
    /pool_queue_size\{pool="link\.dialer"\} 0/,
    /pool_workers\{pool="route\.handler"\} 128/,
    /pool_workers\{pool="listener\.link"\} 16/,
    /xgress_bytes_total\{role="ingress",direction="rx"\} \d{6}/,
    /edgeweave_router_circuits \d/,
    /edgeweave_router_controllers\{state="connected"\} 1/,
  ])
    t.match(text, pattern);
  const missing = await get('/nowhere');
  t.equal(missing.status, 404);
  t.match(missing.text, /health-checks.*metrics/);
  await agent.close();
});

t.test(
  'strangers at the web port: incomplete requests time out, invalid ones are answered, none delays the stop',
  async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const { router, webPort: port } = await overlay.addRouter({
      name: 'a',
      extra: {
        web: [
          {
            ...webServer(0, 'health-checks', 'metrics'),
            options: { readTimeout: '300ms', writeTimeout: '1s', idleTimeout: '300ms' },
          },
        ],
      },
    });
    const ask = (text: string) =>
      new Promise<string>((resolve) => {
        let answer = '';
        const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => socket.write(text));
        socket.setEncoding('utf8').on('data', (chunk) => {
          answer += chunk;
        });
        socket.on('error', () => undefined);
        socket.once('close', () => resolve(answer));
      });
    const half = 'GET /livez HTTP/1.1\r\nhost: x\r\n';
    const slow = await Promise.all([half, '', `${half}\r\n`, `${half}\r\n${half}`].map(ask));
    t.same(
      slow.map((answer) => answer.slice(0, 12)),
      ['', '', 'HTTP/1.1 200', 'HTTP/1.1 200'],
      'the router closes each of them',
    );
    for (const target of ['//', '//:', '///\\', 'http://['])
      t.match(await ask(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`), /^HTTP\/1\.1 40[04] /, target);
    const rejected = await ask('DELETE /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
    t.match(rejected, /^HTTP\/1\.1 405 /);
    t.match(rejected, /^allow: GET, HEAD/im);
    const left = ask(half);
    await until('the last stranger', () => router.describe().timers.includes('http read'));
    await router.close({ drain: 0 });
    await left;
  },
);

t.test('an edge listener answers a hello without a token, and closes', async (t) => {
  const { overlay, b, agent } = await withWeb();
  await using _ = overlay;
  const clock = new SystemClock();
  const [cert, key] = ['a.cert', 'a.key'].map((name) => readFileSync(join(overlay.directory, name)));
  const socket = connect({
    port: b.sdkPort,
    host: '127.0.0.1',
    ALPNProtocols: [Alpn.Edge],
    rejectUnauthorized: false,
    cert,
    key,
  });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const underlay = new Underlay({ socket, io: new IoContext({ clock }) });
  const answer = await sendHello(underlay, 'sdk', [], 5_000);
  t.ok(answer.bool(ChannelHeader.ResultSuccess));
  await underlay.closed;
  t.pass('closed');
  await agent.close();
});

t.test('strangers on a link port use no resources', async (t) => {
  const { overlay, a, agent } = await withWeb();
  await using _ = overlay;
  await overlay.ready();
  const port = a.linkPort;
  const knock = (alpn: string[], bytes: Buffer) =>
    new Promise<void>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', ALPNProtocols: alpn, rejectUnauthorized: false }, () =>
        socket.write(bytes),
      );
      socket.on('error', () => undefined).once('close', () => resolve());
      socket.resume();
    });
  await knock(['http/1.1'], Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  await knock([Alpn.Link], Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  await knock([Alpn.Link], Buffer.alloc(100_000, 0xff));
  const head = Buffer.alloc(20);
  head.writeUInt32LE(0x0c090603);
  head.writeUInt32LE(0xffff_fff0, 12);
  await knock([Alpn.Link], head);
  t.equal((await transfer(a.proxyPort, 100_000)).bytes, 100_000);
  await agent.close();
});

t.test('the log level of a running router changes, for all components or for one', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host' });
  const { config } = loadRouterConfig(configFile);
  if (!config) throw new Error('the configuration was rejected');
  const lines: string[] = [];
  const sink = new Writable({ decodeStrings: false, write: (line: string, _, done) => (lines.push(line), done()) });
  const daemonLog = new DaemonLog({ level: 'info', format: 'json', clock: new SystemClock(), sink });
  const router = await Router.start({ config, log: daemonLog.log, logLevels: daemonLog.levels });
  const logLevel = (...args: string[]) => runProgram(['entry/router-cli.ts', 'log-level', configFile, ...args]);
  const levels = await logLevel();
  t.match(levels, { code: 0, stdout: /^all +info\naccess +info\n.*link +info\n/s });
  t.match((await logLevel('link', 'debug', '--json')).stdout, /"link": "debug"/);
  t.match((await logLevel('warn')).stdout, /^all +warn\n.*control +warn\n.*link +debug\n/s);
  t.match((await logLevel('link', 'default')).stdout, /link +warn\n/);
  t.match(await logLevel('loud'), { code: 1, stderr: /"loud" is not a log level; use one of trace, debug/ });
  t.match(await logLevel('nothing', 'debug'), { code: 1, stderr: /unknown component "nothing"; known are access/ });
  t.match(lines.join(''), /"changed":"link","level":"debug","msg":"log level changed"|log level changed/);
  await router.close({ drain: 0 });
  await daemonLog.close();
});

t.test('memory and profiles of a running router are printed and written', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.addRouter({ name: 'a', mode: 'host' });
  const router = (...args: string[]) => runProgram(['entry/router-cli.ts', ...args]);
  t.match(await router('memory', configFile), { code: 0, stdout: /^resident +[\d.]+ MiB\nheap in use +[\d.]+ MiB\n/ });
  t.match(
    (await router('memory', configFile, '--collect')).stdout,
    /^ +before +after\nresident +[\d.]+ MiB +[\d.]+ MiB\n/,
  );
  const { before, after } = JSON.parse((await router('memory', configFile, '--collect', '--json')).stdout);
  t.ok(before.resident > 0 && after.heapUsed > 0);
  const output = join(overlay.directory, 'router.cpuprofile');
  const written = await router('profile', configFile, 'cpu', '--seconds', '0.2', '--output', output);
  t.match(written, { code: 0, stdout: `${output}\n` }, written.stderr);
  t.match(JSON.parse(readFileSync(output, 'utf8')), { nodes: Array, samples: Array });
  const heap = join(overlay.directory, 'router.heapprofile');
  t.equal((await router('profile', configFile, 'memory', '--seconds', '0.2', '--output', heap)).code, 0);
  t.match(JSON.parse(readFileSync(heap, 'utf8')), { head: {} });
  t.match(await router('profile', configFile, 'cpu', '--seconds', '601'), {
    code: 2,
    stderr: /Use a number of seconds from 0\.1 to 600/,
  });
  const nowhere = await router('profile', configFile, 'cpu', '--seconds', '0.1', '--output', '/nowhere/x');
  t.match(nowhere, {
    code: 1,
    stderr: /the profile cannot be written: the folder \/nowhere does not exist; create it/,
  });
  t.match(await router('profile', configFile, 'disk'), { code: 2 });
});

t.test('a trace contains the messages of control, link and SDK channels without their secrets', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const file = join(overlay.directory, 'trace.jsonl');
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'host',
    listeners: [edgeListener()],
    extra: { trace: { path: file } },
  });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const echo = await overlay.addService('echo', b.id, { encrypted: false });
  const roles = { identityRoles: ['#all'], edgeRouterRoles: ['#all'] };
  await overlay.management.edgeRouterPolicies.create({ name: 'all', semantic: 'AnyOf', ...roles });
  await overlay.ready();
  const device = await enrollDevice(overlay, 'device');
  const token = await loginLegacy(overlay, device);
  const session = await serviceSession(overlay, device, token, echo, 'Dial');
  const client = await SdkClient.connect(a.sdkPort, device, token);
  const { conn } = await client.dial(session);
  conn.send('payload-text');
  await until('the echo', () => conn.text === 'payload-text');
  client.close();
  await device.http.close();
  await a.router.close({ drain: 0 });
  const text = readFileSync(file, 'utf8');
  for (const secret of [token, session, 'payload-text', overlay.management.sessionToken])
    t.notOk(text.includes(secret) || text.includes(Buffer.from(secret).toString('base64')), secret.slice(0, 8));
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const circuitId = lines.find(({ type }) => type === 'CreateCircuitV2Response')?.circuitId;
  t.type(circuitId, 'string');
  for (const [channel, type, fields] of [
    [/^control /, 'Route', { body: { circuitId } }],
    [/^link /, 'Payload', { circuitId, direction: 'out' }],
    [/^SDK client /, 'Connect', { connectionId: conn.id, direction: 'in' }],
  ] as const)
    t.match(
      lines.find((line) => line.type === type && channel.test(String(line.channel))),
      fields,
      type,
    );
});
