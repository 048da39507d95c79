// Rules of faults: the choice of one, its count, patterns of paths, and control messages.

import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import type { NewFault } from './fault.ts';
import { Faults } from './faults.ts';

const ROUTERS = new Map([
  ['r1', { name: 'one' }],
  ['r2', { name: 'two' }],
]);

function opened(wireClock = new VirtualClock()): Faults {
  const router = Object.assign(new Map(ROUTERS), {
    findBy: (_key: string, name: string) => [...ROUTERS.values()].find((each) => each.name === name),
  });
  const state = { tables: { router, identity: router } };
  return new Faults({ state, network: { routers: new Map() }, random: seededRandom(1), wireClock });
}

t.test('the oldest fault that matches is applied, until it is used up', async (t) => {
  const faults = opened();
  faults.add({ kind: 'control', message: 'Route', drop: true, times: 1 });
  faults.add({ kind: 'control', router: 'one', delay: '2s' });
  const idOf = (router: string, type: number, direction: 'in' | 'out' = 'out') =>
    faults.forMessage(router, direction, type)?.id;
  t.same(
    [idOf('r2', ControlType.Route), idOf('r1', ControlType.Route), idOf('r2', ControlType.Route)],
    ['f1', 'f2', undefined],
  );
  t.match(faults.forMessage('r1', 'in', 99_999), { id: 'f2', rule: { delay: 2_000 } }, 'messages without a name');
  t.match(faults.list(), [
    { id: 'f1', hits: 1 },
    { id: 'f2', hits: 2 },
  ]);
  faults.remove('f1');
  t.throws(() => faults.remove('f1'), { code: 'NOT_FOUND', message: /known are f2/ });
  t.equal(faults.add({ kind: 'http', close: true }).id, 'f3', 'ids are not used again');
});

t.test('directions, names of both tables, and rejected connections', async (t) => {
  const faults = opened();
  faults.add({ kind: 'control', message: 'UpdateTerminator', direction: 'in', drop: true });
  for (const type of [ControlType.UpdateTerminator, EdgeControlType.UpdateTerminator]) {
    t.ok(faults.forMessage('r1', 'in', type));
    t.notOk(faults.forMessage('r1', 'out', type));
  }
  t.notOk(faults.forChannel('r1'));
  faults.add({ kind: 'control', router: 'r2', reject: true });
  t.notOk(faults.forChannel('r1'));
  t.ok(faults.forChannel('r2'));
  t.notOk(faults.forMessage('r2', 'in', ControlType.Route), 'open channels stay');
});

t.test('a fault is a copy that its author cannot change', async (t) => {
  const faults = opened();
  const given = { kind: 'http', method: 'post', status: 500, truncate: false, code: undefined } as unknown as NewFault;
  faults.add(given);
  Object.assign(given, { status: 200 });
  t.strictSame(faults.list(), [{ id: 'f1', hits: 0, kind: 'http', method: 'POST', status: 500 }]);
  for (const wrong of [null, 'x', 7, {}, { kind: 'http', close: 'yes' }, { kind: 'http', path: 7, close: true }])
    t.throws(() => faults.add(wrong as never), { code: 'INVALID' }, JSON.stringify(wrong));
});

t.test('a fault ends after its time, by its scope, and with its block', async (t) => {
  const clock = new VirtualClock();
  const faults = opened(clock);
  let changes = 0;
  faults.onChange(() => {
    changes += 1;
  });
  faults.add({ kind: 'control', drop: true, lasts: '10s' });
  t.ok(faults.forMessage('r1', 'in', ControlType.Route));
  await clock.advance(10_000);
  t.notOk(faults.forMessage('r1', 'in', ControlType.Route));
  t.equal(changes, 2, 'others learn of the end');
  t.match(faults.list(), [{ id: 'f1', lasts: 10_000 }], 'it stays until it is removed');
  faults.add({ kind: 'http', close: true, scope: 'login' });
  faults.add({ kind: 'store', fail: true, scope: 'login' });
  faults.clear({ scope: 'login' });
  t.match(faults.list(), [{ id: 'f1' }]);
  {
    using fault = faults.add({ kind: 'http', close: true });
    t.match(faults.list(), [{ id: 'f1' }, { id: fault.id }]);
  }
  t.match(faults.list(), [{ id: 'f1' }]);
  faults.close();
  t.same(clock.timers(), []);
});

t.test('a sequence answers each request once, and is used up then', async (t) => {
  const faults = opened();
  faults.add({ kind: 'http', answers: [{ status: 503 }, {}, { status: 429, headers: { 'Retry-After': '2' } }] });
  const request = { method: 'GET', path: '/', operation: undefined, identity: undefined };
  const answers = Array.from({ length: 4 }, () => faults.forRequest(request)?.answer);
  t.strictSame(answers, [{ status: 503 }, {}, { status: 429, headers: { 'retry-after': '2' } }, undefined]);
  faults.clear();
  faults.add({ kind: 'http', answers: [{ status: 503 }, { status: 500 }], times: 3 });
  t.same(
    Array.from({ length: 4 }, () => faults.forRequest(request)?.answer.status),
    [503, 500, 503, undefined],
    'with more times it begins again',
  );
});

t.test('links, SDK connections and proxies match by their ends', async (t) => {
  const faults = opened();
  faults.know({ proxies: () => ['db'], routers: () => ['a', 'b', 'c'] });
  const link = { proxy: 'link:a:b', carries: 'link', listener: 'b', dialer: 'a' } as const;
  const sdk = { proxy: 'sdk:b', carries: 'sdk', listener: 'b', dialer: undefined } as const;
  const db = { proxy: 'db', carries: undefined, listener: undefined, dialer: undefined } as const;
  const table: [fault: object, link: boolean, sdk: boolean, db: boolean][] = [
    [{ kind: 'link' }, true, false, false],
    [{ kind: 'link', router: 'a' }, true, false, false],
    [{ kind: 'link', router: 'b', peer: 'a' }, true, false, false],
    [{ kind: 'link', router: 'c' }, false, false, false],
    [{ kind: 'link', router: 'a', peer: 'c' }, false, false, false],
    [{ kind: 'sdk', router: 'b' }, false, true, false],
    [{ kind: 'sdk', router: 'a' }, false, false, false],
    [{ kind: 'proxy', proxy: 'db' }, false, false, true],
    [{ kind: 'proxy' }, true, true, true],
  ];
  for (const [fault, ...hits] of table) {
    faults.clear();
    faults.add({ ...fault, cut: true } as NewFault);
    const found = [link, sdk, db].map((facts) => faults.forConnection({ ...facts, decided: new Map() }, 'up'));
    t.same(found.map(Boolean), hits, JSON.stringify(fault));
  }
  faults.clear();
  const { id } = faults.add({ kind: 'link', latency: 5, direction: 'down', times: 1 });
  const [first, second] = [new Map(), new Map()];
  t.notOk(faults.forConnection({ ...link, decided: first }, 'up'), 'the other direction');
  for (let again = 0; again < 2; again++) t.ok(faults.forConnection({ ...link, decided: first }, 'down'));
  t.notOk(faults.forConnection({ ...link, decided: second }, 'down'), 'one connection is affected');
  t.match(faults.list(), [{ id, hits: 1 }]);
});

t.test('names that do not exist are rejected', async (t) => {
  const faults = opened();
  t.throws(() => faults.add({ kind: 'control', router: 'onee', drop: true }), /no router onee; did you mean one\?/);
  t.throws(() => faults.add({ kind: 'link', router: 'a', cut: true }), /no router of a test network a; none exists/);
  t.throws(() => faults.add({ kind: 'proxy', proxy: 'db', cut: true }), /no proxy db; none exists/);
  t.same(faults.list(), []);
});
