// Routers whose threads carry clients and links: a transfer moves to a thread at both ends, clients with few bytes
// stay, links grow by connections in threads, the operator sees which thread carries how many, and nothing remains.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { type Clock, VirtualClock } from '#lib/time/clock.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import type { LinkInspection } from '../../agent/link/inspect-link.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { dialing, linkListener, listening } from '../support/config/link-config.ts';
import { open as openAsStranger } from '../support/hostile/attacker.ts';
import { FaultyPort } from '../support/hostile/faulty-port.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const DAY = 86_400_000;
/** Connections of a grown link: three for payloads, and one for acknowledgements. */
const CONNECTIONS = 4;
/** Those in threads: all but the first one. */
const IN_THREADS = 3;
const skip = whyNoSystemLibrary() ?? false;

async function twoRouters({ encrypted = true, threads = 1 } = {}) {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const extra = { runtime: { threads } };
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', extra });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', extra });
  await overlay.addService('echo', b.id, { encrypted });
  await overlay.ready();
  return { overlay, a, b };
}

interface LinkSetup {
  /** In front of the listener of b. */
  readonly between?: FaultyPort;
  /** The time by which b renews its certificates. */
  readonly calendar?: Clock;
}

/** Router a dials a link to router b, which grows at once. */
async function linkedRouters(threads: { a: number; b: number }, { between, calendar }: LinkSetup = {}) {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const listener = between ? { listeners: [linkListener(0, { advertise: `tls:127.0.0.1:${between.port}` })] } : {};
  const b = await overlay.addRouter(
    { name: 'b', mode: 'host', link: { ...listening(), ...listener }, extra: { runtime: { threads: threads.b } } },
    { ...(calendar && { calendar }) },
  );
  if (between) between.target = b.linkPort;
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'proxy',
    link: dialing({ startupDelay: '0s' }),
    extra: { runtime: { threads: threads.a } },
  });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  await grown(a, b);
  return { overlay, a, b };
}

/** Resolves when the link has all its connections at each of the routers. */
async function grown(...routers: readonly TestRouter[]): Promise<void> {
  await until('all connections of the link', () =>
    routers.every(({ router }) => router.describe().links[0]?.connections.length === CONNECTIONS),
  );
}

/** The connections of the router's only link. */
async function connectionsOf(overlay: Overlay, { id }: TestRouter) {
  const body = { appRegex: `^${id}$`, requestedValues: ['links'] };
  const { values } = await overlay.management.fabric.call('inspect', { body });
  const { links } = (values?.[0]?.value ?? { links: [] }) as unknown as { links: LinkInspection[] };
  return links[0]?.path?.connections ?? [];
}

/** Bytes that the system has sent over connections of threads, and over those of the main thread. */
async function sentBy(overlay: Overlay, router: TestRouter): Promise<{ threads: number; main: number }> {
  const sum = { threads: 0, main: 0 };
  for (const { isThreaded, sent } of await connectionsOf(overlay, router)) sum[isThreaded ? 'threads' : 'main'] += sent;
  return sum;
}

/** Connections that threads of the router carry now, and have carried. */
function inThreads({ router }: TestRouter): { now: number; ever: number } {
  const { threads } = router.describe();
  return {
    now: threads.reduce((sum, { connections }) => sum + connections, 0),
    ever: threads.reduce((sum, { carried }) => sum + carried, 0),
  };
}

/** Whether the connections of the link, and nothing else, are in threads. */
function areLinksInThreads(dialer: TestRouter, listener: TestRouter): boolean {
  return inThreads(dialer).now === IN_THREADS && inThreads(listener).now === IN_THREADS;
}

for (const encrypted of [true, false]) {
  const kind = encrypted ? 'encrypted' : 'plain';
  t.test(`an ${kind} transfer moves to a thread at both ends, and nothing remains`, { skip }, async (t) => {
    const { overlay, a, b } = await twoRouters({ encrypted });
    await using _ = overlay;
    const done = await Promise.all(Array.from({ length: 4 }, () => transfer(a.proxyPort, 8 * MIB)));
    for (const { bytes, sha256Sent, sha256Received } of done) {
      t.equal(bytes, 8 * MIB);
      t.equal(sha256Received, sha256Sent);
    }
    for (const router of [a, b]) t.ok(inThreads(router).ever > 0, router.name);
    await until('the end of the circuits', () =>
      [a, b].every(({ router }) => router.describe().circuits === 0 && router.describe().circuitEnds === 0),
    );
    await until('free threads', () => [a, b].every((router) => inThreads(router).now === 0));
  });
}

t.test('clients with few bytes stay on the main thread, and no thread starts for them', { skip }, async (t) => {
  const { overlay, a, b } = await twoRouters();
  await using _ = overlay;
  for (let count = 0; count < 5; count++) await transfer(a.proxyPort, 100_000);
  for (const { router } of [a, b]) t.same(router.describe().threads, []);
});

t.test('without threads, the main thread carries everything', async (t) => {
  const { overlay, a, b } = await twoRouters({ threads: 0 });
  await using _ = overlay;
  const { sha256Sent, sha256Received } = await transfer(a.proxyPort, 4 * MIB);
  t.equal(sha256Received, sha256Sent);
  for (const { router } of [a, b]) t.same(router.describe().threads, []);
});

t.test('a router that closes during a transfer ends its threads', { skip }, async (t) => {
  const { overlay, a, b } = await twoRouters();
  await using _ = overlay;
  const interrupted = transfer(a.proxyPort, 256 * MIB).then(
    () => 'complete',
    () => 'cut',
  );
  await until('a client in a thread', () => inThreads(a).now > 0 && inThreads(b).now > 0);
  await a.router.close({ drain: 0 });
  t.equal(await interrupted, 'cut');
  await until('free threads', () => inThreads(b).now === 0);
  t.same(a.router.describe().threads, []);
});

t.test('an operator sees the load of each thread, and records its profile', { skip }, async (t) => {
  const { overlay, a } = await twoRouters();
  await using _ = overlay;
  const router = (...args: string[]) => runProgram(['entry/router-cli.ts', ...args]);
  const inspect = async () => JSON.parse((await router('inspect', a.configFile, 'threads', '--json')).stdout);
  const delay = { median: Number, p99: Number, longest: Number };
  const load = { utilization: Number, recentUtilization: Number, loopDelayMs: delay };
  t.match(await inspect(), { main: load, threads: [] });
  t.match(await router('inspect', a.configFile, 'threads'), {
    code: 0,
    stdout: /^main:\n {2}utilization: [\s\S]*^threads: \[\]$/m,
  });
  const profile = (kind: string, output: string) =>
    router('profile', a.configFile, kind, '--thread', '1', '--seconds', '0.2', '--output', output);
  const output = join(overlay.directory, 'thread.profile');
  t.match(await profile('cpu', output), { code: 1, stderr: /there is no I\/O thread 1 now; no I\/O thread runs/ });

  const interrupted = transfer(a.proxyPort, 4_096 * MIB).catch(() => undefined);
  await until('a client in a thread', () => inThreads(a).now > 0);
  const bytes = { received: Number, sent: Number };
  const thread = { ...load, thread: 1, connections: 1, kinds: { client: 1 }, carried: Number, bytes };
  await until('bytes in the thread', () => a.router.describe().threads.some((each) => each.bytes.received > MIB));
  t.match(await inspect(), { main: load, threads: [thread] });
  t.match(await router('inspect', a.configFile, 'threads'), {
    code: 0,
    stdout: /^threads:\n {2}- [\s\S]*kinds:\n {6}client: 1$/m,
  });
  const { mainThread, threads } = a.router.describe();
  t.match({ main: mainThread, threads }, { main: load, threads: [thread] });
  t.match(await profile('cpu', output), { code: 0, stdout: `${output}\n` });
  t.match(readFileSync(output, 'utf8'), /client-in-thread\.ts/, 'the work of the thread');
  t.equal((await profile('memory', output)).code, 0);
  t.match(JSON.parse(readFileSync(output, 'utf8')), { head: {} });
  t.match(await router('profile', a.configFile, 'cpu', '--thread', '0'), {
    code: 2,
    stderr: /number of a thread, from 1 on/,
  });
  const missing = await router('profile', a.configFile, 'cpu', '--thread', '7', '--seconds', '0.1');
  t.match(missing, { code: 1, stderr: /there is no I\/O thread 7 now; these run: 1/ });
  await a.router.close({ drain: 0 });
  await interrupted;
});

t.test('connections of a link that follow the first are in threads, and carry most bytes', { skip }, async (t) => {
  const { overlay, a, b } = await linkedRouters({ a: 2, b: 2 });
  await using _ = overlay;
  for (const router of [a, b]) {
    const ofPayloads = (await connectionsOf(overlay, router)).filter(({ type }) => type === 'link.default');
    t.same(ofPayloads.map(({ isThreaded }) => isThreaded).sort(), [false, true, true], router.name);
  }
  t.ok(areLinksInThreads(a, b));
  const done = await Promise.all(Array.from({ length: 4 }, () => transfer(a.proxyPort, 8 * MIB)));
  for (const { bytes, sha256Sent, sha256Received } of done) {
    t.equal(bytes, 8 * MIB);
    t.equal(sha256Received, sha256Sent);
  }
  for (const router of [a, b]) {
    const { threads, main } = await sentBy(overlay, router);
    t.ok(threads + main > 4 * 8 * MIB, router.name);
    // A busy machine makes the path look slow: the first connection then helps the others.
    t.ok(threads > 2 * main, `${router.name}: ${threads} bytes by threads, ${main} by the main thread`);
  }
  await until('no client in a thread', () => areLinksInThreads(a, b));
});

t.test('the first connection carries what clients with few bytes exchange', { skip }, async (t) => {
  const { overlay, a, b } = await linkedRouters({ a: 2, b: 2 });
  await using _ = overlay;
  const before = { a: await sentBy(overlay, a), b: await sentBy(overlay, b) };
  const socket = connectTcp({ port: a.proxyPort, host: '127.0.0.1' });
  for (let count = 0; count < 200; count++) {
    socket.write(Buffer.alloc(500, count));
    await once(socket, 'data');
  }
  socket.destroy();
  for (const [name, router] of Object.entries({ a, b })) {
    const { threads, main } = await sentBy(overlay, router);
    const first = before[name as 'a' | 'b'];
    t.ok(main - first.main > 200 * 500, `${name}: ${main - first.main} bytes by the main thread`);
    t.ok(threads - first.threads < 50 * 500, `${name}: ${threads - first.threads} bytes by threads`);
  }
});

for (const threads of [
  { a: 0, b: 2 },
  { a: 2, b: 0 },
])
  t.test(`a router with ${threads.a} threads dials a link to one with ${threads.b}`, { skip }, async (t) => {
    const { overlay, a, b } = await linkedRouters(threads);
    await using _ = overlay;
    const done = await Promise.all(Array.from({ length: 2 }, () => transfer(a.proxyPort, 8 * MIB)));
    for (const { sha256Sent, sha256Received } of done) t.equal(sha256Received, sha256Sent);
    await until('the end of the circuits', () => [a, b].every(({ router }) => router.describe().circuitEnds === 0));
    const expected = { a: threads.a && IN_THREADS, b: threads.b && IN_THREADS };
    await until('no client in a thread', () => inThreads(a).now === expected.a && inThreads(b).now === expected.b);
    for (const [name, router] of Object.entries({ a, b })) {
      const inThread = (await connectionsOf(overlay, router)).filter(({ isThreaded }) => isThreaded);
      t.equal(inThread.length, expected[name as 'a' | 'b'], name);
    }
  });

t.test('threads use the renewed certificate of a router, and cut connections come back', { skip }, async (t) => {
  using between = await FaultyPort.start();
  const calendar = new VirtualClock(Date.now());
  const { overlay, a, b } = await linkedRouters({ a: 2, b: 2 }, { between, calendar });
  await using _ = overlay;
  /** The certificate that a thread of b presents to a client from the address of a. */
  const presented = async () => {
    const carried = inThreads(b).ever;
    const socket = await openAsStranger({ port: b.linkPort, alpn: Alpn.Link });
    const certificate = socket.getPeerX509Certificate();
    socket.destroy();
    t.equal(inThreads(b).ever, carried + 1, 'a thread carried the connection');
    return certificate;
  };
  const first = await presented();
  await calendar.advance((first?.validToDate.getTime() ?? 0) - Date.now() - DAY);
  await until('the renewed certificate', async () => (await presented())?.fingerprint !== first?.fingerprint);
  const { iteration = 0 } = a.router.describe().links[0] ?? {};
  between.cutAll();
  await until('the link to be dialed again', () => (a.router.describe().links[0]?.iteration ?? 0) > iteration);
  await grown(a, b);
  await until('connections in threads', () => areLinksInThreads(a, b));
  const { sha256Sent, sha256Received } = await transfer(a.proxyPort, 2 * MIB);
  t.equal(sha256Received, sha256Sent);
});
