// Rejected requests of one client: the delay of their answers, and the limit on log lines.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { Rejections } from './rejections.ts';

t.test('a client that repeats a rejected request at once gets few answers', async (t) => {
  const clock = new VirtualClock();
  const rejections = new Rejections(clock);
  let answers = 0;
  let repeats = true;
  const repeat = () => {
    answers++;
    if (repeats) setImmediate(() => rejections.answer(100, repeat));
  };
  rejections.answer(100, repeat);
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  for (let second = 0; second < 600; second++) await clock.advance(100);
  t.ok(answers >= 350 && answers <= 401, `${answers} answers in a minute: 100 at once, then 5 a second`);
  repeats = false;
  rejections.close();
  t.same(clock.timers(), []);
});

t.test('no answer waits longer than 3 s, and none is sent to a client that has disconnected', async (t) => {
  const clock = new VirtualClock();
  const rejections = new Rejections(clock);
  let answers = 0;
  for (let count = 0; count < 500; count++) rejections.answer(100, () => answers++);
  t.equal(answers, 100);
  await clock.advance(3_000);
  t.equal(answers, 500);
  for (let count = 0; count < 20_000; count++) rejections.answer(100, () => answers++);
  t.equal(clock.timers().length, 10_000, 'few answers wait');
  t.equal(answers, 10_500);
  rejections.close();
  rejections.answer(100, () => answers++);
  t.equal(answers, 10_500);
  t.same(clock.timers(), []);
});

t.test('answers of more than 4 MiB do not wait together', async (t) => {
  const clock = new VirtualClock();
  const rejections = new Rejections(clock);
  let answers = 0;
  const reject = () => rejections.answer(1024 * 1024, () => answers++);
  for (let count = 0; count < 105; count++) reject();
  t.equal(clock.timers().length, 4);
  t.equal(answers, 101);
  await clock.advance(3_000);
  t.equal(answers, 105);
  rejections.close();
});

t.test('the hint to start over is repeated after 30 s, and forgotten with a success', async (t) => {
  const clock = new VirtualClock();
  const rejections = new Rejections(clock);
  const hints = (count: number) => Array.from({ length: count }, () => rejections.repeatsBind('token'));
  t.same(hints(5), [false, false, false, false, false], 'the data model may arrive');
  await clock.advance(1_000);
  t.same(hints(2), [true, false]);
  await clock.advance(30_000);
  t.same(hints(2), [true, false]);
  rejections.accepted('token');
  t.same(hints(1), [false]);
  await clock.advance(1_000);
  t.same(hints(2), [false, true]);
});
