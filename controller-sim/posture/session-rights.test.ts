// Sessions whose right ends in the moment when they are stored.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Access } from '../access/access.ts';
import { Body } from '../entities/body.ts';
import { baseFields } from '../entities/common.ts';
import { plainIdentity } from '../entities/identity.ts';
import { servicePolicyRules } from '../entities/policy.ts';
import { createService } from '../entities/service.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { Posture } from './posture.ts';
import { SessionRights } from './session-rights.ts';

t.test('a session that is stored together with the loss of its right ends', async (t) => {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource() });
  const access = new Access(state);
  const posture = new Posture({ state, access, clock });
  const rights = new SessionRights({ state, access, posture, log: silentLog });
  await state.change((transaction) => {
    transaction.put('identity', { ...plainIdentity(transaction, 'anna', 'anna'), roleAttributes: ['users'] });
    createService(transaction, 'echo', new Body({ name: 'echo' }, 'create'));
    const roles = { identityRoles: ['#users'], serviceRoles: ['#all'], semantic: 'AnyOf' } as const;
    servicePolicyRules.create(transaction, 'dial', new Body({ name: 'dial', type: 'Dial', ...roles }, 'create'));
  });
  const store = (id: string) =>
    state.change((transaction) => {
      const fields = { token: id, apiSessionId: 'api', identityId: 'anna', serviceId: 'echo', type: 'Dial' } as const;
      transaction.put('session', { ...baseFields(transaction, id), ...fields });
    });
  await store('first');
  await state.change(() => undefined);
  t.ok(state.tables.session.has('first'), 'with its right');
  const lost = state.change((transaction) => transaction.patch('identity', 'anna', { roleAttributes: [] }));
  await Promise.all([lost, store('second')]);
  await state.change(() => undefined);
  t.same([...state.tables.session.values()], []);
  for (const room of [rights, posture, access]) room.close();
});
