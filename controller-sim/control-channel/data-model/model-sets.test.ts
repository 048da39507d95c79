// The history of the data model: sets of deleted identities, and a failure to build a set.

import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { DataState_Action, type DataState_Revocation } from '#wire/gen/edge_control_pb.js';
import { Access } from '../../access/access.ts';
import { Body } from '../../entities/body.ts';
import { plainIdentity, removeIdentity } from '../../entities/identity.ts';
import { servicePolicyRules } from '../../entities/policy.ts';
import { createFabricService, createService } from '../../entities/service.ts';
import type { Authority } from '../../pki/authority.ts';
import { State } from '../../state/state.ts';
import { MemoryStore } from '../../state/store/memory-store.ts';
import { SharedMemory } from '../../state/store/shared-memory.ts';
import type { Transaction } from '../../state/transaction.ts';
import { type ModelSet, ModelSets } from './model-sets.ts';

t.test('a change that cannot become a set resets the history, and receivers get the full state', async (t) => {
  const state = await State.open({ store: new MemoryStore(), clock: new VirtualClock(), ids: new IdSource() });
  const access = new Access(state);
  const sets = new ModelSets(state, access, {} as Authority);
  const received: ModelSet[] = [];
  let resets = 0;
  sets.subscribe((set) => received.push(set));
  sets.onReset(() => {
    resets++;
  });
  const add = (id: string) =>
    state.change((transaction) => {
      const fields = { name: id, type: 'Dial', semantic: 'AnyOf', postureCheckRoles: ['#all'] } as const;
      servicePolicyRules.create(transaction, id, new Body(fields, 'create'));
    });
  await add('first');
  const { checksOf } = access;
  let failures = 1;
  access.checksOf = (policy) => {
    if (failures-- > 0) throw new Error('broken rule');
    return checksOf.call(access, policy);
  };
  await add('second');
  t.equal(resets, 1);
  t.equal(sets.index, state.index, 'the history continues from the change');
  t.equal(sets.since(1n), undefined, 'a router that is behind gets the full state');
  await add('third');
  t.match(received.at(-1), { index: 3n, previousIndex: 2n });
});

t.test('data that a store has replaced resets the history', async (t) => {
  const memory = new SharedMemory();
  const components = { clock: new VirtualClock(), ids: new IdSource() };
  const state = await State.open({ store: memory.open(), ...components });
  const sets = new ModelSets(state, new Access(state), {} as Authority);
  let resets = 0;
  sets.onReset(() => {
    resets++;
  });
  await state.change((transaction) => transaction.put('identity', plainIdentity(transaction, 'anna', 'anna')));
  t.same(sets.since(0n)?.length, 1);
  await state.others?.rejoin();
  t.equal(resets, 1);
  t.equal(sets.since(0n), undefined, 'routers with earlier indexes get the full state');
  await state.close();
});

t.test('a deleted identity sends the revocation that is stored, once', async (t) => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const clock = Object.assign(new VirtualClock(time), { now: () => ++time });
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource() });
  const sets = new ModelSets(state, new Access(state), {} as Authority);
  const received: ModelSet[] = [];
  sets.subscribe((set) => received.push(set));
  await state.change((transaction) => transaction.put('identity', plainIdentity(transaction, 'anna', 'anna')));
  await state.change((transaction) => removeIdentity(transaction, 'anna'));
  const events = received.at(-1)?.events ?? [];
  t.same(
    events.map(({ action, model }) => [DataState_Action[action], model.case]),
    [
      ['CREATE', 'revocation'],
      ['UPDATE', 'identity'],
      ['DELETE', 'identity'],
    ],
  );
  const [stored] = state.tables.revocation.values();
  const sent = events[0]?.model.value as DataState_Revocation;
  t.equal(sent.id, 'anna');
  t.equal(timestampMs(sent.issuedBefore as Timestamp), Date.parse(stored?.createdAt ?? ''));
  t.equal(timestampMs(sent.expiresAt as Timestamp), Date.parse(stored?.expiresAt ?? ''));
});

t.test('a change of many policies looks at each of their members a constant number of times', async (t) => {
  const state = await State.open({ store: new MemoryStore(), clock: new VirtualClock(), ids: new IdSource() });
  const access = new Access(state);
  const sets = new ModelSets(state, access, {} as Authority);
  const received: ModelSet[] = [];
  sets.subscribe((set) => received.push(set));
  let looks = 0;
  const counted = (moves: Access['latestChanges']) =>
    moves.map((move) => new Proxy(move, { get: (target, key) => (looks++, Reflect.get(target, key)) }));
  const { get } = Object.getOwnPropertyDescriptor(Access.prototype, 'latestChanges') as {
    get(): Access['latestChanges'];
  };
  Object.defineProperty(access, 'latestChanges', { get: () => counted(get.call(access)) });
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
  await state.change((transaction) => {
    for (const id of names) {
      transaction.put('identity', { ...plainIdentity(transaction, `i-${id}`, `i-${id}`), roleAttributes: ['all'] });
      servicePolicyRules.create(
        transaction,
        `p-${id}`,
        new Body({ name: id, type: 'Dial', semantic: 'AnyOf', identityRoles: [`@i-${id}`] }, 'create'),
      );
    }
  });
  const members = received.at(-1)?.events.filter(({ model }) => model.case === 'servicePolicyChange') ?? [];
  t.equal(members.length, names.length, 'each policy has its member');
  t.ok(looks > 0 && looks <= 20 * names.length, `${looks} looks at ${names.length} members`);
  looks = 0;
  await state.change((transaction) => {
    for (const id of names) transaction.delete('servicePolicy', `p-${id}`);
  });
  t.ok(looks > 0 && looks <= 20 * names.length, `${looks} looks at ${names.length} members that left`);
});

t.test('routers receive no services of the fabric alone, and no empty app data', async (t) => {
  const state = await State.open({ store: new MemoryStore(), clock: new VirtualClock(), ids: new IdSource() });
  const sets = new ModelSets(state, new Access(state), {} as Authority);
  const received: ModelSet[] = [];
  sets.subscribe((set) => received.push(set));
  await state.change((transaction) => {
    createFabricService(transaction, 'fabric', new Body({ name: 'fabric' }, 'create'));
    createService(transaction, 'edge', new Body({ name: 'edge', encryptionRequired: true }, 'create'));
    transaction.put('identity', plainIdentity(transaction, 'anna', 'anna'));
    transaction.put('identity', { ...plainIdentity(transaction, 'ben', 'ben'), appData: { seat: 3 } });
  });
  const models = received.flatMap(({ events }) => events.map(({ model }) => model));
  t.same(
    models.flatMap(({ case: kind, value }) => (kind === 'service' ? value.id : [])),
    ['edge'],
  );
  t.same(
    models.flatMap(({ case: kind, value }) => (kind === 'identity' ? Buffer.from(value.appDataJson).toString() : [])),
    ['', '{"seat":3}'],
  );
});

t.test('changes that are committed together make the same sets as one after the other', async (t) => {
  const kinds = {
    identity: (transaction: Transaction) => transaction.put('identity', plainIdentity(transaction, 'anna', 'anna')),
    service: (transaction: Transaction) => createService(transaction, 'echo', new Body({ name: 'echo' }, 'create')),
    policy: (transaction: Transaction) => {
      const fields = {
        name: 'dial',
        type: 'Dial',
        semantic: 'AnyOf',
        identityRoles: ['#all'],
        serviceRoles: ['#all'],
      } as const;
      servicePolicyRules.create(transaction, 'dial', new Body(fields, 'create'));
    },
  };
  const setsOf = async (together: boolean, order: readonly (keyof typeof kinds)[]) => {
    const state = await State.open({ store: new MemoryStore(), clock: new VirtualClock(), ids: new IdSource() });
    const sets = new ModelSets(state, new Access(state), {} as Authority);
    const received: ModelSet[] = [];
    sets.subscribe((set) => received.push(set));
    if (together) await Promise.all(order.map((kind) => state.change(kinds[kind])));
    else for (const kind of order) await state.change(kinds[kind]);
    return received.map(({ index, events }) => ({ index, events: events.map(({ model }) => model) }));
  };
  for (const order of [
    ['policy', 'identity', 'service'],
    ['service', 'policy', 'identity'],
    ['identity', 'service', 'policy'],
  ] as const)
    t.same(await setsOf(true, order), await setsOf(false, order), order.join(', '));
});
