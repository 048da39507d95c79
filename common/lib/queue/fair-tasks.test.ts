// Owners share workers and places, whatever one of them does.

import fc from 'fast-check';
import t from 'tap';
import { FairTasks } from './fair-tasks.ts';

/** Adds tasks of an owner until it is full, and starts what may start. Returns the number of accepted ones. */
function fill(tasks: FairTasks<string>, owner: string | undefined): number {
  for (let count = 0; ; count++) {
    if (!tasks.add(`${owner}${count}`, owner)) return count;
    while (tasks.next() !== undefined);
  }
}

t.test('an owner whose tasks never end leaves workers and places for others', async (t) => {
  const tasks = new FairTasks<string>({ length: 1_000, workers: 128 });
  fill(tasks, 'dead');
  t.same([tasks.busy, tasks.depth], [96, 750]);
  fill(tasks, 'dead too');
  t.ok(tasks.busy < 128 && tasks.depth < 1_000, `${tasks.busy}, ${tasks.depth}`);
  t.ok(tasks.add('live', 'live'));
  t.equal(tasks.next(), 'live', 'it starts at once');
});

t.test('tasks without an owner use everything', async (t) => {
  const tasks = new FairTasks<string>({ length: 10, workers: 4 });
  t.equal(fill(tasks, undefined), 14);
  t.same([tasks.busy, tasks.depth], [4, 10]);
});

t.test('owners take turns, each in its order', async (t) => {
  const tasks = new FairTasks<string>({ length: 100, workers: 1 });
  for (const task of ['a1', 'a2', 'a3', 'b1', 'b2']) tasks.add(task, task[0]);
  const order: string[] = [];
  for (let task = tasks.next(); task; task = tasks.next()) {
    order.push(task);
    tasks.done(task[0]);
  }
  t.same(order, ['a1', 'b1', 'a2', 'b2', 'a3']);
});

t.test('a queue without places starts tasks while workers are free', async (t) => {
  const tasks = new FairTasks<string>({ length: 0, workers: 2 });
  t.ok(tasks.add('a', 'a'));
  t.equal(tasks.next(), 'a');
  t.ok(tasks.add('b', 'b'));
  t.equal(tasks.next(), 'b');
  t.notOk(tasks.add('c', 'c'));
  tasks.done('a');
  t.ok(tasks.add('c', 'c'));
});

t.test('counts stay right, and nothing is lost, in any order of events', async () => {
  const owner = fc.constantFrom(undefined, 'a', 'b', 'c');
  const event = fc.record({ kind: fc.constantFrom('add', 'remove', 'next', 'done'), owner });
  fc.assert(
    fc.property(fc.nat(8), fc.integer({ min: 1, max: 6 }), fc.array(event), (length, workers, events) => {
      const tasks = new FairTasks<{ owner: string | undefined }>({ length, workers });
      const waiting = new Set<{ owner: string | undefined }>();
      const running: { owner: string | undefined }[] = [];
      for (const { kind, owner } of events) {
        if (kind === 'add') {
          const task = { owner };
          if (tasks.add(task, owner)) waiting.add(task);
        } else if (kind === 'remove') {
          const [task] = waiting;
          if (task && !tasks.remove(task, task.owner)) return false;
          if (task) waiting.delete(task);
        } else if (kind === 'next') {
          const task = tasks.next();
          if (task && !waiting.delete(task)) return false;
          if (task) running.push(task);
        } else {
          const task = running.shift();
          if (task) tasks.done(task.owner);
        }
        if (tasks.depth !== waiting.size || tasks.busy !== running.length || tasks.busy > workers) return false;
        if (tasks.depth > length + workers) return false;
      }
      while (running.length > 0 || waiting.size > 0) {
        const done = running.shift();
        if (done) tasks.done(done.owner);
        for (let task = tasks.next(); task; task = tasks.next()) {
          waiting.delete(task);
          running.push(task);
        }
      }
      return tasks.depth === 0 && tasks.busy === 0;
    }),
  );
});
