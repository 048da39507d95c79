// The queue of bytes for another thread: nothing is lost or reordered however slowly that thread reads, the owner
// learns when there is room again, and a thread that writes nothing is found.

import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { CrossingRecord } from '#lib/threads/crossings.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { crossing } from '../../../../test/support/rooms/crossing.ts';
import { WriteWatch } from '../write-watch.ts';
import { RingQueue } from './ring-queue.ts';

const LIMIT = 32 * 1024;

/** A queue, and what the other thread takes of it. */
function rooms() {
  const { main, thread } = crossing();
  let writable = 0;
  const queue = new RingQueue(main, LIMIT, () => void writable++);
  const taken: Buffer[] = [];
  let ends = 0;
  const take = (most = Number.POSITIVE_INFINITY) => {
    for (let count = 0; count < most && thread.received.next(); count++) {
      if (thread.received.kind === CrossingRecord.End) ends++;
      else taken.push(Buffer.from(thread.received.data));
      thread.received.release();
    }
    queue.turn();
  };
  return { main, queue, take, taken, writable: () => writable, ends: () => ends };
}

t.test('all bytes arrive in order, also those for which there was no room, and then the end', async (t) => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seededRandom(seed);
    const { queue, take, taken, ends } = rooms();
    const added: Buffer[] = [];
    for (let step = 0; step < 60; step++) {
      const bytes = Buffer.alloc(Math.floor(random.next() ** 4 * 200_000), `${seed} ${step} `);
      added.push(Buffer.from(bytes));
      queue.add(bytes);
      bytes.fill(0); // the caller reuses its memory
      if (random.next() < 0.3) take(Math.floor(random.next() * 3));
      if (random.next() < 0.7) queue.flush();
      else continue;
      if (random.next() < 0.2) for (let turn = 0; turn < 10; turn++) take();
      else continue;
      if (!Buffer.concat(taken).equals(Buffer.concat(added))) t.fail(`seed ${seed}: flushed bytes do not arrive`);
    }
    queue.end();
    while (ends() === 0) take(1);
    take();
    if (!Buffer.concat(taken).equals(Buffer.concat(added))) t.fail(`seed ${seed}`);
    t.equal(queue.bytes, 0);
    t.equal(ends(), 1);
  }
});

t.test('nothing crosses before it is flushed; what is flushed together crosses as one record', async (t) => {
  const { queue, take, taken } = rooms();
  for (const text of ['one', 'two', 'three']) queue.add(Buffer.from(text));
  take();
  t.same(taken, []);
  queue.flush();
  take();
  t.same(taken, [Buffer.from('onetwothree')]);
});

t.test('the owner is told once when fewer bytes wait than the limit, after more did', async (t) => {
  const { queue, take, writable } = rooms();
  queue.add(Buffer.alloc(1_000));
  queue.flush();
  take();
  t.equal(writable(), 0, 'there was room all the time');
  for (let count = 0; count < 3; count++) {
    queue.add(Buffer.alloc(LIMIT / 2));
    queue.flush();
  }
  take(1);
  t.equal(writable(), 0, 'the limit is still reached');
  take(1);
  t.equal(writable(), 1);
  take();
  t.equal(writable(), 1);
});

t.test('a thread that writes nothing for longer than the limit is late; one that writes slowly is not', async (t) => {
  const { queue, take } = rooms();
  const clock = new VirtualClock();
  let late = 0;
  queue.watch = new WriteWatch(
    clock,
    5_000,
    () => void late++,
    () => queue.look(),
  );
  for (let count = 0; count < 4; count++) {
    queue.add(Buffer.alloc(1_000));
    queue.flush();
  }
  for (let count = 0; count < 3; count++) {
    await clock.advance(4_000);
    take(1);
    queue.add(Buffer.alloc(2_000)); // more arrives than leaves
    queue.flush();
  }
  t.equal(late, 0);
  await clock.advance(5_000);
  t.equal(late, 1);
  take();
  await clock.advance(60_000);
  t.equal(late, 1, 'nothing waits');
  t.same(clock.timers(), []);
});

t.test('a closed queue writes nothing more to the memory', async (t) => {
  const { main, queue, take, taken } = rooms();
  queue.add(Buffer.from('before'));
  queue.flush();
  take();
  const { used } = main.sent;
  queue.add(Buffer.alloc(500_000));
  queue.close();
  queue.add(Buffer.from('after'));
  queue.flush();
  queue.end();
  queue.turn();
  take();
  t.same(taken, [Buffer.from('before')]);
  t.ok(main.sent.used >= used && main.sent.reserve(8), 'what was begun is not completed');
});
