// The contract of every store, and the state's use of it.

import { chmodSync, existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { createLog, silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { baseFields } from '../../entities/common.ts';
import type { ChangeSet } from '../change.ts';
import type { Service } from '../kinds/service.ts';
import { State } from '../state.ts';
import type { Transaction } from '../transaction.ts';
import { copyStore } from './copy-store.ts';
import { MemoryStore } from './memory-store.ts';
import { SqliteStore } from './sqlite-store.ts';
import { type Store, StoreError } from './store.ts';

const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
let files = 0;

function open(store: Store): Promise<State> {
  return State.open({ store, clock: new VirtualClock(), ids: new IdSource(seededRandom(++files)) });
}

function service(transaction: Transaction, id: string, name: string): Service {
  return {
    ...baseFields(transaction, id),
    name,
    encryptionRequired: true,
    terminatorStrategy: 'smartrouting',
    maxIdleTimeMillis: 0,
    configs: [],
    isFabricOnly: false,
    roleAttributes: ['role'],
  };
}

for (const [kind, make] of [
  ['memory', () => new MemoryStore()],
  ['sqlite', () => SqliteStore.open(join(directory, `${++files}.db`))],
] as const) {
  t.test(`${kind}: a transaction is atomic, and is published once it is durable`, async (t) => {
    const state = await open(make());
    const received: ChangeSet[] = [];
    state.subscribe('derived', (set) => received.push(set));
    await state.change((transaction) => {
      transaction.put('service', service(transaction, 'a', 'one'));
      transaction.put('service', service(transaction, 'b', 'two'));
      t.equal(transaction.get('service', 'a')?.name, 'one', 'the transaction sees its own writes');
      t.notOk(state.tables.service.has('a'), 'other readers do not yet');
    });
    t.equal(received.length, 1);
    t.equal(received[0]?.changes.length, 2);
    await t.rejects(
      state.change((transaction) => {
        transaction.delete('service', 'a');
        throw new Error('no');
      }),
      /no/,
    );
    t.ok(state.tables.service.has('a'));
    t.equal(state.index, received[0]?.index);
    await state.change(() => undefined);
    t.equal(received.length, 1, 'nothing changed, nothing published');
    await state.close();
  });

  t.test(`${kind}: indexes follow every change`, async (t) => {
    const state = await open(make());
    const { service: table } = state.tables;
    await state.change((transaction) => transaction.put('service', service(transaction, 'a', 'one')));
    t.equal(table.findBy('name', 'one')?.id, 'a');
    t.same([...table.withRole('role')], ['a']);
    await state.change((transaction) => transaction.patch('service', 'a', { name: 'other', roleAttributes: ['new'] }));
    t.equal(table.findBy('name', 'one'), undefined);
    t.equal(table.findBy('name', 'other')?.id, 'a');
    t.same(table.roleAttributes(), ['new']);
    await state.change((transaction) => transaction.delete('service', 'a'));
    t.equal(table.size, 0);
    t.same(table.roleAttributes(), []);
    await state.close();
  });

  t.test(`${kind}: changes run one after the other and indexes rise by one`, async (t) => {
    const state = await open(make());
    const received: ChangeSet[] = [];
    state.subscribe('derived', (set) => received.push(set));
    await Promise.all(
      Array.from({ length: 50 }, (_, each) =>
        state.change((transaction) => transaction.put('service', service(transaction, `s${each}`, `n${each}`))),
      ),
    );
    t.equal(state.tables.service.size, 50);
    t.ok(
      received.every((set, position) => set.index === BigInt(position + 1) && set.previousIndex === BigInt(position)),
    );
    await state.close();
  });
}

t.test('sqlite: all data survives closing, in a file that only its owner may read', async (t) => {
  const file = join(directory, 'kept.db');
  const first = await open(SqliteStore.open(file));
  await first.change((transaction) => transaction.put('service', service(transaction, 'a', 'one')));
  await first.putMeta(new Map([['key', 'value']]));
  const { index, timeline } = first;
  await first.close();
  t.equal(statSync(file).mode & 0o777, 0o600);
  chmodSync(file, 0o644); // a copy, for example
  const second = await open(SqliteStore.open(file));
  t.equal(statSync(file).mode & 0o777, 0o640, 'the rights of everybody are gone');
  t.equal(second.tables.service.get('a')?.name, 'one');
  t.equal(second.index, index);
  t.equal(second.timeline, timeline, 'the history continues');
  t.equal(second.meta('key'), 'value');
  await second.close();
});

t.test('sqlite: a file that is not a database, or is in use, is rejected with the reason', async (t) => {
  const broken = join(directory, 'broken.db');
  writeFileSync(broken, 'this is not a database, but long enough to be read as one. '.repeat(20));
  t.throws(() => SqliteStore.open(broken), StoreError);
  t.throws(() => SqliteStore.open(join(directory, 'no', 'such', 'folder.db')), StoreError);
  const inUse = join(directory, 'inUse.db');
  const holder = SqliteStore.open(inUse);
  const message =
    /inUse\.db is not usable as a data file: it is in use by this process itself; close its other simulator/;
  t.throws(() => SqliteStore.open(inUse), { code: 'STORE', message }, 'two simulators on one file');
  await holder.close();
});

t.test('sqlite: names that mean something else to SQLite are names of files', async (t) => {
  const before = process.cwd();
  const folder = t.testdir();
  process.chdir(folder);
  t.teardown(() => process.chdir(before));
  for (const name of [':memory:', 'file:uri.db', 'file:other.db?mode=memory']) {
    const first = await open(SqliteStore.open(name));
    await first.change((transaction) => transaction.put('service', service(transaction, 'a', 'one')));
    await first.close();
    const second = await open(SqliteStore.open(name));
    t.equal(second.tables.service.size, 1, name);
    await second.close();
    t.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  }
  t.equal(readdirSync(folder).length, 3);
});

for (const [kind, make] of [
  ['memory', () => new MemoryStore()],
  ['sqlite', () => SqliteStore.open(join(directory, `${++files}.db`))],
] as const) {
  t.test(`${kind}: a failing listener is logged; the change remains and other listeners are called`, async (t) => {
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line) });
    const ids = new IdSource(seededRandom(++files));
    const state = await State.open({ store: make(), clock: new VirtualClock(), ids, log });
    const received: bigint[] = [];
    state.subscribe('derived', () => {
      throw new Error('broken listener');
    });
    state.subscribe('derived', ({ index }) => received.push(index));
    await Promise.all(
      ['a', 'b'].map((id) => state.change((transaction) => transaction.put('service', service(transaction, id, id)))),
    );
    t.same(
      [...state.tables.service.values()].map(({ id }) => id),
      ['a', 'b'],
    );
    t.same(received, [1n, 2n]);
    t.equal(state.index, 2n);
    t.match(lines, [/a listener failed.*|.*broken listener/, /broken listener/]);
    await state.change((transaction) => transaction.delete('service', 'a'));
    t.same(received, [1n, 2n, 3n], 'later changes work');
    await state.close();
  });
}

t.test('a change that the tables reject has no effect', async (t) => {
  const state = await open(new MemoryStore());
  const broken = 1 as unknown as readonly string[];
  const change = state.change((transaction) => {
    transaction.put('service', service(transaction, 'a', 'one'));
    transaction.put('service', { ...service(transaction, 'b', 'two'), roleAttributes: broken });
  });
  await t.rejects(change, /roleAttributes is not a list/);
  t.equal(state.tables.service.size, 0);
  t.equal(state.tables.service.findBy('name', 'one'), undefined);
  await state.close();
});

t.test('sqlite: an error names a damaged row and its table, but not its content', async (t) => {
  const damage: [sql: string, named: RegExp][] = [
    ["UPDATE entity SET body = '{\"secret' WHERE id = 'b'", /^table entity, row 2 \(service b\): .*not JSON$/],
    ["UPDATE entity SET body = x'00' WHERE id = 'b'", /^table entity, row 2 \(service b\): the body is not a string$/],
    ["UPDATE entity SET body = '[]' WHERE id = 'b'", /row 2 \(service b\): .*not a map/],
    [`UPDATE entity SET body = '${'['.repeat(8_000)}' WHERE id = 'b'`, /row 2 \(service b\): .*nested deeper/],
    ["UPDATE entity SET id = 'c' WHERE id = 'b'", /row 2 \(service c\): .*its id differs/],
    ["UPDATE entity SET kind = 'castle' WHERE id = 'b'", /row 2 \(castle b\): the kind is unknown/],
    ["UPDATE entity SET body = replace(body, '[\"role\"]', '7')", /row 1 \(service a\): .*roleAttributes/],
    ['UPDATE entity SET body = replace(body, \'"tags":{}\', \'"tags":7\')', /row 1 \(service a\): .*tags is not a map/],
    [
      "UPDATE entity SET body = json_set(body, '$.encryptionRequired', 'yes') WHERE id = 'a'",
      /row 1 \(service a\): .*encryptionRequired is not true or false; correct the row/,
    ],
    [
      "UPDATE entity SET body = json_set(body, '$.castle', 1) WHERE id = 'a'",
      /row 1 \(service a\): .*castle is unknown/,
    ],
    [
      "UPDATE entity SET body = json_set(body, '$.name', 'a') WHERE id = 'b'",
      /row 2 \(service b\): name is also that of a; correct the row/,
    ],
    ["UPDATE meta SET value = 'many' WHERE key = 'index'", /^table meta, row index: /],
  ];
  for (const [sql, named] of damage) {
    const file = join(directory, `${++files}.db`);
    const state = await open(SqliteStore.open(file));
    for (const id of ['a', 'b'])
      await state.change((transaction) => transaction.put('service', service(transaction, id, id)));
    await state.close();
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    const store = SqliteStore.open(file);
    await t.rejects(open(store), { code: 'STORE_DAMAGED', message: named }, sql);
    await store.close();
  }
});

t.test('a copy rejects what a file of entities may not have, with the row', async (t) => {
  const damage: [sql: string, named: RegExp][] = [
    [
      "UPDATE entity SET body = json_set(body, '$.name', 7) WHERE id = 'b'",
      /row 2 \(service b\): .*name is not a text/,
    ],
    [
      "UPDATE entity SET body = json_set(body, '$.name', 'a') WHERE id = 'b'",
      /row 2 \(service b\): name is also that of a/,
    ],
    [
      "UPDATE entity SET body = json_set(body, '$.configs', json_array('gone')) WHERE id = 'b'",
      /row 2 \(service b\): configs refers to the config gone, which does not exist; repair the data first/,
    ],
  ];
  for (const [sql, named] of damage) {
    const file = join(directory, `${++files}.db`);
    const state = await open(SqliteStore.open(file));
    for (const id of ['a', 'b'])
      await state.change((transaction) => transaction.put('service', service(transaction, id, id)));
    await state.close();
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    const to = join(directory, `${++files}.db`);
    const components = { clock: new VirtualClock(), log: silentLog };
    await t.rejects(copyStore(file, to, components), { code: 'STORE_DAMAGED', message: named }, sql);
    t.notOk(existsSync(to), 'nothing is copied');
  }
});

t.test(
  'sqlite: a full disk rejects a change with the reason, and accepts the next one once space is free',
  async (t) => {
    const opened: DatabaseSync[] = [];
    const { exec } = DatabaseSync.prototype;
    t.teardown(() => Object.assign(DatabaseSync.prototype, { exec }));
    DatabaseSync.prototype.exec = function (sql) {
      if (!opened.includes(this)) opened.push(this);
      exec.call(this, sql);
    };
    const state = await open(SqliteStore.open(join(directory, `${++files}.db`)));
    const [database] = opened;
    const add = (id: string) =>
      state.change((transaction) =>
        transaction.put('service', { ...service(transaction, id, id), tags: { large: 'x'.repeat(100_000) } }),
      );
    await add('a');
    database?.exec('PRAGMA max_page_count = 40');
    await t.rejects(Promise.all([add('b'), add('c')]), {
      code: 'STORE_WRITE',
      message: /disk is full; free some space/,
    });
    t.equal(state.tables.service.size, 1);
    database?.exec('PRAGMA max_page_count = 4000');
    await add('d');
    t.equal(state.tables.service.size, 2);
    await state.close();
  },
);
