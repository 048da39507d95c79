// When connections write: at the end of the turn if nothing else arrives, else a little later, together.

import t from 'tap';
import { FlushSchedule } from './flush-schedule.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('a message that arrives alone is written at the end of the turn', async (t) => {
  const schedule = new FlushSchedule({ monotonic: () => 0 });
  const written: string[] = [];
  schedule.noteInput();
  schedule.add(() => written.push('a'));
  t.same(written, [], 'not within the turn: further messages may follow');
  await turn();
  t.same(written, ['a']);
  await turn();
  t.same(written, ['a'], 'once');
});

t.test('messages wait for those of the next turns while input arrives', async (t) => {
  const schedule = new FlushSchedule({ monotonic: () => 0 });
  const written: string[] = [];
  schedule.add(() => written.push('a'));
  for (const each of ['b', 'c']) {
    schedule.noteInput();
    await turn();
    t.same(written, []);
    schedule.add(() => written.push(each));
  }
  await turn();
  t.same(written, ['a', 'b', 'c'], 'in their order');
});

t.test('messages do not wait longer than 0.2 ms, however much input arrives', async (t) => {
  let now = 5;
  const schedule = new FlushSchedule({ monotonic: () => now });
  let flushes = 0;
  const flush = () => flushes++;
  for (const start of [5, 6]) {
    const before = flushes;
    now = start;
    schedule.add(flush);
    for (now = start + 0.05; now < start + 0.2; now += 0.05) {
      schedule.noteInput();
      await turn();
      t.equal(flushes, before);
    }
    schedule.noteInput();
    await turn();
    t.equal(flushes, before + 1);
  }
});

t.test('messages that are added while others are written are written later', async (t) => {
  const schedule = new FlushSchedule({ monotonic: () => 0 });
  const written: string[] = [];
  schedule.add(() => {
    written.push('a');
    schedule.add(() => written.push('b'));
  });
  await turn();
  t.same(written, ['a']);
  await turn();
  t.same(written, ['a', 'b']);
});
