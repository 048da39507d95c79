// Rules of faults: the choice of one, its count, patterns of paths, and control messages.

import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import type { NewFault } from './fault-rule.ts';
import { Faults, matchesPath } from './faults.ts';

const ROUTERS = new Map([
  ['r1', { name: 'one' }],
  ['r2', { name: 'two' }],
]);

function opened(): Faults {
  const state = { tables: { router: ROUTERS } };
  return new Faults({ state: state as never, network: { routers: new Map() }, random: seededRandom(1) });
}

t.test('patterns match whole paths, others prefixes', async (t) => {
  const table: [pattern: string, path: string, matches: boolean][] = [
    ['/a', '/abc', true],
    ['/a', '/b', false],
    ['/a*', '/abc', true],
    ['/a/*', '/a', false],
    ['/a/*', '/a/', true],
    ['*/c', '/a/b/c', true],
    ['*/c', '/a/b/c/d', false],
    ['/a/*/c', '/a/c', false],
    ['/a/*/c', '/a/b/b/c', true],
    ['/a*a', '/a', false],
    ['*', '/anything', true],
    ['**', '', true],
    ['/x*y*y', '/xy', false],
    ['/x*y*y', '/xyy', true],
  ];
  for (const [pattern, path, matches] of table) t.equal(matchesPath(pattern, path), matches, `${pattern} ${path}`);
  const hostile = `/${'*a'.repeat(400)}*b`;
  t.equal(matchesPath(hostile, `/${'a'.repeat(100_000)}`), false, 'in linear time');
});

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
  t.notOk(faults.forConnection('r1'));
  faults.add({ kind: 'control', router: 'r2', reject: true });
  t.notOk(faults.forConnection('r1'));
  t.ok(faults.forConnection('r2'));
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
