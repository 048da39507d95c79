// Changes in slices: other changes wait for them, reads do not, and another controller may change the data meanwhile.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { join, service } from '../../test/support/rooms/members.ts';
import { SharedMemory } from './store/shared-memory.ts';
import type { Transaction } from './transaction.ts';

/** Longer than a slice. */
const STEP_MS = 6;

/** Creates a service in each step. */
function* steps(transaction: Transaction, names: readonly string[], onStep: () => void = () => undefined) {
  for (const name of names) {
    const end = performance.now() + STEP_MS;
    while (performance.now() < end);
    transaction.put('service', service(name, name));
    onStep();
    yield;
  }
  return names.length;
}

t.test('other changes wait, and find the data complete; what is built is invisible until then', async (t) => {
  const { state } = await join(new SharedMemory().open(silentLog));
  const seen: number[] = [];
  const long = state.changeInSlices((transaction) =>
    steps(transaction, ['a', 'b', 'c'], () => setImmediate(() => seen.push(state.tables.service.size))),
  );
  const short = state.change((transaction) => {
    transaction.put('service', service('d', 'd'));
    return transaction.tables.service.size;
  });
  t.equal(await long, 3);
  t.equal(await short, 3);
  t.same(seen.slice(0, 2), [0, 0], 'turns between the steps');
  t.equal(state.tables.service.size, 4);
  t.equal(state.index, 2n);
  await state.close();
});

t.test('an error in a step changes nothing', async (t) => {
  const { state } = await join(new SharedMemory().open(silentLog));
  const broken = state.changeInSlices(function* (transaction) {
    yield* steps(transaction, ['a']);
    throw new TypeError('broken');
  });
  await t.rejects(broken, { message: 'broken' });
  t.equal(state.tables.service.size, 0);
  await state.change((transaction) => transaction.put('service', service('b', 'b')));
  t.equal(state.index, 1n);
  await state.close();
});

t.test('if another controller changes the data meanwhile, the change is built again on its data', async (t) => {
  const common = new SharedMemory();
  const [one, two] = [await join(common.open(silentLog)), await join(common.open(silentLog))];
  let builds = 0;
  const changes: Promise<unknown>[] = [];
  const count = await one.state.changeInSlices((transaction) => {
    builds += 1;
    const name = `other ${builds}`;
    return steps(transaction, ['a', 'b'], () => {
      if (changes.length < builds) changes.push(two.state.change((other) => other.put('service', service(name, name))));
    });
  });
  await Promise.all(changes);
  t.equal(count, 2);
  t.ok(builds > 1 && builds <= 4, `${builds} times`);
  await one.state.others?.catchUp();
  await two.state.others?.catchUp();
  const names = (state: typeof one.state) => [...state.tables.service.values()].map(({ name }) => name).sort();
  t.same(names(one.state), names(two.state));
  t.ok(names(one.state).includes('a') && names(one.state).includes('b'));
  for (const { state } of [one, two]) await state.close();
});
