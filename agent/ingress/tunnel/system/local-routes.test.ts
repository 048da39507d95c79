// Local routes in the kernel's table of a network namespace, and their retries.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { inOwnNamespace, run } from '../../../../test/support/networks/network-namespace.ts';
import { programFolder } from '../../../../test/support/programs/program-folder.ts';
import { ChangesMarker } from './changes-marker.ts';
import { LocalRoutes } from './local-routes.ts';

if (await inOwnNamespace(import.meta.filename, ['ip'])) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  run('ip', 'link', 'set', 'lo', 'up');
  const marker = new ChangesMarker(join(folder, 'changes'), silentLog);
  const clock = new VirtualClock(); // some routes are not closed, as those of a killed router
  const create = (log = silentLog) => new LocalRoutes({ clock, log, marker, routerId: 'router' });
  const routes = (family: '-4' | '-6' = '-4') =>
    run('ip', family, 'route', 'show', 'table', 'local', 'proto', '142')
      .split('\n')
      .map((line) => line.trim().replace(/^local /, ''))
      .filter((line) => line !== '');
  const wanted = async (...ranges: string[]) => {
    const local = create();
    for (const range of ranges) local.acquire(range);
    await local.apply();
    return local;
  };

  t.test('the routes of a killed router are removed, those of others stay', async (t) => {
    run('ip', 'route', 'add', 'local', '10.1.1.1', 'dev', 'lo', 'table', 'local', 'proto', '142', 'metric', '7');
    await wanted('10.9.8.7', 'fd00:7::1');
    t.equal(routes().length, 2);
    t.equal(routes('-6').length, 1);
    const next = await wanted('fd00:7::1');
    t.match(routes(), [/^10\.1\.1\.1 /]);
    t.equal(next.count, 1, 'the same route was added again');
    await next.close();
    t.same(routes('-6'), []);
    run('ip', 'route', 'flush', 'table', 'local', 'proto', '142');
  });

  t.test('routes that another program has deleted do no harm at the end', async (t) => {
    const lines: string[] = [];
    const logged = create(createLog({ write: (line) => lines.push(line) }));
    for (const range of ['10.9.8.8', 'fd00:7::2']) logged.acquire(range);
    await logged.apply();
    t.equal(routes().length + routes('-6').length, 2);
    for (const family of ['-4', '-6']) run('ip', family, 'route', 'flush', 'table', 'local', 'proto', '142');
    lines.length = 0;
    await logged.close();
    t.same(lines, []);
  });

  t.test('thousands of leftover routes are removed', async (t) => {
    await wanted('10.20.0.1');
    const marks = /proto.*|metric \d+/.exec(routes()[0] ?? '')?.[0] ?? '';
    const batch = join(folder, 'batch');
    const lines = Array.from({ length: 9_500 }, (_none, n) => `10.${21 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`);
    writeFileSync(
      batch,
      lines.map((ip) => `route add local ${ip} dev lo table local proto 142 src 127.0.0.1 ${marks}\n`).join(''),
    );
    run('ip', '-batch', batch);
    const messages: { msg: string; routes?: number }[] = [];
    await create(createLog({ write: (line) => void messages.push(JSON.parse(line)) })).apply();
    t.same(routes(), []);
    t.match(messages, [{ msg: 'routes of an earlier process removed', routes: 9_501 }]);
  });

  t.test('spellings of one range are one route with several users', async (t) => {
    const local = await wanted('10.9.8.7/32', '10.9.8.7', 'fd00:0::5', 'FD00::0005/128');
    t.equal(local.count, 2);
    local.release('10.9.8.7/32');
    local.release('fd00::5');
    await local.apply();
    t.equal(routes().length + routes('-6').length, 2, 'the other user still needs it');
    local.release('10.9.8.7');
    local.release('fd00::5');
    await local.apply();
    t.equal(routes().length + routes('-6').length, 0);
    await local.close();
  });

  t.test('the bits after the prefix are cleared', async (t) => {
    const local = await wanted('10.9.8.7/24', 'fd00:8::1/64', '::ffff:10.0.0.1/120');
    t.match(routes(), [/^10\.9\.8\.0\/24 /]);
    t.match(routes('-6').sort(), [/^::ffff:10\.0\.0\.0\/120 /, /^fd00:8::\/64 /]);
    await local.close();
  });

  t.test('only IPv4 routes get a source address', async (t) => {
    const local = await wanted('100.64.0.1/32');
    local.useSource('100.64.0.1');
    for (const range of ['100.64.0.0/10', 'fd00:8::/64']) local.acquire(range);
    await local.apply();
    t.equal(local.count, 3);
    t.equal(routes().filter((route) => route.includes('src 100.64.0.1')).length, 1);
    await local.close();
    t.same([routes(), routes('-6')], [[], []]);
  });

  t.test('routes that another program removes are restored, and logged once', async (t) => {
    const virtual = new VirtualClock();
    const warnings: { msg: string; routes?: number }[] = [];
    const log = createLog({ write: (line) => void warnings.push(JSON.parse(line)) });
    const local = new LocalRoutes({ clock: virtual, log, marker, routerId: 'router' });
    local.acquire('100.64.0.1/32');
    await local.apply();
    local.useSource('100.64.0.1');
    for (const range of ['100.64.0.0/10', '10.9.8.7', 'fd00:7::1']) local.acquire(range);
    await local.apply();
    const before = [routes(), routes('-6')];
    const check = async () => {
      await virtual.advance(30_000);
      await local.apply(); // waits for the check
    };
    await check();
    t.same(warnings, []);
    for (const family of ['-4', '-6']) run('ip', family, 'route', 'flush', 'table', 'local', 'proto', '142');
    await check();
    await check();
    t.match(warnings, [{ msg: 'local routes were removed by another program, restoring', routes: 4 }]);
    t.same([routes(), routes('-6')], before);
    await local.close();
    t.same([routes(), routes('-6'), virtual.timers()], [[], [], []]);
  });

  t.test('changes that the system rejects are retried, and logged once', retried);
  t.test('a failed removal of leftover routes is retried', leftoversRetried);
  t.test('the end of the router removes routes whose deletion failed', removedAtEnd);
}

/** Routes whose program `ip` keeps a list of them in a file, and fails for calls that the file `broken` matches. */
function faulty(t: Test) {
  const folder = programFolder(t);
  const [table, broken] = [join(folder, 'table'), join(folder, 'broken')];
  const script = `#!/bin/sh
test ! -e ${broken} || case "$*" in $(cat ${broken})) echo no >&2; exit 1 ;; esac
case "$*" in
  *' show '*) case "$1" in -4) sed 's/.*/{"dst":"&"}/' ${table} | paste -sd, | sed 's/.*/[&]/' ;; esac ;;
  *replace*) echo "$4" >> ${table} ;;
  *del*) sed -i "\\:^$4$:d" ${table} ;;
  *flush*) : > ${table} ;;
esac
`;
  writeFileSync(join(folder, 'ip'), script, { mode: 0o755 });
  writeFileSync(table, '');
  const clock = new VirtualClock();
  const messages: string[] = [];
  const log = createLog({ write: (line) => void messages.push(JSON.parse(line).msg) });
  const marker = new ChangesMarker(join(folder, 'changes'), log);
  const local = new LocalRoutes({ clock, log, marker, routerId: 'router' });
  return {
    local,
    clock,
    messages,
    fail: (pattern: string) => writeFileSync(broken, pattern),
    repair: () => rmSync(broken),
    listed: () => readFileSync(table, 'utf8').split('\n').filter(Boolean),
    /** Whether the next start has to remove routes. */
    isMarked: () => {
      marker.clear();
      return marker.isSet;
    },
    check: async () => {
      await clock.advance(30_000);
      await local.apply(); // waits for the check
    },
  };
}

async function retried(t: Test): Promise<void> {
  const { local, messages, clock, fail, repair, listed, check, isMarked } = faulty(t);
  fail('*replace*');
  local.acquire('10.0.0.1');
  await local.apply();
  await check();
  t.equal(local.count, 0);
  t.same(messages, ['local route could not be added, retrying']);
  repair();
  await check();
  t.same(listed(), ['10.0.0.1/32']);

  fail('*del*');
  local.release('10.0.0.1');
  await local.apply();
  await check();
  t.equal(local.count, 1);
  t.same(messages.slice(1), ['local route could not be removed, retrying']);
  repair();
  await check();
  t.same([local.count, listed(), isMarked()], [0, [], false]);
  await local.close();
  t.same(clock.timers(), []);
}

async function leftoversRetried(t: Test): Promise<void> {
  const { local, clock, messages, fail, repair, listed, check } = faulty(t);
  fail('*show*');
  local.acquire('10.0.0.1');
  await t.rejects(local.apply(), { code: 'SYSTEM_COMMAND' });
  for (let n = 0; n < 2; n++) {
    await clock.advance(30_000);
    await t.rejects(local.apply(), { code: 'SYSTEM_COMMAND' }, 'after the check');
  }
  t.same(messages, ['local routes could not be checked, retrying']);
  repair();
  await check();
  t.same(listed(), ['10.0.0.1/32']);
  await local.close();
  t.same(clock.timers(), []);
}

async function removedAtEnd(t: Test): Promise<void> {
  for (const [pattern, remains] of [
    ['*del*', false],
    ['*', true],
  ] as const) {
    const { local, messages, clock, fail, listed, isMarked } = faulty(t);
    local.acquire('10.0.0.1');
    await local.apply();
    fail(pattern);
    local.release('10.0.0.1');
    await local.apply();
    await local.close();
    t.same([listed().length > 0, isMarked()], [remains, remains]);
    t.equal(messages.includes('routes of the tunneler could not be removed'), remains);
    t.same(clock.timers(), []);
  }
}
