// The limit applies to processor time; elapsed time alone rejects nothing.

import t from 'tap';
import { within, workLimit } from './bounded.ts';

function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

t.test('results and errors of the work reach the caller', async (t) => {
  t.equal(
    within(1_000, () => 7),
    7,
  );
  t.throws(
    () =>
      within(1_000, () => {
        throw new TypeError('broken');
      }),
    { name: 'TypeError', message: 'broken' },
  );
  t.equal(
    within(1_000, () => 'still usable'),
    'still usable',
  );
});

t.test('endless work is aborted', async (t) => {
  const endless = () => {
    for (;;);
  };
  t.throws(() => within(20, endless), { message: 'it takes longer than 20 ms' });
  t.throws(() => within(20, () => /^(a+)+$/.test(`${'a'.repeat(40)}b`)), { message: 'it takes longer than 20 ms' });
});

t.test('work that was starved of processor time gets a second attempt, but no third', async (t) => {
  let attempts = 0;
  const work = (milliseconds: number) => () => {
    attempts++;
    spin(milliseconds);
    return attempts;
  };
  t.equal(
    within(200, work(250), () => 0),
    2,
    'the second attempt may last four times as long',
  );
  attempts = 0;
  t.throws(() => within(20, work(60_000), () => 0), { message: 'it takes longer than 20 ms' });
  t.equal(attempts, 2);
  attempts = 0;
  t.throws(
    () => within(20, work(60), () => performance.now()),
    { message: 'it takes longer than 20 ms' },
    'it had the processor the whole time',
  );
  t.equal(attempts, 1);
});

t.test('a limit on work counts the processor time since its begin', async (t) => {
  let time = 7;
  const isTooMuch = workLimit(100, () => time);
  time += 100;
  t.notOk(isTooMuch());
  time++;
  t.ok(isTooMuch());
});
