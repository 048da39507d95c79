// Owners share workers and places, whatever one of them does.

import fc from 'fast-check';
import t from 'tap';
import { type Claim, FairTasks, type RunTask } from './fair-tasks.ts';

/** FairTasks as p-queue uses it, with names in place of tasks. */
class Names {
  readonly tasks: FairTasks;
  readonly #runs = new Map<RunTask, string>();

  constructor(size: { readonly length: number; readonly workers: number }) {
    this.tasks = new FairTasks(size);
  }

  get busy(): number {
    return this.tasks.busy;
  }

  get depth(): number {
    return this.tasks.depth;
  }

  /** Returns false if the task may not even wait. */
  add(name: string, claim: Claim): boolean {
    if (this.tasks.isFull(claim)) return false;
    const run = async () => undefined;
    this.#runs.set(run, name);
    this.tasks.enqueue(run, { id: name, ...claim });
    return true;
  }

  /** Starts a task, and returns its name. */
  next(): string | undefined {
    const { size } = this.tasks;
    const run = this.tasks.dequeue();
    if ((run !== undefined) !== size > 0) throw new Error('p-queue would not call dequeue, or get no task');
    return run && this.#runs.get(run);
  }

  done(claim: Claim): void {
    this.tasks.done(claim);
  }
}

/** Adds tasks of an owner until it is full, and starts what may start. Returns the number of accepted ones. */
function fill(tasks: Names, owner: string | undefined): number {
  for (let count = 0; ; count++) {
    if (!tasks.add(`${owner}${count}`, { owner })) return count;
    while (tasks.next() !== undefined);
  }
}

t.test('an owner whose tasks never end leaves workers and places for others', async (t) => {
  const tasks = new Names({ length: 1_000, workers: 128 });
  fill(tasks, 'dead');
  t.same([tasks.busy, tasks.depth], [96, 750]);
  fill(tasks, 'dead too');
  t.ok(tasks.busy < 128 && tasks.depth < 1_000, `${tasks.busy}, ${tasks.depth}`);
  t.ok(tasks.add('live', { owner: 'live' }));
  t.equal(tasks.next(), 'live', 'it starts at once');
});

t.test('tasks without an owner use everything', async (t) => {
  const tasks = new Names({ length: 10, workers: 4 });
  t.equal(fill(tasks, undefined), 14);
  t.same([tasks.busy, tasks.depth], [4, 10]);
});

t.test('owners take turns, each in its order', async (t) => {
  const tasks = new Names({ length: 100, workers: 1 });
  for (const task of ['a1', 'a2', 'a3', 'b1', 'b2']) tasks.add(task, { owner: task[0] });
  const order: string[] = [];
  for (let task = tasks.next(); task; task = tasks.next()) {
    order.push(task);
    tasks.done({ owner: task[0] });
  }
  t.same(order, ['a1', 'b1', 'a2', 'b2', 'a3']);
});

t.test('a queue without places starts tasks while workers are free', async (t) => {
  const tasks = new Names({ length: 0, workers: 2 });
  t.ok(tasks.add('a', { owner: 'a' }));
  t.equal(tasks.next(), 'a');
  t.ok(tasks.add('b', { owner: 'b' }));
  t.equal(tasks.next(), 'b');
  t.notOk(tasks.add('c', { owner: 'c' }));
  tasks.done({ owner: 'a' });
  t.ok(tasks.add('c', { owner: 'c' }));
});

t.test('one owner with many targets leaves workers and places for others', async (t) => {
  const tasks = new Names({ length: 1_000, workers: 128 });
  let count = 0;
  while (tasks.add(`${count}`, { owner: 'greedy', target: `target ${count}` })) {
    while (tasks.next() !== undefined);
    count++;
  }
  t.same([tasks.busy, tasks.depth], [96, 750]);
  t.ok(tasks.add('last', { owner: 'other', target: 'target 0' }));
  t.equal(tasks.next(), 'last', 'it starts at once');
});

t.test('one target that hangs for many owners leaves workers and places for others', async (t) => {
  const tasks = new Names({ length: 1_000, workers: 128 });
  let count = 0;
  while (tasks.add(`${count}`, { owner: `owner ${count}`, target: 'dead' })) {
    while (tasks.next() !== undefined);
    count++;
  }
  t.same([tasks.busy, tasks.depth], [96, 750]);
  t.ok(tasks.add('last', { owner: 'owner 0', target: 'live' }));
  t.equal(tasks.next(), 'last', 'it starts at once, also for an owner that waits for the dead one');
});

t.test('one target of an owner leaves a part of its share for its other targets', async (t) => {
  const tasks = new Names({ length: 1_000, workers: 128 });
  let count = 0;
  while (tasks.add(`${count}`, { owner: 'only', target: 'dead' })) {
    while (tasks.next() !== undefined);
    count++;
  }
  t.ok(tasks.busy < 96 && tasks.depth < 750, `${tasks.busy}, ${tasks.depth}`);
  t.ok(tasks.add('last', { owner: 'only', target: 'live' }));
  t.equal(tasks.next(), 'last', 'it starts at once');
});

t.test('the targets of an owner take turns within its turn', async (t) => {
  const tasks = new Names({ length: 100, workers: 1 });
  const claimOf = (task: string) => ({ owner: task[0], target: task[1] });
  for (const task of ['ax1', 'ax2', 'ay1', 'bx1', 'bx2']) tasks.add(task, claimOf(task));
  const order: string[] = [];
  for (let task = tasks.next(); task; task = tasks.next()) {
    order.push(task);
    tasks.done(claimOf(task));
  }
  t.same(order, ['ax1', 'bx1', 'ay1', 'bx2', 'ax2']);
});

t.test('counts stay right, and nothing is lost, in any order of events', async () => {
  const owner = fc.constantFrom(undefined, 'a', 'b', 'c');
  const target = fc.constantFrom(undefined, 'x', 'y');
  const event = fc.record({ kind: fc.constantFrom('add', 'remove', 'next', 'done'), owner, target });
  fc.assert(
    fc.property(fc.nat(8), fc.integer({ min: 1, max: 6 }), fc.array(event), (length, workers, events) => {
      const tasks = new Names({ length, workers });
      const waiting = new Map<string, Claim>();
      const running: Claim[] = [];
      const start = () => {
        const name = tasks.next();
        const claim = name === undefined ? undefined : waiting.get(name);
        if (name === undefined || !claim) return name === undefined;
        waiting.delete(name);
        running.push(claim);
        return true;
      };
      for (const [index, { kind, owner, target }] of events.entries()) {
        if (kind === 'add') {
          if (tasks.add(`${index}`, { owner, target })) waiting.set(`${index}`, { owner, target });
        } else if (kind === 'remove') {
          const [name] = waiting.keys();
          tasks.tasks.remove(name ?? 'unknown');
          if (name !== undefined) waiting.delete(name);
        } else if (kind === 'next') {
          if (!start()) return false;
        } else {
          const claim = running.shift();
          if (claim) tasks.done(claim);
        }
        if (tasks.depth !== waiting.size || tasks.busy !== running.length || tasks.busy > workers) return false;
        if (tasks.depth > length + workers) return false;
      }
      while (running.length > 0 || waiting.size > 0) {
        const done = running.shift();
        if (done) tasks.done(done);
        for (let before = -1; before !== running.length; ) {
          before = running.length;
          if (!start()) return false;
        }
      }
      return tasks.depth === 0 && tasks.busy === 0;
    }),
  );
});
