// Revocations: only the first of concurrent callers gets true.

import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log.ts';
import { seededRandom } from '#lib/random.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { Revocations } from './revocations.ts';

t.test('a token is revoked once, by the first caller', async (t) => {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  const revocations = new Revocations({ state, clock, log: silentLog });
  t.same(await Promise.all([revocations.revoke('t', 'JTI'), revocations.revoke('t', 'JTI')]), [true, false]);
  t.equal(await revocations.revoke('t', 'JTI'), false);
  t.equal(await revocations.revoke('other', 'JTI'), true);
  revocations.close();
  await state.close();
});
