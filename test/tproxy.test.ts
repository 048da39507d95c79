// Mode tproxy in a network namespace of its own, with the programs of the system: curl and dig reach services by name and by
// address, and nothing is left when the router is gone, however it went.

import { execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inOwnNamespace, LanClient, run, useLocalResolver } from './support/network-namespace.ts';
import { Overlay, type ServiceSetup, type TestRouter, until } from './support/overlay.ts';

const execute = promisify(execFile);
const PROGRAMS = ['ip', 'nft', 'iptables', 'curl', 'dig', 'mount', 'nsenter', 'setpriv'];

if (await inOwnNamespace(import.meta.filename, PROGRAMS)) await tests();

async function curl(url: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('curl', ['--silent', '--show-error', '--max-time', '10', ...args, url]);
  return stdout;
}

/** Status and addresses of an answer: `NOERROR 100.64.0.2`. */
async function dig(...args: string[]): Promise<string> {
  const { stdout } = await execute('dig', ['+tries=1', '+time=3', '@127.0.0.1', ...args]).catch(() => ({ stdout: '' }));
  const status = /status: (\w+)/.exec(stdout)?.[1] ?? 'no answer';
  const addresses = [...stdout.matchAll(/\sIN\sA\s+(\d\S*)/g)].map(([, address]) => address);
  return [status, ...addresses].join(' ');
}

/** A web server that answers with the caller's address and what it was asked for. */
async function webServer() {
  const answer = (request: IncomingMessage) => `${request.headers.host} ${request.method} ${request.url}`;
  const sources: string[] = [];
  const server = createServer((request, response) => {
    sources.push(request.socket.remoteAddress ?? '');
    request.resume().on('end', () => response.end(answer(request)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return { port: (server.address() as AddressInfo).port, sources, close: () => server.close() };
}

/** What a router has changed on this machine. */
function traces(): string {
  const rules = run('nft', 'list', 'tables')
    .split('\n')
    .filter((line) => line.includes('edgeweave'));
  const chains = run('iptables-save')
    .split('\n')
    .filter((line) => line.includes('edgeweave'));
  const routes = run('ip', 'route', 'show', 'table', 'local', 'proto', '142').split('\n').filter(Boolean);
  return [...rules, ...chains, ...routes].join('\n');
}

async function network(tunnel = '') {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const web = await webServer();
  const a = await overlay.addRouter({ name: 'a', mode: 'tproxy', ...(tunnel !== '' && { tunnel }) });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const offer = (name: string, intercept: Readonly<Record<string, unknown>>, setup: ServiceSetup = {}) =>
    overlay.addService(name, b.id, {
      port: web.port,
      ...setup,
      configs: { 'intercept.v1': { protocols: ['tcp'], portRanges: [{ low: 80, high: 80 }], ...intercept } },
    });
  return { overlay, web, a, b, offer };
}

function intercepted({ router }: TestRouter): string[] {
  return (router.describe().interception as { services: string[] }).services;
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  run('ip', 'link', 'set', 'lo', 'up');
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  useLocalResolver(folder);

  t.test('curl reaches services by name, wildcard, address and range, and dig sees the names', async (t) => {
    const { overlay, web, a, offer } = await network();
    await using _ = overlay;
    await offer('named', { addresses: ['web.example'] });
    await offer('wild', { addresses: ['*.wild.example'], portRanges: [{ low: 8_000, high: 8_010 }] });
    await offer('addressed', { addresses: ['10.77.0.1', '10.78.0.0/16'], portRanges: [{ low: 81, high: 85 }] });
    await offer('plain', { addresses: ['plain.example'], sourceIp: '$src_ip' }, { encrypted: false });
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 4);

    t.equal(await curl('http://web.example/x'), 'web.example GET /x');
    t.equal(await curl('http://WEB.example/x'), 'WEB.example GET /x');
    t.equal(await curl('http://deep.in.wild.example:8005/'), 'deep.in.wild.example:8005 GET /');
    t.equal(await curl('http://10.77.0.1:81/'), '10.77.0.1:81 GET /');
    t.equal(await curl('http://10.78.200.9:85/'), '10.78.200.9:85 GET /');
    t.equal(await curl('http://plain.example/'), 'plain.example GET /');
    t.equal(web.sources.at(-1), '100.64.0.1', 'the host dials from the source that the template says');
    t.equal(await curl('http://web.example/', '--data-binary', 'x'.repeat(100_000)), 'web.example POST /');

    await t.rejects(curl('http://web.example:81/'), /reset|refused/i, 'another port');
    await t.rejects(curl('http://10.78.200.9:86/'), /connect/i);

    const first = await dig('web.example', 'A');
    t.match(first, /^NOERROR 100\.64\.0\.\d+$/);
    t.equal(await dig('WEB.EXAMPLE', 'A'), first, 'names have no case');
    t.equal(await dig('web.example', 'AAAA'), 'NOERROR');
    t.match(await dig('other.wild.example', 'A'), /^NOERROR 100\.64\.0\.\d+$/);
    t.equal(await dig('wild.example', 'A'), 'REFUSED', 'a wildcard is not the domain itself');
    t.equal(await dig('web.example', 'TXT'), 'REFUSED');
    t.equal(await dig('unknown.example', 'A'), 'REFUSED');
    await until('all circuits to end', () => a.router.describe().circuitEnds === 0);
    web.close();
  });

  t.test('datagrams are intercepted, and answers come from where the client sent them to', async (t) => {
    const { overlay, web, a, offer } = await network('udpIdleTimeout: 5s, udpCheckInterval: 1s');
    await using _ = overlay;
    web.close();
    const echo = createSocket('udp4').bind(0, '127.0.0.1');
    await once(echo, 'listening');
    echo.on('message', (data, { port, address }) => echo.send(data, port, address));
    const host = { protocol: 'udp', address: '127.0.0.1', port: echo.address().port };
    const intercept = { protocols: ['udp'], portRanges: [{ low: 7_000, high: 7_010 }] };
    await offer('udp', { ...intercept, addresses: ['10.77.0.1', 'udp.example'] }, { host });
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 1);

    const client = createSocket('udp4');
    const heard: string[] = [];
    client.on('message', (data, { address, port }) => heard.push(`${data.length} from ${address}:${port}`));
    client.send('hello', 7_001, '10.77.0.1');
    await until('an answer', () => heard.includes('5 from 10.77.0.1:7001'));
    for (const size of [1_000, 9_000, 60_000]) client.send(Buffer.alloc(size), 7_001, '10.77.0.1');
    await until('large answers', () => heard.includes('60000 from 10.77.0.1:7001'));
    client.send('hello!', 7_002, '10.77.0.1');
    await until('another session', () => heard.includes('6 from 10.77.0.1:7002'));
    const [address] = /100\.64\.\S+/.exec(await dig('udp.example', 'A')) ?? [''];
    client.send('by name', 7_010, address);
    await until('an answer by name', () => heard.includes(`7 from ${address}:7010`));
    client.send('not intercepted', 7_011, address);
    t.equal((a.router.describe().interception as { udpSessions: number }).udpSessions, 3);
    await until('idle sessions to end', () => a.router.describe().circuitEnds === 0);
    t.equal((a.router.describe().interception as { udpSessions: number }).udpSessions, 0);
    client.close();
    echo.close();
  });

  t.test('intercepts follow the network: services, configurations, policies, the identity', async (t) => {
    const { overlay, web, a, offer } = await network();
    await using _ = overlay;
    const { management } = overlay;
    await offer('web', { addresses: ['web.example', '10.77.0.1', '*.web.example'] });
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 1);
    t.equal(await curl('http://10.77.0.1/'), '10.77.0.1 GET /');
    t.match(await dig('a.web.example', 'A'), /^NOERROR 100/);

    const [config] = await management.get<{ id: string }[]>(`configs?filter=${filter('name = "web-intercept.v1"')}`);
    const data = {
      protocols: ['tcp'],
      addresses: ['10.77.0.2', 'new.example'],
      portRanges: [{ low: 8_080, high: 8_080 }],
    };
    await management.patch(`configs/${config?.id}`, { data });
    await until('the new address', () => traces().includes('10.77.0.2'));
    t.equal(await curl('http://new.example:8080/'), 'new.example:8080 GET /');
    t.equal(await curl('http://10.77.0.2:8080/'), '10.77.0.2:8080 GET /');
    await until('the old address to be gone', () => !traces().includes('10.77.0.1'));
    t.equal(await dig('web.example', 'A'), 'REFUSED');
    t.equal(await dig('a.web.example', 'A'), 'REFUSED');
    await t.rejects(curl('http://10.77.0.1/', '--connect-timeout', '1'), /connect|timed out/i);

    const [policy] = await management.get<{ id: string }[]>(`service-policies?filter=${filter('name = "web-dial"')}`);
    await management.remove(`service-policies/${policy?.id}`);
    await until('the service to be gone', () => intercepted(a).length === 0);
    t.equal(await dig('new.example', 'A'), 'REFUSED');
    t.notMatch(traces(), '10.77');
    web.close();
  });

  t.test(
    'a machine behind the router is intercepted, within allowed sources, through a firewall that drops',
    async (t) => {
      const lan = await LanClient.open();
      const { overlay, web, a, offer } = await network('lanIf: lan0, resolver: "udp://0.0.0.0:53"');
      await using _ = overlay;
      await offer(
        'lan',
        { addresses: ['10.77.0.1'], sourceIp: '10.99.0.5:0' },
        { host: { ...hostAt(web.port), allowedSourceAddresses: ['10.99.0.0/24'] } },
      );
      await offer('others', { addresses: ['10.77.0.2'], allowedSourceAddresses: ['192.168.88.0/24', '100.64.0.0/10'] });
      await overlay.ready();
      await until('interception', () => intercepted(a).length === 2);
      run('iptables', '-w', '-A', 'INPUT', '-i', 'lan0', '-p', 'tcp', '-j', 'DROP');
      const [nsenter, ...inLan] = lan.prefix;
      const fetch = (url: string) =>
        execute(nsenter, [...inLan, 'curl', '--silent', '--show-error', '--max-time', '5', url]).then(
          ({ stdout }) => stdout,
        );
      t.equal(await fetch('http://10.77.0.1/'), '10.77.0.1 GET /');
      t.equal(web.sources.at(-1), '10.99.0.5', 'the service sees the source that the intercept names');
      await t.rejects(fetch('http://10.77.0.2/'), /reset/i, 'not an allowed source');
      t.equal(await curl('http://10.77.0.2/'), '10.77.0.2 GET /', 'an allowed one');
      t.match(run('iptables-save'), /edgeweave/);
      for (const { router } of overlay.routers) await router.close({ drain: 0 });
      t.equal(traces(), '');
      run('iptables', '-w', '-F', 'INPUT');
      lan.close();
      web.close();
    },
  );

  t.test('floods and unfinished connections are bounded, and leave no descriptors, sessions or timers', async (t) => {
    const { overlay, web, a, offer } = await network('udpIdleTimeout: 5s, udpCheckInterval: 1s');
    await using _ = overlay;
    await offer('evil" accept; flush ruleset #', { addresses: ['10.77.0.1', '*.wild.example'] });
    const nobody = { protocol: 'udp', address: '127.0.0.1', port: 1 };
    await offer(
      'udp',
      { addresses: ['10.77.0.2'], protocols: ['udp'], portRanges: [{ low: 1, high: 65_535 }] },
      { host: nobody },
    );
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 2);
    t.equal(await curl('http://10.77.0.1/'), '10.77.0.1 GET /', 'whatever a service is called');
    const before = readdirSync('/proc/self/fd').length;

    const sockets = Array.from({ length: 300 }, () => connect(80, '10.77.0.1').on('error', () => undefined));
    await until('the circuits', () => Number(a.router.describe().circuitEnds) >= 300);
    const foreign = Array.from({ length: 200 }, (_none, n) =>
      connect(1 + n, '100.64.9.9').on('error', () => undefined),
    );
    await until('what is not intercepted to be reset', () => foreign.every(({ destroyed }) => destroyed));
    const flood = createSocket('udp4').bind(0, '127.0.0.1');
    await once(flood, 'listening');
    for (let n = 1; n <= 3_000; n++) flood.send('to nobody', n, '10.77.0.2');
    for (let n = 1; n <= 3_000; n++) flood.send('to no service', n, '100.64.9.9');
    for (let n = 0; n < 300; n++) flood.send(Buffer.alloc(n), 53, '127.0.0.1');
    t.match(await dig('a.wild.example', 'A'), /^NOERROR 100/, 'names are resolved meanwhile');
    t.equal(await curl('http://10.77.0.1/'), '10.77.0.1 GET /', 'and services reached');

    for (const socket of sockets) socket.destroy();
    flood.close();
    await until('circuits and sessions to end', () => {
      const { circuitEnds, circuits, interception } = a.router.describe();
      return circuitEnds === 0 && circuits === 0 && (interception as { udpSessions: number }).udpSessions === 0;
    });
    await until('descriptors to be closed', () => readdirSync('/proc/self/fd').length <= before + 5);
    t.notOk((a.router.describe().timers as string[]).includes('idle UDP sessions'));
    web.close();
  });

  t.test('proxy.v1 services get ports on the loopback interface, and hosts dial through an HTTP proxy', async (t) => {
    const { overlay, web, a, b } = await network();
    await using _ = overlay;
    const connects: string[] = [];
    const proxy = createServer().on('connect', (request, client) => {
      connects.push(request.url ?? '');
      const through = connect(web.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 fine\r\n\r\n');
        through.pipe(client).pipe(through);
      });
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    proxy.unref();
    const at = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const host = { protocol: 'tcp', address: 'far.example', port: 99, proxy: { type: 'http', address: at } };
    await overlay.addService('proxied', b.id, { host, configs: { 'proxy.v1': { port: 7_070, protocols: ['tcp'] } } });
    await overlay.ready();
    const ports = () => (a.router.describe().proxies as { port: number }[]).map(({ port }) => port);
    await until('the port', () => ports().includes(7_070));
    t.equal(await curl('http://127.0.0.1:7070/'), '127.0.0.1:7070 GET /');
    t.same(connects, ['far.example:99']);
    const [config] = await overlay.management.get<{ id: string }[]>(
      `configs?filter=${filter('name = "proxied-proxy.v1"')}`,
    );
    await overlay.management.patch(`configs/${config?.id}`, {
      data: { port: 7_071, protocols: ['tcp', 'udp'], binding: 'lo' },
    });
    await until('the other ports', () => ports().join() === '7071,7071');
    await t.rejects(curl('http://127.0.0.1:7070/'), /connect/i);
    t.equal(await curl('http://127.0.0.1:7071/'), '127.0.0.1:7071 GET /');
    proxy.close();
    web.close();
  });

  t.test('nothing is left after a stop, nor after kill -9 and the next start', async (t) => {
    const { overlay, web, a, offer } = await network();
    await using _ = overlay;
    await offer('web', { addresses: ['10.77.0.1', 'web.example'] });
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 1);
    t.match(traces(), /10\.77\.0\.1/);
    await a.router.close({ drain: 0 });
    t.equal(traces(), '', 'after a stop');

    const first = startDaemon(a.configFile);
    await until('interception', () => traces().includes('10.77.0.1'));
    first.kill('SIGKILL');
    await once(first, 'exit');
    t.match(traces(), /10\.77\.0\.1/, 'a killed router can remove nothing');

    const [config] = await overlay.management.get<{ id: string }[]>(
      `configs?filter=${filter('name = "web-intercept.v1"')}`,
    );
    await overlay.management.patch(`configs/${config?.id}`, {
      data: { protocols: ['tcp'], addresses: ['10.77.0.9', 'web.example'], portRanges: [{ low: 80, high: 80 }] },
    });
    const second = startDaemon(a.configFile);
    await until('the new address', () => traces().includes('10.77.0.9'));
    t.notMatch(traces(), '10.77.0.1', 'the old address is gone');
    await until('traffic', () =>
      curl('http://10.77.0.9/').then(
        () => true,
        () => false,
      ),
    );
    second.kill('SIGTERM');
    await once(second, 'exit');
    t.equal(traces(), '', 'after SIGTERM');
    web.close();
  });

  t.test('without the right the router does not start, and says what is missing', async (t) => {
    await using overlay = await Overlay.start();
    const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'tproxy' });
    const noRight = ['--bounding-set', '-net_admin', '--inh-caps', '-net_admin', '--'];
    const error = await execute('setpriv', [...noRight, process.execPath, 'agent/cli.ts', 'run', configFile]).then(
      () => undefined,
      (failure: { code: number; stderr: string }) => failure,
    );
    t.equal(error?.code, 1);
    t.match(error?.stderr, /mode tproxy cannot be started.*CAP_NET_ADMIN/);
    t.notMatch(error?.stderr, /ExperimentalWarning/);
    t.equal(traces(), '');
    const bad = await overlay.enrollRouter({ name: 'b', mode: 'tproxy', tunnel: 'dnsSvcIpRange: 10.0.0.0/31' });
    await t.rejects(overlay.startRouter(bad.configFile), /dnsSvcIpRange/);
    t.equal(traces(), '');
  });
}

function hostAt(port: number): Readonly<Record<string, unknown>> {
  return { protocol: 'tcp', address: '127.0.0.1', port };
}

function filter(text: string): string {
  return encodeURIComponent(text);
}

function startDaemon(configFile: string) {
  return spawn(process.execPath, ['agent/cli.ts', 'run', configFile], { stdio: 'ignore' });
}
