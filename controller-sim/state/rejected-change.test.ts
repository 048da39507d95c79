// A change that a store rejects fails alone: those that would have been stored with it succeed.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { plainIdentity } from '../entities/identity.ts';
import { ApiError } from '../errors/errors.ts';
import { State } from './state.ts';
import { MemoryStore } from './store/memory-store.ts';
import { SharedMemory } from './store/shared-memory.ts';
import { type Store, StoreWriteError } from './store/store.ts';

const REJECTED = 'the store rejects it';

function picky<T extends Store>(store: T): T {
  const append = store.append.bind(store);
  store.append = (after, prepare) =>
    append(after, (missed) => {
      const sets = prepare(missed);
      const isBad = sets.some(({ changes }) => changes.some(({ id }) => id.startsWith('bad')));
      if (isBad) throw new StoreWriteError(REJECTED, { isRejection: true });
      return sets;
    });
  return store;
}

const stores: [name: string, make: () => Store][] = [
  ['a store of its own', () => picky(new MemoryStore())],
  ['a shared store', () => picky(new SharedMemory().open())],
];
for (const [name, make] of stores)
  t.test(`${name} keeps the changes beside a rejected one`, async (t) => {
    const state = await State.open({ store: make(), clock: new SystemClock(), ids: new IdSource() });
    const add = (id: string) =>
      state.change((transaction) => transaction.put('identity', plainIdentity(transaction, id, id)));
    const ids = ['a', 'bad1', 'b', 'bad2', 'c'];
    const outcomes = await Promise.allSettled(ids.map(add));
    t.same(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    );
    t.match(outcomes[1], { reason: { message: REJECTED } });
    t.same(Array.from(state.tables.identity.values(), ({ id }) => id).sort(), ['a', 'b', 'c']);
    await add('later');
    t.equal(state.index, 4n);
    await state.close();
  });

t.test('while a store of its own fails, changes that need no store have their outcome', async (t) => {
  const state = await State.open({ store: new MemoryStore(), clock: new SystemClock(), ids: new IdSource() });
  state.guard(async () => new StoreWriteError('the store fails'));
  const outcomes = await Promise.allSettled([
    state.change(() => 'unchanged'),
    state.change((transaction) => transaction.put('identity', plainIdentity(transaction, 'a', 'a'))),
    state.change(() => {
      throw new ApiError('NOT_FOUND');
    }),
  ]);
  t.match(outcomes, [
    { value: 'unchanged' },
    { reason: { message: 'the store fails' } },
    { reason: { code: 'NOT_FOUND' } },
  ]);
  t.equal(state.tables.identity.size, 0);
  t.equal(state.index, 0n);
  await state.close();
});

t.test('an id that no store could index is rejected before', async (t) => {
  const state = await State.open({ store: new MemoryStore(), clock: new SystemClock(), ids: new IdSource() });
  const add = (id: string) =>
    state.change((transaction) => transaction.put('identity', plainIdentity(transaction, id, 'name')));
  const outcomes = await Promise.allSettled(['ü'.repeat(513), 'x'.repeat(1_024)].map(add));
  t.same(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  t.ok(outcomes[0]?.status === 'rejected' && outcomes[0].reason instanceof ApiError);
  await state.close();
});
