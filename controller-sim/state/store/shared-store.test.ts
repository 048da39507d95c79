// Stores that several controllers share, in memory and in PostgreSQL: one order of all changes, the same data at every
// member, nothing lost when the database is away.

import t, { type Test } from 'tap';
import { type Log, silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { FaultyPort } from '../../../test/support/hostile/faulty-port.ts';
import { SharedSession } from '../../../test/support/hostile/shared-session.ts';
import { Postgres, postgresObstacle } from '../../../test/support/programs/postgres.ts';
import {
  chainsOf,
  change,
  connectTo,
  contents,
  memberInfo as info,
  join,
  type Member,
  service,
} from '../../../test/support/rooms/members.ts';
import { until } from '../../../test/support/until.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { MIGRATIONS } from './migrations.ts';
import { PostgresStore } from './postgres-store.ts';
import { SharedMemory } from './shared-memory.ts';
import { MAX_MEMBERS, memberKey, type SharedStore } from './shared-store.ts';
import { StoreWriteError } from './store.ts';

const clock = new SystemClock();
const components = { clock, log: silentLog };
/** Milliseconds for a statement to be rejected: less than the longest waits of PostgreSQL. */
const MAX_HANG_MS = 10_000;

async function contract(t: Test, name: string, open: () => Promise<() => Promise<SharedStore>>): Promise<void> {
  t.test(`${name}: members count attempts together, within a time`, async (t) => {
    const next = await open();
    const [one, two] = [await next(), await next()];
    const add = (store: SharedStore, key: string, now: number) => store.registry.attempts.add(key, now, 1_000);
    t.equal(await add(one, 'a', 5_000), 1);
    t.equal(await add(two, 'a', 5_500), 2);
    t.equal(await add(one, 'b', 5_500), 1);
    t.equal(await add(one, 'a', 5_999), 3);
    t.equal(await add(two, 'a', 6_001), 1, 'the time is over');
    t.equal(await add(two, 'a', 6_002), 2);
    await one.registry.attempts.clear('a');
    t.equal(await add(two, 'a', 6_003), 1);
    for (const store of [one, two]) await store.close();
  });

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
    await a.putMeta(new Map(['b', 'a', 'x.b'].map((id) => [memberKey('pki.listener', id), 'a key'])));
    t.equal(await a.registry.remove('b'), true);
    t.equal(await a.registry.remove('b'), false);
    const { meta } = await a.load();
    t.same(
      [...meta.keys()].filter((key) => key.startsWith('pki.')).sort(),
      ['pki.listener.a', 'pki.listener.x.b'],
      'its key is gone',
    );
    await b.registry.join({ ...info('b'), baseUrl: 'https://moved' });
    t.equal((await a.registry.read()).members[1]?.baseUrl, 'https://moved');
    await a.registry.leave();
    for (const store of [a, b]) await store.close();
  });

  t.test(`${name}: an id belongs to one running member, and a limit bounds their number`, async (t) => {
    const opener = await open();
    const [a, b] = [await opener(), await opener()];
    await a.registry.claim('a');
    await a.registry.join(info('a'));
    await t.rejects(b.registry.claim('a'), /a controller with the id a runs already .*\(member, --member\)/);
    await a.registry.leave();
    await a.close();
    await t.resolves(b.registry.claim('a'), 'it has stopped');
    await b.registry.join(info('a'));
    for (let count = 1; count < MAX_MEMBERS; count++) await b.registry.join(info(`m${count}`));
    await b.registry.join(info('a'));
    const c = await opener();
    await t.rejects(c.registry.claim('one too many'), /100 controllers; .*remove those/);
    for (const store of [b, c]) await store.close();
  });

  t.test(`${name}: ids and names may have any characters`, async (t) => {
    const opener = await open();
    const a = await join(await opener());
    const ids = ['a\0b', 'a\x01b', 'a\x010b', 'a\x01\0b', '%\\', 'é😀', "'; --"];
    for (const id of ids) await a.state.change((transaction) => transaction.put('service', service(id, `name ${id}`)));
    const late = await join(await opener());
    t.same(Array.from(late.state.tables.service.values(), ({ id }) => id).sort(), [...ids].sort());
    t.equal(contents(late), contents(a));
    for (const id of ids) await late.state.change((transaction) => transaction.delete('service', id));
    const empty = await join(await opener());
    t.equal(empty.state.tables.service.size, 0);
    for (const { state } of [a, late, empty]) await state.close();
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

t.test('memory: only the named member rejoins, and only while it runs', async (t) => {
  const shared = new SharedMemory();
  const rejoined: string[] = [];
  const opened = async (id: string) => {
    const member = await join(shared.open());
    await member.store.registry.join(info(id));
    member.store.onRejoin((pending) => void pending.push(Promise.resolve().then(() => void rejoined.push(id))));
    return member;
  };
  const [a, b] = [await opened('a'), await opened('b')];
  t.equal(await a.store.registry.rejoin('b'), true);
  t.same(rejoined, ['b'], 'it has rejoined when the request ends');
  t.equal(await a.store.registry.rejoin('nobody'), false);
  await b.store.registry.leave();
  t.equal(await a.store.registry.rejoin('b'), false);
  t.same(rejoined, ['b']);
  for (const { state } of [a, b]) await state.close();
});

t.test('memory: members that close leave no listeners', async (t) => {
  const shared = new SharedMemory();
  for (let count = 0; count < 3; count++) {
    const { registry } = shared.open();
    const components = { registry, clock, log: silentLog };
    const cluster = await Cluster.join(components, info(`m${count}`));
    t.equal(shared.listening, 1);
    await cluster.close();
  }
  t.equal(shared.listening, 0);
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
    t.match(
      String(error),
      /did not store the change: (?:it is shutting down \(57P01\)|its connection was lost|.*\(\w+\)); try again/,
    );
    t.notMatch(String(error), /127\.0\.0\.1|edgeweave|postgres:/);
    const again = await a.state
      .change((transaction) => transaction.put('service', service('lost', 'lost')))
      .catch((each: unknown) => each);
    t.match(String(again), /nothing listens at its address \(ECONNREFUSED\); try again/);
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
    const appended = await Promise.all(
      [a, b].map(async (store) => {
        let missed = -1;
        const indexes = await store.append(0n, (sets) => {
          missed = sets.length; // the last call counts
          return [{ origin: undefined, time: 0, changes: [] }];
        });
        return { missed, indexes };
      }),
    );
    t.same(
      appended.sort((one, other) => Number((one.indexes[0] ?? 0n) - (other.indexes[0] ?? 0n))),
      [
        { missed: 0, indexes: [1n] },
        { missed: 1, indexes: [2n] },
      ],
    );
    for (const store of [a, b]) await store.close();
  });

  t.test('a damaged or missing set is reported, and no later set is applied without it', async (t) => {
    const url = await newDatabase();
    const { state } = await join(await PostgresStore.open(url, components));
    await using database = await connectTo(url);
    const texts = Array.from({ length: 1_200 }, (_, count) =>
      JSON.stringify({ time: 0, changes: [{ kind: 'service', id: 's', after: service('s', `name ${count}`) }] }),
    );
    const chains = chainsOf(texts);
    await database.ask('INSERT INTO edgeweave.change SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])', [
      texts.map((_, position) => position + 1),
      texts,
      chains,
    ]);
    await database.ask('UPDATE edgeweave.head SET index = 1200, chain = $1', [chains.at(-1)]);
    for (const [body, problem] of [
      ['{', /row 1100: the body is invalid: it is not JSON/],
      ['{"time":0,"changes":{}}', /row 1100: .*it has no changes/],
      ['{"time":0,"changes":[{"kind":"nothing","id":"s"}]}', /the kind of a change is unknown/],
      ['{"time":0,"changes":[{"kind":"service","id":"s","after":{"id":"other"}}]}', /its id differs/],
      [texts[7] as string, /the database has another history: it is at change 1100 /],
    ] as const) {
      const [{ body: kept }] = await database.ask('SELECT body FROM edgeweave.change WHERE index = 1100');
      await database.ask('UPDATE edgeweave.change SET body = $1 WHERE index = 1100', [body]);
      await t.rejects(
        state.change((transaction) => transaction.put('service', service('other', 'other'))),
        problem,
      );
      await database.ask('UPDATE edgeweave.change SET body = $1 WHERE index = 1100', [kept]);
    }
    await database.ask('DELETE FROM edgeweave.change WHERE index = 1200');
    await t.rejects(
      state.change((transaction) => transaction.put('service', service('other', 'other'))),
      /the change 1200 is missing in the database; restore it, or use sim cluster rejoin/,
    );
    await database.ask('INSERT INTO edgeweave.change VALUES (1200, $1, $2)', [texts[1_199], chains[1_199]]);
    await state.change((transaction) => transaction.put('service', service('other', 'other')));
    t.equal(state.tables.service.get('s')?.name, 'name 1199');
    t.equal(state.index, 1_201n);
    await state.close();
  });

  t.test('members do not follow a database that was restored to an older copy, and do not write to it', async (t) => {
    const url = await newDatabase();
    const [a, b] = [
      await join(await PostgresStore.open(url, components)),
      await join(await PostgresStore.open(url, components)),
    ];
    for (const { store } of [a, b]) await store.registry.join(info(store === a.store ? 'a' : 'b'));
    const add = ({ state }: Member, name: string) =>
      state.change((transaction) => transaction.put('service', service(name, name)));
    for (const name of ['one', 'two', 'three']) await add(a, name);
    await using database = await connectTo(url);
    const tables = ['entity', 'change', 'head'];
    for (const table of tables) await database.ask(`CREATE TABLE ${table}_copy AS TABLE edgeweave.${table}`);
    for (const name of ['four', 'five']) await add(a, name);
    await until('the last change', () => b.state.index === 5n);
    await database.ask('BEGIN');
    for (const table of tables) {
      await database.ask(`DELETE FROM edgeweave.${table}`);
      await database.ask(`INSERT INTO edgeweave.${table} TABLE ${table}_copy`);
    }
    await database.ask('COMMIT');
    await t.rejects(add(a, 'six'), /another history: it is at change 3 .*, this controller at change 5 /);
    await until('b to notice', () => b.state.others?.problem !== undefined);
    t.match(b.state.others?.problem, /another history: it is at change 3 /);
    // A controller that starts takes the copy, and its changes pass the index of the others.
    const late = await join(await PostgresStore.open(url, components));
    for (const name of ['vier', 'fünf', 'sechs', 'sieben']) await add(late, name);
    await until('a to notice', () => a.state.others?.problem?.includes('at change 6 ') === true);
    await until('b to notice', () => b.state.others?.problem?.includes('at change 6 ') === true);
    for (const each of [a, b]) {
      t.equal(each.state.index, 5n);
      t.ok(each.state.tables.service.has('five'));
      t.notOk(each.state.tables.service.has('vier'), 'nothing of the other history is applied');
      await t.rejects(add(each, 'more'), /another history/);
    }
    await b.state.close();
    const again = await join(await PostgresStore.open(url, components));
    t.equal(contents(again), contents(late), 'a restart takes the data of the database');
    for (const { state } of [a, late, again]) await state.close();
  });

  t.test('a set that is not the one that was appended is not applied', async (t) => {
    const url = await newDatabase();
    const { state, store } = await join(await PostgresStore.open(url, components));
    await store.registry.join(info('a'));
    await using database = await connectTo(url);
    const bodies = ['one', 'two'].map((name) =>
      JSON.stringify({ time: 0, changes: [{ kind: 'service', id: name, after: service(name, name) }] }),
    );
    const chains = chainsOf(bodies);
    const append = (body: string | undefined) =>
      database.ask('INSERT INTO edgeweave.change VALUES (1, $1, $2)', [body, chains[0]]);
    await append(bodies[1]);
    await database.ask('UPDATE edgeweave.head SET index = 1, chain = $1', [chains[0]]);
    await until('the problem', () => state.others?.problem !== undefined);
    t.match(state.others?.problem, /another history/);
    t.equal(state.tables.service.size, 0);
    await database.ask('DELETE FROM edgeweave.change');
    await append(bodies[0]);
    await until('the right one', () => state.others?.problem === undefined);
    t.ok(state.tables.service.has('one'), 'a repaired database is followed again');
    await state.close();
  });

  t.test('a schema of a later release is rejected, and one of an earlier release migrated', async (t) => {
    const url = await newDatabase();
    const a = await join(await PostgresStore.open(url, components));
    await a.state.change((transaction) => transaction.put('service', service('s', 's')));
    await a.state.close();
    await using database = await connectTo(url);
    await database.ask('UPDATE edgeweave.schema SET version = 99, oldest = 98');
    await t.rejects(PostgresStore.open(url, components), /has schema 99, of a later release; this one knows \d/);
    await database.ask('DROP TABLE edgeweave.schema');
    await database.ask(
      'ALTER TABLE edgeweave.member DROP COLUMN position_index, DROP COLUMN position_chain, DROP COLUMN problem, DROP COLUMN rejoin, DROP COLUMN schema',
    );
    await database.ask('ALTER TABLE edgeweave.change DROP COLUMN chain');
    await database.ask('ALTER TABLE edgeweave.head DROP COLUMN chain, DROP COLUMN timeline');
    const b = await join(await PostgresStore.open(url, components));
    t.equal(b.state.tables.service.get('s')?.name, 's');
    await b.state.change((transaction) => transaction.put('service', service('t', 't')));
    const c = await join(await PostgresStore.open(url, components));
    t.equal(contents(c), contents(b));
    await t.rejects(
      database.ask(`INSERT INTO edgeweave.change (index, body) VALUES (9, '{}')`),
      /null value in column "chain"/,
      'a controller of the earlier release cannot append',
    );
    for (const { state } of [b, c]) await state.close();
  });

  t.test('members of the first release are named before a migration, and do not start after it', async (t) => {
    const url = await newDatabase();
    await using database = await connectTo(url);
    const [first] = MIGRATIONS;
    await database.ask(`CREATE SCHEMA edgeweave; ${first?.statements}`);
    for (const id of ['one', 'two'])
      await database.ask('INSERT INTO edgeweave.member (id, info, instance) VALUES ($1, $2, $1)', [
        id,
        JSON.stringify(info(id)),
      ]);
    await t.rejects(
      PostgresStore.open(url, components),
      new RegExp(
        `one \\(schema 1\\), two \\(schema 1\\) could not go on with schema ${MIGRATIONS.length} of this release, which needs 2 or later; stop these controllers first`,
      ),
    );
    const columns = `SELECT column_name FROM information_schema.columns WHERE table_schema = 'edgeweave' AND table_name = 'change'`;
    t.same(await database.ask(columns), [{ column_name: 'index' }, { column_name: 'body' }], 'nothing has changed');
    await database.ask('UPDATE edgeweave.member SET is_running = false');
    const store = await PostgresStore.open(url, components);
    // Each start of the first release creates its tables where they are missing.
    await t.rejects(database.ask(String(first?.statements)), /"of a later release: use that one for all controllers"/);
    await store.close();
    await database.ask('UPDATE edgeweave.schema SET version = version - 1');
    await (await PostgresStore.open(url, components)).close();
  });

  t.test('members of two releases work side by side while the schema permits it', async (t) => {
    const url = await newDatabase();
    const known = MIGRATIONS.length;
    const later = (oldest: number) => ({
      ...components,
      migrations: [
        ...MIGRATIONS,
        { oldest, statements: `ALTER TABLE edgeweave.entity ADD COLUMN later text NOT NULL DEFAULT ''` },
      ],
    });
    const earlier = await join(await PostgresStore.open(url, components));
    await earlier.store.registry.claim('earlier');
    await earlier.store.registry.join(info('earlier'));
    await t.rejects(
      PostgresStore.open(url, later(known + 1)),
      new RegExp(
        `earlier \\(schema ${known}\\) could not go on with schema ${known + 1} .* needs ${known + 1} or later; stop this controller first`,
      ),
    );
    await earlier.state.change((transaction) => transaction.put('service', service('a', 'before the upgrade')));

    const upgraded = await join(await PostgresStore.open(url, later(known)));
    await upgraded.store.registry.join(info('upgraded'));
    for (const [member, id] of [
      [earlier, 'b'],
      [upgraded, 'c'],
      [earlier, 'd'],
    ] as const)
      await member.state.change((transaction) => transaction.put('service', service(id, id)));
    const restarted = await join(await PostgresStore.open(url, components));
    await restarted.state.change((transaction) => transaction.put('service', service('e', 'of a restarted one')));
    await until(
      'the same data',
      () => contents(earlier) === contents(restarted) && contents(upgraded) === contents(restarted),
    );
    t.equal(restarted.state.tables.service.size, 5);

    for (const each of [earlier, restarted]) {
      await each.store.registry.leave();
      await each.state.close();
    }
    await upgraded.store.registry.leave();
    await upgraded.state.close();
    const last = {
      ...components,
      migrations: [...later(known).migrations, { oldest: known + 2, statements: 'SELECT 1' }],
    };
    const next = await join(await PostgresStore.open(url, last));
    t.equal(next.state.tables.service.size, 5);
    await t.rejects(PostgresStore.open(url, components), /has schema \d+, of a later release; this one knows \d/);
    await next.state.close();
  });

  t.test('wrong rows are named with their table and row', async (t) => {
    const url = await newDatabase();
    const store = await PostgresStore.open(url, components);
    await store.load();
    await store.append(0n, () => [{ origin: undefined, time: 0, changes: [] }]);
    await store.registry.join(info('a'));
    await using database = await connectTo(url);
    await database.ask(`UPDATE edgeweave.member SET info = '{"id":"a"}'`);
    await t.rejects(store.registry.read(), /table member, row a: the info has no controlAddress/);
    await database.ask(`UPDATE edgeweave.member SET info = 'geheim'`);
    const error = await store.registry.read().catch((each: unknown) => each);
    t.match(String(error), /table member, row a: the info is not JSON/);
    t.notMatch(String(error), /geheim/);
    const add = (after: bigint) => store.append(after, () => [{ origin: undefined, time: 0, changes: [] }]);
    await database.ask(`INSERT INTO edgeweave.change VALUES (2, '', 'of a stranger')`);
    const rejected = { isRejection: false, message: /somebody has written to its tables \(23505\); try again/ };
    await t.rejects(add(1n), rejected, 'its client has sent nothing wrong');
    await database.ask('DELETE FROM edgeweave.change WHERE index = 2');
    const [{ text }] = await database.ask(`SELECT pg_get_functiondef('edgeweave.append_at'::regproc) AS text`);
    await database.ask(text.replace(/BEGIN.*END/s, 'BEGIN RETURN false; END'));
    await t.rejects(add(1n), /its function append_at is not that of this release/);
    await database.ask(text);
    t.same(await add(1n), [2n]);
    await database.ask('UPDATE edgeweave.head SET index = 0');
    await t.rejects(store.load(), /table head, row 1: its index is 0, but the last change is 2/);
    await t.rejects(
      store.append(2n, () => []),
      /the database has another history: it is at change 0 .*, this controller at change 2 .*sim cluster rejoin/,
    );
    await database.ask('DELETE FROM edgeweave.head');
    await t.rejects(store.load(), /table head, row 1: it is missing/);
    await t.rejects(
      store.append(0n, () => []),
      /table head, row 1: it is missing/,
    );
    await store.close();
  });

  t.test(
    'a change that waits for a lock is rejected in time, with the cause; the renewal of the member goes on',
    async (t) => {
      const url = await newDatabase();
      const a = await join(await PostgresStore.open(url, components));
      await a.store.registry.join(info('a'));
      await using database = await connectTo(url);
      await database.ask('BEGIN');
      await database.ask('SELECT 1 FROM edgeweave.head FOR UPDATE');
      const add = (name: string) => a.state.change((transaction) => transaction.put('service', service(name, name)));
      await t.rejects(
        add('s'),
        /another session holds a lock that the change needs \(55P03\); try again|did not answer in time/,
      );
      await using other = await connectTo(url);
      await other.ask(`UPDATE edgeweave.member SET renewed_at = now() - interval '1 hour'`);
      const isFresh = `SELECT 1 FROM edgeweave.member WHERE renewed_at > now() - interval '1 minute'`;
      await until('a renewal', async () => (await other.ask(isFresh)).length === 1);
      await database.ask('COMMIT');
      await until('a change', () =>
        add('t').then(
          () => true,
          () => false,
        ),
      );
      t.ok(a.state.tables.service.has('t'));
      t.notOk(a.state.tables.service.has('s'));
      await a.state.close();
    },
  );

  t.test('a database that hangs costs its clients less than two seconds, and its reads go on', async (t) => {
    const url = await newDatabase();
    const a = await join(await PostgresStore.open(url, components));
    const add = (name: string) => a.state.change((transaction) => transaction.put('service', service(name, name)));
    await add('one');
    const order: string[] = [];
    const hung = await postgres.suspend();
    try {
      const first = add('two').catch((error: unknown) => order.push(String(error)));
      await clock.sleep(300);
      // It waits with the first one, and is rejected as soon as that one is.
      const second = add('three').catch((error: unknown) => order.push(String(error)));
      t.equal(a.state.tables.service.get('one')?.name, 'one');
      await Promise.all([first, second]);
      t.equal(order.length, 2);
      for (const text of order) t.match(text, /did not store the change: it did not answer in time; try again/);
      await t.rejects(add('four'), /did not answer in time/, 'and further ones at once');
    } finally {
      hung.resume();
    }
    await until('a change', () =>
      add('five').then(
        () => true,
        () => false,
      ),
    );
    await a.state.close();
  });

  t.test('every statement to a database that hangs is rejected while it hangs', async (t) => {
    const url = await newDatabase();
    const a = await join(await PostgresStore.open(url, components));
    const { registry } = a.store;
    await registry.join(info('a'));
    const statements: Readonly<Record<string, () => Promise<unknown>>> = {
      change: () => a.state.change((transaction) => transaction.put('service', service('s', 's'))),
      'read the members': () => registry.read(),
      transfer: () => registry.transfer('a'),
      remove: () => registry.remove('b'),
      rejoin: () => registry.rejoin('a'),
      enter: () => registry.join(info('a')),
      claim: () => registry.claim('c'),
      attempt: () => registry.attempts.add('key', 0, 1),
      'put meta': () => a.store.putMeta(new Map([['key', 'value']])),
      load: () => a.store.load(),
      start: () => a.store.starting(async () => undefined),
      leave: () => registry.leave(),
    };
    const hung = await postgres.suspend();
    const outcomes = new Map<string, unknown>();
    try {
      for (const [name, run] of Object.entries(statements))
        run()
          .then(() => 'done', String)
          .then((outcome) => outcomes.set(name, outcome));
      await until('their ends', () => outcomes.size === Object.keys(statements).length, MAX_HANG_MS);
    } finally {
      hung.resume();
    }
    t.equal(outcomes.get('leave'), 'done', 'the others notice it after the lease');
    outcomes.delete('leave');
    for (const [name, outcome] of outcomes) t.match(outcome, /did not answer in time|took longer than|was lost/, name);
    await a.state.close();
  });

  t.test('a member whose connections were dropped silently rejects nothing once it has others', async (t) => {
    const url = await newDatabase();
    using port = await FaultyPort.start(postgres.port);
    const store = await PostgresStore.open(url.replace(`:${postgres.port}/`, `:${port.port}/`), components);
    const a = await join(store);
    const cluster = await Cluster.join({ registry: store.registry, clock, log: silentLog }, info('a'));
    await until('its first renewals', () => store.registry.progress.head === a.state.index && port.open === 2);
    const settled = Promise.withResolvers<void>();
    store.onAppended(settled.resolve); // after a reconnect, the members are read too
    while (port.open > 0) port.freeze();
    await settled.promise;
    await until('its new connections', () => port.open === 2);
    await a.state.change((transaction) => transaction.put('service', service('s', 's')));
    t.ok(a.state.tables.service.has('s'));
    t.ok(await store.registry.transfer('a'));
    await cluster.close();
    await a.state.close();
  });

  t.test('an idle member says by itself that it can store no changes, why, and that it can again', async (t) => {
    const url = await newDatabase();
    const a = await join(await PostgresStore.open(url, components));
    await a.store.registry.join(info('a'));
    const problems: (string | undefined)[] = [];
    a.state.others?.onProblem((problem) => problems.push(problem));
    const hasProblem = (expected: RegExp) =>
      until(String(expected), () => expected.test(a.state.others?.problem ?? ''));
    const hasNone = () => until('the end of the problem', () => a.state.others?.problem === undefined);
    await hasNone();

    await postgres.configure({ default_transaction_read_only: 'on' });
    await hasProblem(/^the database does not store changes: it is read-only: .* \(25006\)$/);
    await postgres.configure({ default_transaction_read_only: 'off' });
    await hasNone();

    const hung = await postgres.suspend();
    await hasProblem(/it did not answer in time$/).finally(() => hung.resume());
    await hasNone();

    await postgres.kill();
    await hasProblem(/nothing listens at its address \(ECONNREFUSED\)$/);
    await postgres.restart();
    await hasNone();

    a.store.cutOff(true);
    await hasProblem(/the lab has cut this controller off/);
    a.store.cutOff(false);
    await hasNone();
    t.equal(problems.at(-1), undefined, 'listeners hear of it');
    await a.state.close();
  });

  t.test('a lock that rejects changes is a problem until one could be stored again', async (t) => {
    const url = await newDatabase();
    const a = await join(await PostgresStore.open(url, components));
    await using database = await connectTo(url);
    await database.ask('BEGIN');
    await database.ask('SELECT 1 FROM edgeweave.head FOR UPDATE');
    await t.rejects(a.state.change((transaction) => transaction.put('service', service('s', 's'))));
    t.match(
      a.state.others?.problem,
      /the database does not store changes: (?:another session holds a lock|it did not answer)/,
    );
    // A rejected change may be stored after all if the lock ends before the server has given it up.
    const waiting = 'SELECT 1 FROM pg_locks WHERE NOT granted';
    await until('the end of the change on the server', async () => (await database.ask(waiting)).length === 0);
    await database.ask('ROLLBACK');
    await until('the end of the problem', () => a.state.others?.problem === undefined);
    t.same(await database.ask('SELECT index FROM edgeweave.head'), [{ index: '0' }], 'nothing was appended');
    t.same(await database.ask('SELECT index FROM edgeweave.change'), []);
    await a.state.close();
  });

  t.test('a change that waits for a reading is rejected with it when the database hangs', async (t) => {
    const url = await newDatabase();
    const problems: (string | undefined)[] = [];
    const a = await join(await PostgresStore.open(url, components));
    a.state.others?.onProblem((problem) => problems.push(problem));
    const add = (name: string) => a.state.change((transaction) => transaction.put('service', service(name, name)));
    await add('one');
    const hung = await postgres.suspend();
    try {
      const asked = a.state.others?.catchUp();
      await clock.sleep(100); // the reading has begun
      await t.rejects(add('two'), /did not answer in time/);
      t.same(problems, ['the database cannot be read: it did not answer in time'], 'the reading ended first');
      t.equal(await asked, 'unread');
    } finally {
      hung.resume();
    }
    await until('the end of the problem', () => a.state.others?.problem === undefined);
    await a.state.close();
  });

  t.test('a change whose notification was lost is read with the next renewal', async (t) => {
    const url = await newDatabase();
    const a = await join(await PostgresStore.open(url, components));
    const cluster = await Cluster.join({ registry: a.store.registry, clock, log: silentLog }, info('a'));
    await using database = await connectTo(url);
    const changes = [{ kind: 'service', id: 's', after: service('s', 's') }];
    await database.ask('BEGIN');
    const body = JSON.stringify({ time: 0, changes });
    const [chain] = chainsOf([body]);
    await database.ask('INSERT INTO edgeweave.change VALUES (1, $1, $2)', [body, chain]);
    await database.ask('UPDATE edgeweave.head SET index = 1, chain = $1, members_index = members_index + 1', [chain]);
    await database.ask('INSERT INTO edgeweave.member (id, info) VALUES ($1, $2)', ['b', JSON.stringify(info('b'))]);
    await database.ask('COMMIT');
    await until('the change', () => a.state.tables.service.has('s'));
    await until('the member', () => cluster.find('b') !== undefined);
    await cluster.close();
    await a.state.close();
    t.equal(a.state.index, 1n);
  });

  t.test('a connection for notifications that hangs is replaced', async (t) => {
    const url = await newDatabase();
    using port = await FaultyPort.start(postgres.port);
    const store = await PostgresStore.open(url.replace(`:${postgres.port}/`, `:${port.port}/`), components);
    await store.load();
    await store.registry.join(info('a'));
    port.cut(); // that for statements, which is opened again when it is needed
    await until('its end', () => port.open === 1);
    port.freeze();
    let notified = 0;
    store.onAppended(() => notified++);
    await until('another connection', () => notified > 0, 30_000);
    const other = await PostgresStore.open(url, components);
    await other.load();
    await other.append(0n, () => [{ origin: undefined, time: 0, changes: [] }]);
    await until('a notification', () => notified > 1);
    t.equal((await store.read(0n)).length, 1);
    for (const each of [store, other]) await each.close();
  });

  t.test('a store that is cut off while its connections hang has others once it is healed', async () => {
    const url = await newDatabase();
    using port = await FaultyPort.start(postgres.port);
    const store = await PostgresStore.open(url.replace(`:${postgres.port}/`, `:${port.port}/`), components);
    await store.load();
    await store.registry.join(info('a'));
    await store.registry.attempts.add('key', 0, 1); // behind its first renewal: nothing waits for an answer
    while (port.open > 0) port.freeze();
    for (const isCutOff of [true, false]) store.cutOff(isCutOff);
    await until('the connection for notifications and renewals', () => port.open > 0);
    await store.close();
  });

  t.test('a process whose id another one has taken meanwhile does not take it back', async (t) => {
    const url = await newDatabase();
    const errors: string[] = [];
    const log = { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) } as Log;
    const store = await PostgresStore.open(url, { clock, log });
    await store.registry.join(info('a'));
    await using database = await connectTo(url);
    await database.ask(`UPDATE edgeweave.member SET instance = 'other', renewed_at = now() + interval '1 hour'`);
    await until('an error', () => errors.length > 0);
    t.match(errors, [/another process runs with the id of this controller; stop one of them/]);
    t.match(await database.ask('SELECT instance FROM edgeweave.member'), [{ instance: 'other' }]);
    await database.ask('UPDATE edgeweave.member SET is_running = false');
    await until('its return', async () => (await store.registry.read()).members[0]?.isConnected === true);
    t.equal(errors.length, 1, 'it is logged once');
    await store.close();
  });

  t.test('a member whose clock is wrong says so once', async (t) => {
    const warnings: object[] = [];
    const log = {
      ...silentLog,
      warn: (fields: object, message: string) => void (/clocks/.test(message) && warnings.push(fields)),
    } as Log;
    class FastClock extends SystemClock {
      override now(): number {
        return super.now() + 3_600_000;
      }
    }
    const url = await newDatabase();
    const store = await PostgresStore.open(url, { clock: new FastClock(), log });
    await store.registry.join(info('a'));
    await until('the warning', () => warnings.length > 0);
    t.match(warnings, [{ memberId: 'a', ahead: Number }]);
    store.registry.renew();
    await store.registry.leave();
    await store.close();
    t.equal(warnings.length, 1);
  });

  t.test('stores that close leave no connections, even if they open in vain', async (t) => {
    const url = await newDatabase();
    await using database = await connectTo(url);
    const count = async () =>
      (
        await database.ask(
          `SELECT 1 FROM pg_stat_activity WHERE application_name = 'edgeweave-sim' AND datname = current_database()`,
        )
      ).length;
    for (let round = 0; round < 20; round++) {
      const stores = [await PostgresStore.open(url, components), await PostgresStore.open(url, components)];
      await stores[0]?.registry.claim('a');
      for (const store of stores) await store.close();
    }
    await t.resolves(until('the end of all connections', async () => (await count()) === 0));
  });

  t.test('a store closes although its connections hang', async (t) => {
    const url = await newDatabase();
    using port = await FaultyPort.start(postgres.port);
    const store = await PostgresStore.open(url.replace(`:${postgres.port}/`, `:${port.port}/`), components);
    await store.load();
    while (port.open > 0) port.freeze();
    await store.close();
    t.pass('it has ended');
  });

  t.test('a pooler that shares sessions among connections is rejected with the remedy', async (t) => {
    const url = new URL(await postgres.database('pooled'));
    using pooler = await SharedSession.start(url.href);
    url.port = String(pooler.port);
    await t.rejects(PostgresStore.open(url.href, components), {
      message: /cannot be used: a connection pooler .* set pool_mode = session/,
    });
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
