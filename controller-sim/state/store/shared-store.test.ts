// Stores that several controllers share, in memory and in PostgreSQL: one order of all changes, the same data at every
// member, nothing lost when the database is away.

import t, { type Test } from 'tap';
import { SystemClock } from '#lib/clock.ts';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log.ts';
import { type Random, seededRandom } from '#lib/random.ts';
import { until } from '../../../test/support/overlay.ts';
import { Postgres, postgresObstacle } from '../../../test/support/postgres.ts';
import type { ChangeSet } from '../change.ts';
import { State } from '../state.ts';
import type { Service } from '../types.ts';
import { PostgresStore } from './postgres-store.ts';
import { SharedMemory } from './shared-memory.ts';
import type { MemberInfo, SharedStore } from './shared-store.ts';
import { StoreWriteError } from './store.ts';

const clock = new SystemClock();
const components = { clock, log: silentLog };

interface Member {
  readonly state: State;
  readonly store: SharedStore;
  /** The sets of changes that listeners received, as text. */
  readonly seen: string[];
}

async function join(store: SharedStore): Promise<Member> {
  const seen: string[] = [];
  const state = await store.starting(() => State.open({ store, clock, ids: new IdSource() }));
  state.subscribe('observers', ({ index, previousIndex, changes }: ChangeSet) => {
    const names = changes.map(({ kind, id, before, after }) => `${kind} ${id} ${nameOf(before)}>${nameOf(after)}`);
    seen.push(`${previousIndex}→${index}: ${names.join()}`);
  });
  return { state, store, seen };
}

function nameOf(entity: unknown): string {
  return (entity as Service | undefined)?.name ?? '';
}

function service(id: string, name: string): Service {
  const now = new Date().toISOString();
  return {
    id,
    name,
    createdAt: now,
    updatedAt: now,
    tags: {},
    isSystem: false,
    encryptionRequired: true,
    terminatorStrategy: 'smartrouting',
    maxIdleTimeMillis: 0,
    configs: [],
    roleAttributes: [],
    isFabricOnly: false,
  };
}

const contents = ({ state }: Member) =>
  JSON.stringify([...state.tables.service.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));

/** Creates, renames or deletes a service; two services never have one name. */
function change({ state }: Member, random: Random): Promise<unknown> {
  const id = `s${Math.floor(random.next() * 8)}`;
  const name = `name ${Math.floor(random.next() * 6)}`;
  return state.change((transaction) => {
    if (random.next() < 0.3) return transaction.delete('service', id);
    const owner = transaction.tables.service.findBy('name', name);
    if (owner && owner.id !== id) throw new Error('taken');
    return transaction.put('service', service(id, name));
  });
}

const info = (id: string): MemberInfo => ({
  id,
  controlAddress: `tls:${id}:1`,
  baseUrl: `https://${id}`,
  certPem: '',
  version: 'v2.0.0',
  joinedAt: '2026-01-01T00:00:00.000Z',
});

async function contract(t: Test, name: string, open: () => Promise<() => Promise<SharedStore>>): Promise<void> {
  t.test(`${name}: all members see all changes in one order`, async (t) => {
    for (const seed of [1, 2, 3]) {
      const opener = await open();
      const members = [await join(await opener()), await join(await opener()), await join(await opener())];
      const random = seededRandom(seed);
      let taken = 0;
      for (let round = 0; round < 30; round++) {
        const writers = Array.from({ length: 6 }, () => members[Math.floor(random.next() * 3)] as Member);
        const results = await Promise.allSettled(writers.map((member) => change(member, random)));
        taken += results.filter(({ status }) => status === 'rejected').length;
      }
      t.ok(taken > 5, `${taken} names were taken`);
      const [first, ...others] = members as [Member, Member, Member];
      const last = [...members].sort((a, b) => Number(b.state.index - a.state.index))[0] as Member;
      await until('the last change', () => members.every(({ state }) => state.index === last.state.index));
      for (const other of others) {
        t.equal(contents(other), contents(first));
        t.same(other.seen, first.seen);
      }
      const late = await join(await opener());
      t.equal(contents(late), contents(first), 'a member that joins later');
      t.equal(late.state.index, first.state.index);
      t.equal(late.state.timeline, first.state.timeline);
      await change(late, random).catch(() => undefined);
      await until('its change', () => first.state.index === late.state.index);
      t.equal(contents(first), contents(late));
      for (const { state } of [...members, late]) await state.close();
    }
  });

  t.test(`${name}: members, leader and their order`, async (t) => {
    const opener = await open();
    const [a, b] = [await opener(), await opener()];
    await a.load();
    await b.load();
    const changes: string[] = [];
    b.registry.onChange(() => changes.push('b'));
    await a.registry.join(info('a'));
    await b.registry.join(info('b'));
    const read = await b.registry.read();
    t.same(
      read.members.map(({ id, isConnected }) => [id, isConnected]),
      [
        ['a', true],
        ['b', true],
      ],
    );
    t.equal(read.leaderId, 'a');
    t.match((await a.registry.read()).members[1], info('b'));
    t.equal(await a.registry.transfer('b'), true);
    t.equal(await a.registry.transfer('nobody'), false);
    t.equal((await a.registry.read()).leaderId, 'b');
    await until('a notification', () => changes.length > 0);
    await b.registry.leave();
    const after = await a.registry.read();
    t.equal(after.leaderId, 'a', 'another leads');
    t.same(
      after.members.map(({ id, isConnected }) => [id, isConnected]),
      [
        ['a', true],
        ['b', false],
      ],
    );
    t.ok(after.index > read.index && after.leaderIndex > read.leaderIndex);
    t.equal(await a.registry.transfer('b'), false, 'it does not run');
    t.equal(await a.registry.remove('b'), true);
    t.equal(await a.registry.remove('b'), false);
    await b.registry.join({ ...info('b'), baseUrl: 'https://moved' });
    t.equal((await a.registry.read()).members[1]?.baseUrl, 'https://moved');
    await a.registry.leave();
    for (const store of [a, b]) await store.close();
  });

  t.test(`${name}: values beside entities are common`, async (t) => {
    const opener = await open();
    const [a, b] = [await opener(), await opener()];
    await a.putMeta(new Map([['key', 'value']]));
    t.equal((await b.load()).meta.get('key'), 'value');
    for (const store of [a, b]) await store.close();
  });
}

await contract(t, 'memory', async () => {
  const shared = new SharedMemory();
  return async () => shared.open();
});

t.test('memory: an acknowledged change is visible at every member', async (t) => {
  const shared = new SharedMemory();
  const [a, b] = [await join(shared.open()), await join(shared.open())];
  for (let count = 0; count < 50; count++) {
    await a.state.change((transaction) => transaction.put('service', service('s', `name ${count}`)));
    t.equal(b.state.tables.service.get('s')?.name, `name ${count}`);
  }
  const waiting = Promise.all(
    [a, b].map(({ state }) => state.change((transaction) => transaction.delete('service', 's'))),
  );
  await b.state.close();
  await t.resolves(waiting, 'a member that closes holds up nobody');
  await a.state.change((transaction) => transaction.put('service', service('s', 'alone')));
  await a.state.close();
});

const obstacle = postgresObstacle();

t.test('PostgreSQL', { skip: obstacle ?? false }, async (t) => {
  const postgres = await Postgres.start();
  t.teardown(() => postgres.close());
  let count = 0;
  const newDatabase = () => postgres.database(`test${count++}`);
  await contract(t, 'PostgreSQL', async () => {
    const url = await newDatabase();
    return () => PostgresStore.open(url, components);
  });

  t.test('connections that end are opened again, and no change is lost', async (t) => {
    const url = await newDatabase();
    const [a, b] = [
      await join(await PostgresStore.open(url, components)),
      await join(await PostgresStore.open(url, components)),
    ];
    const put = (member: Member, name: string) =>
      member.state.change((transaction) => transaction.put('service', service(name, name)));
    await put(a, 'before');
    await postgres.disconnectAll();
    await until('a connection', () =>
      put(a, 'after').then(
        () => true,
        () => false,
      ),
    );
    await until('the other member', () => contents(a) === contents(b));
    t.same(a.seen, b.seen);
    for (const { state } of [a, b]) await state.close();
  });

  t.test('while the database is away, changes are rejected and the data stays readable', async (t) => {
    const url = await newDatabase();
    const a = await join(await PostgresStore.open(url, components));
    await a.state.change((transaction) => transaction.put('service', service('kept', 'kept')));
    await postgres.kill();
    const writing = a.state.change((transaction) => transaction.put('service', service('lost', 'lost')));
    const error = await writing.then(
      () => undefined,
      (each: unknown) => each,
    );
    t.ok(error instanceof StoreWriteError, String(error));
    t.notMatch(String(error), /postgres:\/\//);
    t.equal(a.state.tables.service.get('kept')?.name, 'kept');
    t.notOk(a.state.tables.service.has('lost'));
    await postgres.restart();
    await until('a change', () =>
      a.state
        .change((transaction) => transaction.put('service', service('back', 'back')))
        .then(
          () => true,
          () => false,
        ),
    );
    const late = await join(await PostgresStore.open(url, components));
    t.equal(contents(late), contents(a), 'what was acknowledged is stored');
    for (const { state } of [a, late]) await state.close();
  });

  t.test('of two sets that are appended at once, the author of the second one reads the first', async (t) => {
    const url = await newDatabase();
    const [a, b] = [await PostgresStore.open(url, components), await PostgresStore.open(url, components)];
    await a.load();
    await b.load();
    const order: string[] = [];
    const slow = a.append(() => {
      order.push('a');
      return [{ origin: undefined, time: 0, changes: [] }];
    });
    const other = b.append((missed) => {
      order.push(`b after ${missed.length}`);
      return [];
    });
    await Promise.all([slow, other]);
    t.ok(order.join() === 'a,b after 1' || order.join() === 'b after 0,a', order.join());
    for (const store of [a, b]) await store.close();
  });

  t.test('an address that leads nowhere is reported without its password', async (t) => {
    const wrong = [
      `postgres://user:geheim@127.0.0.1:1/none`,
      `postgres://edgeweave:geheim@127.0.0.1:${postgres.port}/none`,
    ];
    for (const url of wrong) {
      const error = await PostgresStore.open(url, components).then(
        () => undefined,
        (each: unknown) => each,
      );
      t.match(String(error), /the database 127\.0\.0\.1:\d+\/none cannot be used: /);
      t.notMatch(String(error), /geheim/);
    }
  });
});
