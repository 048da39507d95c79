// Revocations: a used refresh token is accepted again for a short time, a revoked one is not.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { type Timer, VirtualClock } from '#lib/time/clock.ts';
import { REVOCATION_LIFETIME } from '../../entities/revocation.ts';
import { State } from '../../state/state.ts';
import { MemoryStore } from '../../state/store/memory-store.ts';
import { Revocations } from './revocations.ts';

async function open(): Promise<{ clock: VirtualClock; revocations: Revocations; close: () => Promise<void> }> {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  const revocations = new Revocations({ state, clock, log: silentLog });
  const close = async () => {
    revocations.close();
    await state.close();
  };
  return { clock, revocations, close };
}

const claims = (jti: string) => ({ jti, z_asid: 's', z_authid: '', sub: 'i', iat: 0 });

t.test('a used refresh token is accepted again for 30 seconds after its first use', async (t) => {
  const { clock, revocations, close } = await open();
  t.same(await Promise.all([revocations.use('t'), revocations.use('t')]), [true, true]);
  await clock.advance(29_999);
  t.notOk(revocations.isRevoked(claims('t')));
  t.ok(await revocations.use('t'), 'a later use does not extend the time');
  await clock.advance(1);
  t.ok(revocations.isRevoked(claims('t')));
  t.notOk(await revocations.use('t'));
  await close();
});

t.test('a revoked token is invalid at once, used before or not', async (t) => {
  const { revocations, close } = await open();
  await revocations.use('used');
  for (const jti of ['used', 'fresh']) {
    await revocations.revoke(jti, 'JTI');
    t.ok(revocations.isRevoked(claims(jti)));
    t.notOk(await revocations.use(jti));
  }
  await close();
});

t.test('a revocation that is renewed while the old one is being removed remains', async (t) => {
  let step: () => void = () => undefined;
  class OpenClock extends VirtualClock {
    override every(name: string, milliseconds: number, task: () => void): Timer {
      step = task;
      return super.every(name, milliseconds, () => undefined);
    }
  }
  const clock = new OpenClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  const revocations = new Revocations({ state, clock, log: silentLog });
  await revocations.revoke('i', 'IDENTITY');
  await clock.advance(REVOCATION_LIFETIME + 1);
  const renewed = revocations.revoke('i', 'IDENTITY');
  step();
  await renewed;
  await state.change(() => undefined);
  t.ok(revocations.isRevoked(claims('t')));
  await clock.advance(REVOCATION_LIFETIME + 1);
  step();
  await state.change(() => undefined);
  t.equal(state.tables.revocation.size, 0);
  revocations.close();
  await state.close();
});
