// Password hashes, and the limits on concurrent and waiting checks.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { Passwords, TEST_COST } from './passwords.ts';

t.test('a password matches its own hash only', async (t) => {
  const passwords = new Passwords({ clock: new VirtualClock(), cost: TEST_COST });
  const hash = await passwords.hash('correct horse');
  t.match(hash, /^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
  t.not(await passwords.hash('correct horse'), hash, 'salted');
  t.equal(await passwords.verify('correct horse', hash), true);
  t.equal(await passwords.verify('correct horse ', hash), false);
  t.equal(await passwords.verify('correct horse', undefined), false);
  await passwords.close();
});

t.test('hashes beyond the limit of the queue are rejected at once; queued ones complete', async (t) => {
  const passwords = new Passwords({ clock: new VirtualClock(), cost: TEST_COST, atOnce: 2, waiting: 3 });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => passwords.hash(`password ${index}`)),
  );
  t.same(
    outcomes.map(({ status }) => status === 'fulfilled'),
    [true, true, true, true, true, false, false, false, false, false],
  );
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'RATE_LIMITED', status: 429 });
  t.ok(await passwords.hash('later'), 'the queue accepts again');
  await passwords.close();
});

t.test('an address that exhausts its share does not block logins from others', async (t) => {
  const passwords = new Passwords({ clock: new VirtualClock(), cost: TEST_COST, atOnce: 1, waiting: 2 });
  const guess = (from: string) => passwords.verify('guess', undefined, from);
  const flood = Promise.allSettled(Array.from({ length: 10 }, (_, index) => guess(`2001:db8::${index}`)));
  t.equal(await guess('192.0.2.1'), false, 'another address gets its answer');
  const answered = (await flood).filter(({ status }) => status === 'fulfilled');
  t.equal(answered.length, 3, 'one running and two queued');
  await passwords.close();
});
