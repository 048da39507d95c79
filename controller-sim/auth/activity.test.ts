// Session activity while it is being stored.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { type Timer, VirtualClock } from '#lib/time/clock.ts';
import { baseFields } from '../entities/common.ts';
import { REVOCATION_LIFETIME } from '../entities/revocation.ts';
import type { ApiSession } from '../state/kinds/api-session.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { SharedMemory } from '../state/store/shared-memory.ts';
import type { Prepare } from '../state/store/store.ts';
import { Activity } from './activity.ts';
import { Revocations } from './tokens/revocations.ts';

const MINUTE = 60_000;

/** Changes fail while `isFull`. */
class FullStore extends MemoryStore {
  isFull = false;

  override append(after: bigint, prepare: Prepare): Promise<bigint[]> {
    return this.isFull ? Promise.reject(new Error('the disk is full')) : super.append(after, prepare);
  }
}

/** Runs the periodic task when the test calls `step`. */
class OpenClock extends VirtualClock {
  step: () => void = () => undefined;

  override every(name: string, milliseconds: number, task: () => void): Timer {
    this.step = task;
    return super.every(name, milliseconds, task);
  }
}

function storeSession(state: State): Promise<ApiSession> {
  return state.change((transaction) => {
    const session = {
      ...baseFields(transaction, 'session'),
      token: 'token',
      identityId: 'somebody',
      authenticatorId: '',
      configTypes: [],
      ipAddress: '',
      lastActivityAt: transaction.now,
      fingerprints: [],
      isMfaRequired: false,
      isMfaComplete: false,
      requiredSignerId: null,
      isCertExtendable: false,
      improperClientCertChain: false,
    };
    transaction.put('apiSession', session);
    return session;
  });
}

t.test('the last use of a session stays known while it is being stored, and if storing fails', async (t) => {
  const clock = new OpenClock();
  const store = new FullStore();
  const state = await State.open({ store, clock, ids: new IdSource(seededRandom(1)) });
  const activity = new Activity({ state, clock, log: silentLog, lifetime: 30 * MINUTE });
  const session = await storeSession(state);
  const stored = () => Date.parse(state.tables.apiSession.get('session')?.lastActivityAt ?? '');
  const begin = clock.now();
  await clock.advance(MINUTE / 2);
  const used = clock.now();
  activity.note(session);

  store.isFull = true;
  clock.step();
  t.equal(activity.lastOf(session), used, 'while it is being stored');
  await clock.advance(MINUTE / 4);
  t.same([stored(), activity.lastOf(session)], [begin, used], 'after storing failed');

  store.isFull = false;
  await clock.advance(MINUTE / 2);
  t.same([stored(), activity.lastOf(state.tables.apiSession.get('session') ?? session)], [used, used], 'written down');
  activity.close();
  await state.close();
});

t.test('the use of sessions that are not stored changes nothing', async (t) => {
  const clock = new OpenClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  const activity = new Activity({ state, clock, log: silentLog, lifetime: 30 * MINUTE });
  const token = { id: 'token', lastActivityAt: new Date(clock.now()).toISOString() } as ApiSession;
  const changes = t.capture(state, 'change');
  await clock.advance(MINUTE / 2);
  activity.note(token);
  t.equal(activity.lastOf(token), clock.now());
  clock.step();
  t.same(changes(), []);
  activity.close();
  await state.close();
});

t.test(
  'of two controllers, the later use of a session counts, and one step passes before either ends it',
  async (t) => {
    const clock = new OpenClock();
    const shared = new SharedMemory();
    const ids = new IdSource(seededRandom(1));
    const open = async () => {
      const state = await State.open({ store: shared.open(), clock, ids });
      const activity = new Activity({ state, clock, log: silentLog, lifetime: MINUTE / 2 });
      return { state, activity, step: clock.step };
    };
    const [one, two] = [await open(), await open()];
    const session = await storeSession(one.state);
    const stored = () => one.state.tables.apiSession.get('session')?.lastActivityAt;
    one.activity.note(session);
    await clock.advance(1_000);
    two.activity.note(session);
    const used = clock.now();
    two.step();
    await two.state.change(() => undefined);
    one.step();
    await one.state.change(() => undefined);
    t.equal(stored(), new Date(used).toISOString(), 'an earlier use does not replace it');
    t.equal(one.activity.lastOf(one.state.tables.apiSession.get('session') as ApiSession), used);
    await clock.advance(MINUTE);
    one.activity.note(session); // one has not stored it yet
    two.step();
    await two.state.change(() => undefined);
    t.ok(stored(), 'two does not end it');
    one.step();
    await clock.advance(2 * MINUTE);
    two.step();
    await two.state.change(() => undefined);
    t.notOk(stored(), 'later it does');
    for (const { state, activity } of [one, two]) {
      activity.close();
      await state.close();
    }
  },
);

t.test('a session that is used while its end is being stored does not end', async (t) => {
  const clock = new OpenClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  const activity = new Activity({ state, clock, log: silentLog, lifetime: MINUTE / 4 });
  const session = await storeSession(state);
  await clock.advance(MINUTE / 2);
  clock.step();
  activity.note(session);
  await state.change(() => undefined);
  t.ok(state.tables.apiSession.has('session'));
  await clock.advance(MINUTE / 2);
  clock.step();
  await clock.advance(MINUTE);
  clock.step();
  await state.change(() => undefined);
  t.notOk(state.tables.apiSession.has('session'), 'later it ends');
  activity.close();
  await state.close();
});

t.test('of several controllers, the leader ends unused sessions and removes old revocations', async (t) => {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  let leads = false;
  const common = { state, clock, log: silentLog, isLeader: () => leads };
  const activity = new Activity({ ...common, lifetime: 30 * MINUTE });
  const revocations = new Revocations(common);
  await storeSession(state);
  await revocations.revoke('i', 'IDENTITY');
  const sizes = () => [state.tables.apiSession.size, state.tables.revocation.size];
  await clock.advance(REVOCATION_LIFETIME + 5 * MINUTE);
  t.same(sizes(), [1, 1], 'another one leads');
  leads = true;
  await clock.advance(5 * MINUTE);
  await state.change(() => undefined);
  t.same(sizes(), [0, 0]);
  activity.close();
  revocations.close();
  await state.close();
});
