// Routers whose threads carry clients: a transfer moves to a thread at both ends, clients with few bytes stay, the
// operator sees which thread carries how many, and nothing remains.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
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

/** Connections that threads of the router carry now, and have carried. */
function inThreads({ router }: TestRouter): { now: number; ever: number } {
  const { threads } = router.describe();
  return {
    now: threads.reduce((sum, { connections }) => sum + connections, 0),
    ever: threads.reduce((sum, { carried }) => sum + carried, 0),
  };
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
