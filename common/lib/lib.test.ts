// The parts without domain words: durations, addresses, queues, backoff, ids, clock, files.

import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { background } from './background.ts';
import { ClosedError, describeError, TimeoutError } from './errors.ts';
import { claimPrivateFolder, requireOwnFolder, writeFileAtomic } from './files/atomic-file.ts';
import { IdSource } from './ids.ts';
import { Listeners } from './listeners.ts';
import { createLog, silentLog } from './log/log.ts';
import { AddressError, formatAddress, parseAddress } from './net/address.ts';
import { RingQueue } from './queue/ring-queue.ts';
import { QueueFullError, TaskQueue } from './queue/task-queue.ts';
import { seededRandom, systemRandom } from './random.ts';
import { backoff } from './time/backoff.ts';
import { SystemClock, VirtualClock } from './time/clock.ts';
import { DurationError, formatDuration, parseDuration } from './time/duration.ts';

t.test('durations are parsed like in the reference', async (t) => {
  const table: [string, number][] = [
    ['250ms', 250],
    ['5s', 5_000],
    ['1m30s', 90_000],
    ['1h2m3.5s', 3_723_500],
    ['-1s', -1_000],
    ['+1s', 1_000],
    ['0', 0],
    ['.5s', 500],
    ['1us', 0.001],
    ['1µs', 0.001],
    ['100ns', 0.0001],
  ];
  for (const [text, milliseconds] of table) t.equal(parseDuration(text), milliseconds, text);
  for (const bad of ['', '5', 's', '5 s', '1d', '5sec', '--5s', '9999999999h', '.s'])
    t.throws(() => parseDuration(bad), DurationError, bad);
  t.equal(parseDuration('1s'.repeat(50)), 50_000);
  t.throws(() => parseDuration('1'.repeat(1_000)), {
    message: /^a duration has at most 100 characters; write for example /,
  });
});

t.test('durations survive formatting and parsing', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e12 }),
      (milliseconds) => parseDuration(formatDuration(milliseconds)) === milliseconds,
    ),
  );
  t.equal(formatDuration(60_000), '1m0s');
  t.equal(formatDuration(0), '0s');
  t.equal(formatDuration(-1_500), '-1.5s');
});

t.test('addresses: type, host and port', async (t) => {
  t.same(parseAddress('tls:host.example:6262'), { type: 'tls', host: 'host.example', port: 6262 });
  t.same(parseAddress('tls:[::1]:6262'), { type: 'tls', host: '::1', port: 6262 });
  t.equal(formatAddress({ type: 'tls', host: '::1', port: 1 }), 'tls:[::1]:1');
  for (const host of ['', 'a', 'a.b.', 'router_1.example', 'müller.example', '10.0.0.1', '[fe80::1%eth0]'])
    t.equal(parseAddress(`tls:${host}:1`).port, 1, host);
  for (const bad of [
    '',
    'tls',
    'tls:host',
    'quic:host:1',
    'tls:host:port',
    'tls:host:70000',
    'tls:::1:80',
    'host:80',
    'tls:foo bar:80',
    'tls://host:80',
    'tls:a..b:80',
    'tls:300.1.1.1:80',
    'tls:a]:80',
    `tls:${'a'.repeat(64)}:80`,
  ]) {
    t.throws(() => parseAddress(bad), AddressError, bad);
  }
});

t.test('a ring queue is first in, first out and rejects items beyond its limit', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60 }), fc.array(fc.boolean(), { maxLength: 300 }), (limit, adds) => {
      const ring = new RingQueue<number>(limit);
      const model: number[] = [];
      for (const [index, add] of adds.entries()) {
        if (add) {
          const taken = ring.push(index);
          if (taken !== model.length < limit) return false;
          if (taken) model.push(index);
        } else if (ring.shift() !== model.shift()) return false;
        if (ring.length !== model.length || ring.peek() !== model[0]) return false;
      }
      return true;
    }),
  );
  t.pass('like an array');
});

t.test('backoff stays within its bounds and grows to its longest wait', async (t) => {
  const waits = backoff({ min: 100, max: 5_000, factor: 2, jitter: 0.5 }, seededRandom(7));
  const taken = Array.from({ length: 30 }, () => waits.next().value);
  t.equal(taken[0], 100);
  t.ok(taken.every((wait) => wait >= 100 && wait <= 5_000));
  t.equal(taken.at(-1), 5_000);
});

t.test('ids have the forms that other programs expect', async (t) => {
  const ids = new IdSource(seededRandom(1));
  for (let index = 0; index < 500; index++) {
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(ids.uuid())) t.fail('uuid');
    if (!/^[0-9A-Za-z]{1,22}$/.test(ids.long())) t.fail('long id');
    if (!/^[0-9A-Za-z][0-9A-Za-z.-]{9}$/.test(ids.short())) t.fail('short id');
    if (!/^c[0-9a-z]{24}$/.test(ids.cuid())) t.fail('cuid');
  }
});

t.test('a dial queue runs tasks, queues tasks up to its length, and rejects the rest at once', async (t) => {
  const clock = new VirtualClock();
  const waits: number[] = [];
  const queue = new TaskQueue({ name: 'pool.test', length: 2, workers: 1, clock, onWait: (wait) => waits.push(wait) });
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const tasks = gates.map((gate) => queue.add(() => gate.promise));
  t.equal(queue.busy, 1);
  t.equal(queue.depth, 2);
  await t.rejects(
    queue.add(async () => 'never'),
    QueueFullError,
  );
  t.equal(queue.rejected, 1);
  await clock.advance(250);
  for (const [index, gate] of gates.entries()) gate.resolve(`result ${index}`);
  t.same(await Promise.all(tasks), ['result 0', 'result 1', 'result 2']);
  t.same(waits, [0, 250, 250]);
});

t.test('closing a dial queue rejects waiting tasks, aborts running ones, and rejects new ones', async (t) => {
  const queue = new TaskQueue({ name: 'pool.test', length: 5, workers: 1, clock: new VirtualClock() });
  const running = queue.add(
    (signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const waiting = queue.add(async () => 'never');
  const ends = Promise.allSettled([running, waiting]);
  await queue.close();
  for (const end of await ends) t.ok(end.status === 'rejected' && end.reason instanceof ClosedError);
  await t.rejects(
    queue.add(async () => 'late'),
    ClosedError,
  );
  await queue.close();
});

t.test('a task with a signal also aborts with its dial queue, and leaves no listener behind', async (t) => {
  const queue = new TaskQueue({ name: 'pool.test', length: 5, workers: 2, clock: new VirtualClock() });
  const untilAborted = (signal: AbortSignal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const [one, other] = [new AbortController(), new AbortController()];
  const unwanted = queue.add(untilAborted, { signal: one.signal });
  const stopped = queue.add(untilAborted, { signal: other.signal });
  t.equal(await Promise.race([unwanted, stopped, 'both run']), 'both run');
  one.abort(new Error('removed'));
  await t.rejects(unwanted, /removed/);
  t.equal(await queue.add(async () => 'fine', { signal: other.signal }), 'fine');
  const ended = t.rejects(stopped, ClosedError);
  await queue.close();
  await ended;
  t.equal(getEventListeners(other.signal, 'abort').length, 0);
});

t.test('the result of a task after its signal aborted is passed to discard only', async (t) => {
  const queue = new TaskQueue({ name: 'pool.test', length: 5, workers: 1, clock: new VirtualClock() });
  const { promise, resolve } = Promise.withResolvers<string>();
  const discarded: string[] = [];
  const late = queue.add(() => promise, { discard: (result) => discarded.push(result) });
  await queue.close();
  await t.rejects(late, { code: 'CLOSED' });
  resolve('a connection');
  await promise;
  await new Promise((done) => setImmediate(done));
  t.same(discarded, ['a connection']);
});

t.test('a task that goes on although its signal aborted keeps its worker', async (t) => {
  const queue = new TaskQueue({ name: 'pool.test', length: 5, workers: 1, clock: new VirtualClock() });
  const { promise, resolve } = Promise.withResolvers<string>();
  const unwanted = new AbortController();
  const first = queue.add(() => promise, { signal: unwanted.signal });
  const second = queue.add(async () => 'second');
  unwanted.abort(new Error('removed'));
  await t.rejects(first, /removed/);
  t.same([queue.busy, queue.depth], [1, 1]);
  resolve('late');
  t.equal(await second, 'second');
  t.same([queue.busy, queue.depth], [0, 0]);
});

t.test('a waiting task whose signal aborts leaves its place', async (t) => {
  const queue = new TaskQueue({ name: 'pool.test', length: 1, workers: 1, clock: new VirtualClock() });
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = queue.add(() => promise);
  const unwanted = new AbortController();
  const second = queue.add(async () => 'never', { signal: unwanted.signal });
  t.equal(queue.isFull, true);
  unwanted.abort(new Error('removed'));
  await t.rejects(second, /removed/);
  const third = queue.add(async () => 'third');
  resolve('first');
  t.same(await Promise.all([first, third]), ['first', 'third']);
  t.equal(getEventListeners(unwanted.signal, 'abort').length, 0);
});

t.test('a failing task does not affect others', async (t) => {
  const queue = new TaskQueue({ name: 'pool.test', length: 5, workers: 2, clock: new VirtualClock() });
  await t.rejects(
    queue.add(async () => Promise.reject(new Error('dial failed'))),
    /dial failed/,
  );
  t.equal(await queue.add(async () => 'fine'), 'fine');
  for (let i = 0; i < queue.workers; i++) {
    const thrown = queue.add(() => {
      throw new Error('no such binding');
    });
    await t.rejects(thrown, /no such binding/);
  }
  t.equal(await queue.add(async () => 'fine'), 'fine', 'tasks that throw at once free their workers');
  const aborted = new AbortController();
  aborted.abort(new Error('not wanted any more'));
  await t.rejects(
    queue.add(async () => 'never', { signal: aborted.signal }),
    /not wanted/,
  );
});

t.test('virtual time fires timers in order, and only on advance', async (t) => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  clock.after('b', 20, () => fired.push('b'));
  clock.after('a', 10, () => fired.push('a'));
  clock.every('tick', 8, () => fired.push('tick'));
  const cancelled = clock.after('never', 5, () => fired.push('never'));
  cancelled.cancel();
  t.same(clock.timers(), ['a', 'b', 'tick']);
  await clock.advance(20);
  t.same(fired, ['tick', 'a', 'tick', 'b']);
  const { signal } = clock.deadline('deadline', 50, () => new TimeoutError('it', 50));
  await clock.advance(49);
  t.notOk(signal.aborted);
  await clock.advance(1);
  t.match(signal.reason, /longer than 50 ms/);
  await t.rejects(clock.sleep(10, { signal }), /longer than/);
});

t.test('the failing task of a timer of the system clock is reported; the timer and the process go on', async (t) => {
  const clock = new SystemClock();
  const failures: string[] = [];
  clock.reportFailures((name, error) => failures.push(`${name}: ${describeError(error)}`));
  clock.after('once', 0, () => {
    throw new Error('first');
  });
  let runs = 0;
  await new Promise<void>((resolve) => {
    const timer = clock.every('often', 1, () => {
      if (++runs === 3) timer.cancel();
      if (runs === 3) clock.after('end', 0, resolve);
      throw new Error(`run ${runs}`);
    });
  });
  t.same(failures.sort(), ['often: run 1', 'often: run 2', 'often: run 3', 'once: first']);
  t.same(clock.timers(), []);
});

t.test('real time lists its timers until they end', async (t) => {
  const clock = new SystemClock();
  const timer = clock.after('once', 60_000, () => undefined);
  const tick = clock.every('tick', 60_000, () => undefined);
  t.same(clock.timers(), ['once', 'tick']);
  timer.cancel();
  tick.cancel();
  t.same(clock.timers(), []);
  await clock.sleep(1);
  t.ok(clock.nowNanoseconds() > 0n);
});

t.test('a device or pipe in place of an atomic file is written to, and remains', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  symlinkSync(pipe, join(folder, 'link'));
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  for (const name of ['link', 'pipe']) {
    await writeFileAtomic(join(folder, name), 'content');
    t.ok(lstatSync(join(folder, 'link')).isSymbolicLink() && statSync(pipe).isFIFO(), `${name} remains`);
    const received = Buffer.alloc(100);
    if (statSync(pipe).isFIFO()) t.equal(received.toString('utf8', 0, readSync(reader, received)), 'content', name);
  }
});

t.test('atomic files: the new content or the old one, private, no temporary file left', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const file = join(directory, 'secret');
  await writeFileAtomic(file, 'one');
  await writeFileAtomic(file, 'two');
  t.equal(readFileSync(file, 'utf8'), 'two');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same(readdirSync(directory), ['secret']);
  await t.rejects(writeFileAtomic(join(directory, 'nowhere', 'x'), 'x'));
  await t.rejects(writeFileAtomic(directory, 'a directory cannot be replaced'));
  t.same(readdirSync(directory), ['secret']);
});

t.test('errors include their causes; background failures are logged; secrets are not', async (t) => {
  t.equal(describeError(new Error('outer', { cause: new Error('inner') })), 'outer: inner');
  t.equal(describeError('text'), 'text');
  t.equal(describeError(new Error('outer', { cause: { payload: {} } })), 'outer', 'objects have no text');
  const tls = Object.assign(new Error('0A:error:SSL routines:x.c:7:'), {
    library: 'SSL routines',
    reason: 'unknown ca',
  });
  t.equal(describeError(tls), 'TLS: unknown ca', 'without OpenSSL source locations');
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  background(log, 'a task', async () => Promise.reject(new Error('it broke')));
  await new Promise((resolve) => setImmediate(resolve));
  t.match(JSON.parse(lines[0] ?? '{}'), { level: 'error', task: 'a task', error: 'it broke' });
});

t.test('random bytes never repeat, for any number and length', async (t) => {
  const seen = new Set<string>();
  for (let count = 0; count < 5_000; count++) seen.add(systemRandom.bytes(16).toString('hex'));
  for (const length of [0, 1, 63, 64, 65, 5_000]) t.equal(systemRandom.bytes(length).length, length);
  t.equal(seen.size, 5_000);
  const numbers = Array.from({ length: 1_000 }, () => systemRandom.next());
  t.ok(numbers.every((each) => each >= 0 && each < 1));
  t.equal(new Set(numbers).size > 990, true);
});

t.test('a private folder belongs to this user only, whatever was at its path', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const modeOf = (path: string) => lstatSync(path).mode & 0o777;
  const inside = (name: string) => join(directory, name);
  claimPrivateFolder(inside('made'));
  claimPrivateFolder(inside('made'));
  t.equal(modeOf(inside('made')), 0o700);
  mkdirSync(inside('open'));
  chmodSync(inside('open'), 0o777);
  claimPrivateFolder(inside('open'));
  t.equal(modeOf(inside('open')), 0o700, 'permissions of others are removed');
  symlinkSync(inside('open'), inside('link'));
  t.throws(() => claimPrivateFolder(inside('link')), { code: 'FOLDER_TAKEN' }, 'a symbolic link');
  writeFileSync(inside('file'), '');
  t.throws(() => claimPrivateFolder(inside('file')), 'a file');
  t.doesNotThrow(() => requireOwnFolder(inside('nothing')), 'nothing there yet');
  if (process.getuid?.() !== 0) return;
  mkdirSync(inside('foreign'));
  chownSync(inside('foreign'), 12_345, 12_345);
  t.throws(() => claimPrivateFolder(inside('foreign')), { code: 'FOLDER_TAKEN' }, 'of another user');
});

t.test('listeners are called in their order; one that an earlier one removes is not called', async (t) => {
  const listeners = new Listeners<string>('event', silentLog);
  const called: string[] = [];
  let stopThird = (): void => undefined;
  listeners.add((value) => {
    called.push(`first ${value}`);
    stopThird();
    if (value === 'a') listeners.add((later) => called.push(`added ${later}`));
  });
  const second = (value: string) => void called.push(`second ${value}`);
  const stopSecond = listeners.add(second);
  stopThird = listeners.add((value) => called.push(`third ${value}`));
  listeners.call('a');
  t.same(called.splice(0), ['first a', 'second a'], 'an added one is called from the next event on');
  listeners.add(second);
  listeners.call('b');
  t.same(called.splice(0), ['first b', 'added b', 'second b'], 'a listener that is added twice is called once');
  stopSecond();
  stopSecond();
  listeners.call('c');
  t.same(called.splice(0), ['first c', 'added c']);
  listeners.clear();
  listeners.call('d');
  t.same(called, []);
});
