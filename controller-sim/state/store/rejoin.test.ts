// A member whose history is not that of the database stays apart until it is told to rejoin; one that is too far behind
// on the same history takes the data of the database by itself.

import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Postgres, postgresObstacle } from '../../../test/support/programs/postgres.ts';
import { connectTo, contents, join, type Member, memberInfo, service } from '../../../test/support/rooms/members.ts';
import { until } from '../../../test/support/until.ts';
import { copyStore } from './copy-store.ts';
import { PostgresStore } from './postgres-store.ts';

const clock = new SystemClock();
const TABLES = ['entity', 'change', 'head', 'meta'];

t.test('members of a database that misbehaves', { skip: postgresObstacle() ?? false }, async (t) => {
  const postgres = await Postgres.start();
  t.teardown(() => postgres.close());
  let count = 0;
  const newDatabase = () => postgres.database(`test${count++}`);
  const open = async (url: string, id: string, history?: number): Promise<Member> => {
    const store = await PostgresStore.open(url, { clock, log: silentLog, ...(history !== undefined && { history }) });
    const member = await join(store);
    await store.registry.join(memberInfo(id));
    return member;
  };
  const add = ({ state }: Member, name: string) =>
    state.change((transaction) => transaction.put('service', service(name, name)));
  /** Restores the tables to what they were when `copy` was called. */
  const copier = async (url: string) => {
    const database = await connectTo(url);
    for (const table of TABLES) await database.ask(`CREATE TABLE ${table}_copy AS TABLE edgeweave.${table}`);
    return async () => {
      await database.ask('BEGIN');
      for (const table of TABLES) {
        await database.ask(`DELETE FROM edgeweave.${table}`);
        await database.ask(`INSERT INTO edgeweave.${table} TABLE ${table}_copy`);
      }
      await database.ask('COMMIT');
      await database[Symbol.asyncDispose]();
    };
  };

  t.test('after a restore, a member rejoins when it is told to, and routers get another timeline', async (t) => {
    const url = await newDatabase();
    const [a, b] = [await open(url, 'a'), await open(url, 'b')];
    for (const name of ['one', 'two']) await add(a, name);
    const restore = await copier(url);
    for (const name of ['three', 'four']) await add(a, name);
    await until('the last change', () => b.state.index === 4n);
    const { timeline } = a.state;
    await restore();
    const problems: (string | undefined)[] = [];
    a.state.others?.onProblem((problem) => problems.push(problem));
    await until('the problem of a', () => a.state.others?.problem !== undefined);
    await until('the problem of b', () => b.state.others?.problem !== undefined);
    const seenByB = async (id: string) =>
      (await b.store.registry.read()).members.find((each) => each.id === id)?.problem;
    await until('the report of a', async () => (await seenByB('a')) !== undefined);
    t.match(await seenByB('a'), /it is at change 2 .*, this controller at change 4 .*sim cluster rejoin/);

    t.equal(await b.store.registry.rejoin('a'), true);
    t.equal(a.state.index, 2n);
    t.notOk(a.state.tables.service.has('three'));
    t.equal(a.seen.at(-1), '4→2: service three three>,service four four>');
    t.not(a.state.timeline, timeline);
    await until('the end of the problem', () => a.state.others?.problem === undefined);
    t.match(problems, [/another history/, undefined]);
    await add(a, 'other');
    await t.rejects(add(b, 'more'), /another history/, 'the other one is still apart');
    t.equal(await b.store.registry.rejoin('b'), true);
    t.equal(b.state.timeline, a.state.timeline, 'both have one timeline again');
    t.equal(contents(a), contents(b));
    await until('no problems', async () => (await seenByB('a')) === undefined && (await seenByB('b')) === undefined);
    t.equal(await b.store.registry.rejoin('nobody'), false);
    for (const { state } of [a, b]) await state.close();
  });

  t.test('a member that was behind at a restore goes on, with another timeline for routers', async (t) => {
    const url = await newDatabase();
    const [a, b] = [await open(url, 'a'), await open(url, 'b')];
    await add(a, 'one');
    await until('the change at b', () => b.state.index === 1n);
    const { timeline } = b.state;
    b.store.cutOff(true);
    await using database = await connectTo(url);
    // As pg_restore --clean: the tables of the copy are others.
    await database.ask('CREATE TABLE head_copy AS TABLE edgeweave.head');
    await database.ask('CREATE TABLE change_copy AS TABLE edgeweave.change');
    await database.ask('CREATE TABLE entity_copy AS TABLE edgeweave.entity');
    await add(a, 'two');
    await database.ask('BEGIN');
    await database.ask('ALTER TABLE edgeweave.head RENAME TO old');
    await database.ask('CREATE TABLE edgeweave.head (LIKE edgeweave.old INCLUDING ALL)');
    for (const table of ['head', 'change', 'entity']) {
      await database.ask(`DELETE FROM edgeweave.${table}`);
      await database.ask(`INSERT INTO edgeweave.${table} TABLE ${table}_copy`);
    }
    await database.ask('COMMIT');
    b.store.cutOff(false);
    await until('another timeline', () => b.state.timeline !== timeline);
    await add(b, 'other two');
    t.equal(b.state.others?.problem, undefined);
    await until('the problem of a', () => a.state.others?.problem !== undefined);
    t.equal(a.state.timeline, timeline, 'it has the history that routers know by this timeline');
    t.equal(await b.store.registry.rejoin('a'), true);
    t.equal(a.state.timeline, b.state.timeline);
    t.equal(contents(a), contents(b));
    const { state: late } = await open(url, 'c');
    t.equal(late.timeline, b.state.timeline, 'it was stored');
    await database.ask(`UPDATE edgeweave.head SET timeline = 'of another network'`);
    await until('the problem of an idle member', () => /another history/.test(a.state.others?.problem ?? ''));
    for (const state of [a.state, b.state, late]) await state.close();
  });

  t.test('a rejoin that fails changes nothing, and says why', async (t) => {
    const url = await newDatabase();
    const [a, b] = [await open(url, 'a'), await open(url, 'b')];
    await add(a, 'one');
    await using database = await connectTo(url);
    await database.ask(`UPDATE edgeweave.entity SET body = '{'`);
    await t.rejects(b.store.registry.rejoin('a'), /a could not rejoin: table entity, row service one: .*not JSON/);
    t.ok(a.state.tables.service.has('one'));
    await t.resolves(add(a, 'two'));
    for (const { state } of [a, b]) await state.close();
  });

  t.test('rows of entities that are not those of the log are named, and nobody takes them', async (t) => {
    const url = await newDatabase();
    const [a, b] = [await open(url, 'a'), await open(url, 'b')];
    for (const name of ['one', 'two', 'gone']) await add(a, name);
    await a.state.change((transaction) => transaction.delete('service', 'gone'));
    await add(a, 'two'); // a later change of the same entity counts
    await using database = await connectTo(url);
    await database.ask('CREATE TABLE entity_copy AS TABLE edgeweave.entity');
    const starting = async () => {
      const store = await PostgresStore.open(url, { clock, log: silentLog });
      try {
        const { state } = await join(store);
        await state.close();
        return 'started';
      } catch (error) {
        await store.close();
        return String(error);
      }
    };
    const body = (from: string, to: string) => `replace(body, '${from}', '${to}')`;
    const [changed, missing] = [
      /row service one: it differs from change 1; restore/,
      /missing since change 1; restore/,
    ];
    for (const [statement, problem] of [
      [`UPDATE edgeweave.entity SET body = ${body('"name":"one"', '"name":"uno"')} WHERE id = 'one'`, changed],
      [
        `UPDATE edgeweave.entity SET body = ${body('"isFabricOnly":false', '"isFabricOnly":true')} WHERE id = 'one'`,
        changed,
      ],
      [`DELETE FROM edgeweave.entity WHERE id = 'one'`, missing],
      [
        `INSERT INTO edgeweave.entity SELECT kind, 'x', ${body('"one"', '"x"')} FROM edgeweave.entity WHERE id = 'one'`,
        /row service x: no change has stored it/,
      ],
      [
        `INSERT INTO edgeweave.entity SELECT kind, 'gone', ${body('"one"', '"gone"')} FROM edgeweave.entity WHERE id = 'one'`,
        /row service gone: no change has stored it/,
      ],
      [`UPDATE edgeweave.entity SET body = ${body('"name":"one"', '"name":7')} WHERE id = 'one'`, /row service one: /],
      [`UPDATE edgeweave.entity SET body = ${body('"name":"one",', '')} WHERE id = 'one'`, /row service one: /],
      [`UPDATE edgeweave.entity SET body = ${body('"name":"one"', '"name":"two"')} WHERE id = 'one'`, /row service /],
    ] as const) {
      await database.ask(statement);
      t.match(await starting(), problem, `start: ${statement}`);
      await t.rejects(b.store.registry.rejoin('a'), problem, `rejoin: ${statement}`);
      const file = joinPath(tmpdir(), `edgeweave-test-${process.pid}-never.db`);
      await t.rejects(copyStore(url, file, { clock, log: silentLog }), problem, `copy: ${statement}`);
      t.ok(a.state.tables.service.get('one')?.name === 'one');
      await database.ask('DELETE FROM edgeweave.entity');
      await database.ask('INSERT INTO edgeweave.entity TABLE entity_copy');
    }
    t.equal(await starting(), 'started', 'the right rows are taken');

    await database.ask('DELETE FROM edgeweave.change WHERE index < 4');
    await database.ask(`UPDATE edgeweave.entity SET body = ${body('"name":"one"', '"name":"uno"')} WHERE id = 'one'`);
    t.match(await starting(), /row unknown: the rows are not those of change 5; restore a backup/, 'a log without it');
    await database.ask(`UPDATE edgeweave.change SET body = body || ' ' WHERE index = 5`);
    t.match(await starting(), /table change, row 5: it is not the one that was stored/, 'a log that was changed too');
    for (const { state } of [a, b]) await state.close();
  });

  t.test('a member with other entities at an equal index notices it with the next change', async (t) => {
    const url = await newDatabase();
    const a = await open(url, 'a');
    await add(a, 'one');
    await using database = await connectTo(url);
    await database.ask('DELETE FROM edgeweave.change'); // nothing shows that the row is not the right one
    await database.ask(`UPDATE edgeweave.entity SET body = replace(body, '"name":"one"', '"name":"uno"')`);
    const b = await open(url, 'b');
    t.equal(b.state.index, a.state.index);
    await add(a, 'two');
    await until('the problem', () => /its author had other entities than this/.test(b.state.others?.problem ?? ''));
    await t.rejects(add(b, 'three'), /its author had other entities than this controller/);
    await t.rejects(a.store.registry.rejoin('b'), /the rows are not those of change 2/);
    await database.ask(`UPDATE edgeweave.entity SET body = replace(body, '"name":"uno"', '"name":"one"')`);
    t.equal(await a.store.registry.rejoin('b'), true);
    await add(b, 'three');
    await until('the change', () => contents(a) === contents(b));
    for (const { state } of [a, b]) await state.close();
  });

  t.test('a request to rejoin waits for a member whose row is of an earlier process', async (t) => {
    const url = await newDatabase();
    const a = await open(url, 'a');
    await add(a, 'one');
    const restore = await copier(url);
    await add(a, 'two');
    await using database = await connectTo(url);
    await restore();
    // As in the older copy of a failover; its process enters again with the next renewal.
    await database.ask(
      `UPDATE edgeweave.member SET instance = 'earlier', is_running = false, rejoin = 'wanted by an operator'`,
    );
    await until('the end of the request', async () => {
      const [{ rejoin, instance }] = await database.ask('SELECT rejoin, instance FROM edgeweave.member');
      return rejoin === 'done by an operator' && instance !== 'earlier';
    });
    t.equal(a.state.index, 1n, 'it has the data of the database');
    t.notOk(a.state.tables.service.has('two'));
    await a.state.close();
  });

  t.test('a request that the database has lost is not reported as a rejoin', async (t) => {
    const url = await newDatabase();
    const [a, b] = [await open(url, 'a'), await open(url, 'b')];
    await using database = await connectTo(url);
    const requests = async () =>
      (await database.ask(`SELECT rejoin FROM edgeweave.member WHERE id = 'a'`)).map(({ rejoin }) => String(rejoin));
    const lost = /a may not have rejoined: the database no longer has the request, .* ask again/;
    // As in the older copies of failovers: without any request, and with the outcomes of earlier ones.
    for (const older of ['', 'done earlier', 'failed earlier for a reason']) {
      a.store.cutOff(true);
      const rejoined = b.store.registry.rejoin('a');
      await until('the request', async () => (await requests()).some((each) => each.startsWith('wanted ')));
      await database.ask(`UPDATE edgeweave.member SET rejoin = '${older}' WHERE id = 'a'`);
      await t.rejects(rejoined, lost, older);
      a.store.cutOff(false);
    }
    a.store.cutOff(true);
    const both = [b.store.registry.rejoin('a'), b.store.registry.rejoin('a')];
    await until('the requests', async () => (await requests()).some((each) => each.startsWith('wanted ')));
    a.store.cutOff(false);
    t.same(await Promise.all(both), [true, true], 'two callers at once have one outcome');
    a.store.cutOff(true);
    const removed = b.store.registry.rejoin('a');
    await until('the request', async () => (await requests()).some((each) => each.startsWith('wanted ')));
    await database.ask(`DELETE FROM edgeweave.member WHERE id = 'a'`);
    await t.rejects(removed, /a could not rejoin: it was removed/);
    a.store.cutOff(false);
    for (const { state } of [a, b]) await state.close();
  });

  t.test('a member that starts with a request to rejoin fulfils it', async (t) => {
    const url = await newDatabase();
    const a = await open(url, 'a');
    await add(a, 'one');
    const store = await PostgresStore.open(url, { clock, log: silentLog });
    const b = await join(store);
    await using database = await connectTo(url);
    // As after a crash in the middle of a rejoin: its process had loaded the data before the request.
    await database.ask(
      `INSERT INTO edgeweave.member (id, info, instance, is_running, rejoin) VALUES ('b', '{}', 'earlier', false, 'wanted now')`,
    );
    await store.registry.join(memberInfo('b'));
    const requests = () => database.ask(`SELECT rejoin FROM edgeweave.member WHERE id = 'b'`);
    await until('the outcome', async () => !(await requests())[0]?.rejoin.startsWith('wanted '));
    t.same(await requests(), [{ rejoin: 'done now' }]);
    for (const { state } of [a, b]) await state.close();
  });

  t.test('a member that is further behind than the kept changes reloads by itself', async (t) => {
    const url = await newDatabase();
    const history = 50;
    const a = await open(url, 'a', history);
    await add(a, 'first');
    const b = await open(url, 'b', history);
    const { timeline } = b.state;
    // It hears nothing, as if it was suspended; its last renewal has reported its position.
    await until('its renewal', () => a.store.registry.progress.members.get('b') === 1n);
    await using database = await connectTo(url);
    const unheard = suspend(b);
    for (let round = 0; round < 4; round++)
      await Promise.all(Array.from({ length: 300 }, (_, each) => add(a, `${round} ${each % 40}`)));
    const kept = await database.ask('SELECT index FROM edgeweave.change ORDER BY index LIMIT 2');
    t.equal(kept[0]?.index, '1', 'the entry at the position of b is kept');
    t.ok(Number(kept[1]?.index) > 500, `older ones are gone: ${kept[1]?.index}`);
    unheard();
    await add(b, 'late');
    await until('the end of its problem', () => b.state.others?.problem === undefined);
    t.equal(b.state.timeline, timeline, 'routers may continue');
    await until('its change', () => a.state.index === b.state.index);
    t.equal(contents(b), contents(a));
    for (const { state } of [a, b]) await state.close();
  });

  t.test('a member that is too far behind on another history does not reload by itself', async (t) => {
    const url = await newDatabase();
    const history = 50;
    const a = await open(url, 'a', history);
    await add(a, 'first');
    const b = await open(url, 'b', history);
    const restore = await copier(url);
    await add(b, 'of the old history');
    await until('its report', () => a.store.registry.progress.members.get('b') === 2n);
    const unheard = suspend(b);
    await restore();
    await a.store.registry.rejoin('a');
    for (let round = 0; round < 4; round++)
      await Promise.all(Array.from({ length: 300 }, (_, each) => add(a, `${round} ${each % 40}`)));
    unheard();
    await t.rejects(add(b, 'more'), /another history|nor what shows whether its history/);
    t.ok(b.state.tables.service.has('of the old history'));
    t.equal(await a.store.registry.rejoin('b'), true);
    t.equal(contents(b), contents(a));
    for (const { state } of [a, b]) await state.close();
  });
});

/** The member reads nothing until the returned function is called: its reads fail. */
function suspend({ store }: Member): () => void {
  const { read } = store;
  store.read = () => Promise.reject(new Error('suspended'));
  return () => {
    store.read = read;
  };
}
