// Marks of a thread for another one: each number once, whatever was marked before, and none is lost.

import { Worker } from 'node:worker_threads';
import t from 'tap';
import { seededRandom } from '../random.ts';
import { createMarks, markAt, takeMarks } from './marks.ts';

function taken(marks: Int32Array): number[] {
  const numbers: number[] = [];
  takeMarks(marks, (number) => numbers.push(number));
  return numbers;
}

t.test('the marked numbers, in their order, once', async (t) => {
  const random = seededRandom(1);
  for (let round = 0; round < 500; round++) {
    const count = 1 + Math.floor(random.next() * 300);
    const marks = createMarks(count);
    const numbers = new Set<number>();
    for (let index = random.next() * count; index > 0; index--) numbers.add(Math.floor(random.next() * count));
    for (const number of [...numbers, ...numbers]) markAt(marks, number);
    t.same(
      taken(marks),
      [...numbers].toSorted((one, other) => one - other),
    );
    t.same(taken(marks), []);
  }
});

t.test('another thread marks at the same time', async (t) => {
  const marks = createMarks(64);
  const module = JSON.stringify(new URL('./marks.ts', import.meta.url).href);
  const source = `
    const { workerData } = require('node:worker_threads');
    import(${module}).then(({ markAt }) => {
      for (let round = 0; round < 200_000; round++) {
        Atomics.add(workerData.counts, round & 63, 1);
        markAt(workerData.marks, round & 63);
      }
    });`;
  const counts = new Int32Array(new SharedArrayBuffer(64 * 4));
  const worker = new Worker(source, { eval: true, workerData: { marks, counts } });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const seen = new Map<number, number>();
  const look = () => takeMarks(marks, (number) => seen.set(number, Atomics.load(counts, number)));
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    for (let count = 0; count < 100; count++) look();
    await new Promise(setImmediate);
  }
  look();
  t.equal(seen.size, 64);
  for (const [number, count] of seen) t.equal(count, counts[number], 'the last change was seen');
});
