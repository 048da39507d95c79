// The origin of changes: changes within a request have it, later and automatic ones do not.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { plainIdentity } from '../entities/identity.ts';
import { type Origin, withOrigin } from './origin.ts';
import { State } from './state.ts';
import { MemoryStore } from './store/memory-store.ts';

const origin = (id: string): Origin => ({ author: { type: 'identity', id }, source: { type: 'rest' } });

t.test('changes in one commit keep their own origins, and so do changes that follow from them', async (t) => {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  const received: [id: string | undefined, author: string | undefined][] = [];
  const add = (id: string) =>
    state.change((transaction) => transaction.put('identity', plainIdentity(transaction, id, id)));
  let followed: Promise<void> | undefined;
  state.subscribe('derived', ({ changes: [first], origin: from }) => {
    received.push([first?.id, from?.author.id]);
    if (first?.id === 'b') followed = add('of-b');
  });
  let later: Promise<void> | undefined;
  await Promise.all([
    withOrigin(origin('x'), () => {
      clock.after('later', 1_000, () => {
        later = add('later');
      });
      return add('a');
    }),
    withOrigin(origin('y'), () => add('b')),
    add('c'),
  ]);
  await followed;
  await clock.advance(1_000);
  await later;
  t.same(received, [
    ['a', 'x'],
    ['b', 'y'],
    ['c', undefined],
    ['of-b', 'y'],
    ['later', undefined],
  ]);
  await state.close();
});
