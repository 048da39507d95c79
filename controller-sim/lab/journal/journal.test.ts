// The ring of the journal: its bounds, its order, and its filters.

import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { ControlRecord } from './control-record.ts';
import { HttpRecord } from './http-record.ts';
import { Journal } from './journal.ts';
import type { JournalRecord } from './journal-entry.ts';

const ROUTE = 1005;

function opened() {
  const wireClock = new VirtualClock();
  return { journal: new Journal({ wireClock, log: silentLog }), wireClock };
}

function message(router: string): ControlRecord {
  return new ControlRecord({ event: 'message', time: 0, router: { id: router }, direction: 'out', contentType: ROUTE });
}

function httpRecord(url: string, body?: unknown): HttpRecord {
  const bodyLength = body === undefined ? 0 : JSON.stringify(body).length;
  const facts = {
    method: 'POST',
    source: '127.0.0.1',
    contentType: 'application/json',
    time: 0,
    begun: 0,
    headers: {},
  };
  const record = new HttpRecord({ ...facts, url, bodyLength, operation: undefined, isKnown: true });
  record.setBody(body);
  record.end(200, 1);
  return record;
}

t.test('it keeps the latest 10,000 entries', async (t) => {
  const { journal } = opened();
  for (let added = 0; added < 25_000; added++) journal.add(message(`r${added}`));
  t.equal(journal.size, 10_000);
  const entries = journal.entries();
  t.equal(entries.length, 10_000);
  t.match(entries[0], { sequence: 15_001, router: { id: 'r15000' }, message: 'Route' });
  t.match(entries.at(-1), { sequence: 25_000 });
  t.match(journal.entries({ limit: 1 }), [{ sequence: 25_000 }]);
  t.match(journal.entries({ after: 20_000, limit: 1 }), [{ sequence: 20_001 }]);
  t.match(journal.entries({ after: 3, limit: 1 }), [{ sequence: 15_001 }], 'dropped ones are skipped');
  t.same(journal.entries({ after: 99_999 }), []);
  journal.clear();
  t.same([journal.size, journal.last], [0, 25_000]);
  journal.add(message('next'));
  t.match(journal.entries(), [{ sequence: 25_001 }]);
});

t.test('large bodies push out older entries', async (t) => {
  const { journal } = opened();
  const body = { text: 'x'.repeat(4_000) };
  for (let added = 0; added < 5_000; added++) journal.add(httpRecord('/x', body));
  t.ok(journal.size >= 1_000 && journal.size < 2_200, `${journal.size} entries`);
  for (let added = 0; added < 20_000; added++) journal.add(message('r'));
  t.equal(journal.size, 10_000, 'their place is free again');
});

t.test('an entry keeps texts of its own, and weighs what they do', async (t) => {
  const { journal } = opened();
  const parts = Array.from({ length: 1_000 }, () => ({}));
  const record = httpRecord('/x', parts);
  parts.length = 1;
  journal.add(record);
  t.match(journal.entries()[0], { body: /^\[\{\},\{\},/ }, 'not the object of the body');
  t.ok(record.weight > 2 * 3_000, `${record.weight}`);
  const facts = {
    method: 'GET',
    source: 's',
    bodyLength: 0,
    operation: undefined,
    isKnown: true,
    time: 0,
    begun: 0,
    headers: {},
  };
  const long = new HttpRecord({ ...facts, url: `/${'u'.repeat(60_000)}`, contentType: 'c'.repeat(60_000) });
  long.setError('CODE', 'r'.repeat(60_000));
  t.ok(long.weight < 10_000, `${long.weight}`);
  const event = { event: 'rejected', time: 0, router: { id: 'r' }, reason: 'r'.repeat(60_000) } as const;
  t.ok(new ControlRecord(event).weight < 3_000);
});

t.test('filters select', async (t) => {
  const { journal } = opened();
  const jane = httpRecord('/edge/client/v1/services?limit=1');
  jane.setIdentity({ id: 'id1', name: 'jane' });
  journal.add(jane);
  journal.add(message('r1'));
  journal.add(new ControlRecord({ event: 'rejected', time: 0, router: { id: 'r2', name: 'b' }, reason: 'unknown' }));
  const sequences = (filter: object) => journal.entries(filter).map(({ sequence }) => sequence);
  t.same(sequences({ kind: 'http' }), [1]);
  t.same(sequences({ identity: 'id1' }), [1]);
  t.same(sequences({ identity: 'jane', path: '/edge/client' }), [1]);
  t.same(sequences({ path: '/edge/management' }), []);
  t.same(sequences({ router: 'b' }), [3]);
  t.same(sequences({ failed: true }), [3]);
  t.same(sequences({ failed: false }), [1, 2, 3]);
  t.same(sequences({ message: 'Route' }), [2]);
  t.same(sequences({ message: 'Payload' }), []);
  t.throws(() => sequences({ message: 'Rout' }), /there is no message Rout; did you mean Route\?/);
  for (const filter of [{ kind: 'x' }, { limit: -1 }, { after: 0.5 }, { failed: 'yes' }, { path: 1 }, { unknown: 1 }])
    t.throws(() => journal.entries(filter as object), { code: 'INVALID' }, JSON.stringify(filter));
  for (const filter of [null, [], 'listServices'])
    t.throws(() => journal.entries(filter as object), { code: 'INVALID', field: 'options' }, JSON.stringify(filter));
});

t.test('a wait in vain names the nearest entries', async (t) => {
  const { journal, wireClock } = opened();
  journal.add(message('r1'));
  const wait = t.rejects(journal.waitFor({ kind: 'control', message: 'Ping' }, { timeout: 100 }), {
    code: 'TIMEOUT',
    message: /took longer than 100 ms; the nearest:\n {2}#1 r1 Route \(its message: Route\)$/,
  });
  await wireClock.advance(100);
  await wait;
});

t.test('waits are bounded and leave nothing behind', async (t) => {
  const { journal, wireClock } = opened();
  const waits = Array.from({ length: 1_000 }, () => journal.waitFor({ kind: 'control' }));
  await t.rejects(journal.waitFor({ kind: 'control' }), { code: 'INVALID' });
  journal.add(message('r'));
  t.equal(new Set((await Promise.all(waits)).map(({ sequence }) => sequence)).size, 1);
  await t.rejects(journal.waitFor({}, { timeout: -1 }), { code: 'INVALID' });
  await t.rejects(journal.waitFor({}, { timeout: Number.NaN }), { code: 'INVALID' });
  const broken = journal.waitFor(() => {
    if (journal.size > 1) throw new Error('broken predicate');
    return false;
  });
  journal.add(message('r'));
  await t.rejects(broken, /broken predicate/);
  t.same(wireClock.timers(), []);
});

t.test('callers that verify look once at the old entries, and show none', async (t) => {
  const { journal, wireClock } = opened();
  let shown = 0;
  let looks = 0;
  const record = (id: string): JournalRecord => {
    const made = message(id);
    return new Proxy(made, {
      get: (target, name) => {
        if (name === 'router') looks += 1;
        if (name === 'show') shown += 1;
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  for (let added = 0; added < 1_000; added++) journal.add(record('r1'));
  const waiting = Array.from({ length: 10 }, () =>
    journal.verifyCount({ router: 'r1' }, { times: 1_100, within: '5s' }),
  );
  for (let added = 0; added < 100; added++) {
    journal.add(record('r1'));
    await setImmediate();
  }
  t.same(new Set(await Promise.all(waiting)), new Set([1_100]));
  t.ok(looks < 10 * 2_500, `${looks} looks`);
  t.ok(shown <= 10 * 100, `${shown} entries in their shown form`);
  const cleared = journal.verifyCount({ router: 'r1' }, { times: 1_101, within: '5s' });
  const rejection = cleared.catch((error: unknown) => error);
  journal.clear();
  journal.add(record('r1'));
  await wireClock.advance(5_000);
  t.match(await rejection, { code: 'NOT_VERIFIED', count: 1 }, 'entries that were cleared do not count');
});

t.test('verify counts, waits, and names the nearest entries', async (t) => {
  const { journal, wireClock } = opened();
  const record = (id: string, status: number) => {
    const facts = {
      method: 'GET',
      source: '127.0.0.1',
      contentType: '',
      time: 0,
      begun: 0,
      bodyLength: 0,
      headers: {},
    };
    const made = new HttpRecord({ ...facts, url: `/${id}`, operation: { api: 'client', id }, isKnown: true });
    made.end(status, 1);
    return made;
  };
  journal.add(record('listServices', 200));
  journal.add(record('listServices', 503));
  journal.add(message('r1'));
  const lists = { operation: 'listServices' };
  t.match(await journal.verify(lists), [{ status: 200 }, { status: 503 }]);
  t.match(await journal.verify({ ...lists, status: 503, method: 'GET' }, { times: 1 }), [{ sequence: 2 }]);
  t.same(await journal.verify({ operation: 'listVersion' }, { times: 0 }), []);
  await t.rejects(journal.verify({ operation: 'listVersions' }, { times: 0 }), {
    code: 'INVALID',
    message: /there is no operation listVersions; did you mean listVersion\?/,
  });
  await t.rejects(journal.verify({ method: 'GTE' }, { times: 0 }), { code: 'INVALID', message: /did you mean GET\?/ });
  t.equal((await journal.verify({ ...lists, method: 'get' })).length, 2);
  await t.rejects(journal.verify(lists, { times: 1 }), {
    code: 'NOT_VERIFIED',
    count: 2,
    message: 'the journal must have 1 entry with operation listServices, and has 2',
  });
  await t.rejects(journal.verify({ ...lists, status: 401 }, { times: 2 }), {
    message:
      'the journal must have 2 entries with operation listServices, status 401, and has 0; the nearest:\n' +
      '  #2 GET /listServices 503 (its status: 503)\n  #1 GET /listServices 200 (its status: 200)',
  });
  const waiting = journal.verify({ router: 'r2' }, { times: 2, within: '5s' });
  journal.add(message('r2'));
  await wireClock.advance(4_999);
  journal.add(message('r2'));
  t.equal((await waiting).length, 2);
  const none = t.rejects(
    journal.verify({ router: 'r3' }, { times: 0, within: 1_000 }),
    /must have 0 entries with router r3 within 1s, and has 1/,
  );
  await wireClock.advance(999);
  journal.add(message('r3'));
  await none;
  const late = t.rejects(
    journal.verify({ router: 'r4' }, { within: '1s' }),
    /must have at least 1 entry with router r4 within 1s, and has 0; [\s\S]*#6 r3 Route \(its router: r3\)/,
  );
  await wireClock.advance(1_000);
  await late;
  for (const options of [{ times: -1 }, { times: 0.5 }, { within: '1x' }, { within: -1 }, { within: '2m' }])
    await t.rejects(journal.verify(lists, options), { code: 'INVALID' }, JSON.stringify(options));
  t.same(wireClock.timers(), []);
});
