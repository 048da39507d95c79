// Codes that strangers guess at several controllers, and a common store that fails or hangs.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { SharedMemory } from '../state/store/shared-memory.ts';
import { CodeGuesses } from './second-factor/code-guesses.ts';
import { SharedAttempts } from './shared-attempts.ts';

t.test('ten codes a minute, however many controllers there are', async (t) => {
  const clock = new VirtualClock();
  const { attempts } = new SharedMemory();
  const [one, two] = [new CodeGuesses(clock, attempts), new CodeGuesses(clock, attempts)];
  for (let count = 0; count < 5; count++) {
    await one.begin('mfa');
    await two.begin('mfa');
  }
  for (const guesses of [one, two]) await t.rejects(guesses.begin('mfa'), { code: 'RATE_LIMITED' });
  await t.resolves(one.begin('another'));
  await clock.advance(60_000);
  await t.resolves(two.begin('mfa'));
});

t.test('without an answer of the store, the count of one controller holds', async (t) => {
  const clock = new VirtualClock();
  const failing = { add: () => Promise.reject(new Error('away')), clear: () => Promise.reject(new Error('away')) };
  const guesses = new CodeGuesses(clock, failing);
  for (let count = 0; count < 10; count++) await guesses.begin('mfa');
  await t.rejects(guesses.begin('mfa'), { code: 'RATE_LIMITED' });
  guesses.wasRight('mfa');
  await t.resolves(guesses.begin('mfa'));

  const hanging = new SharedAttempts(clock, { ...failing, add: () => new Promise(() => undefined) });
  const added = hanging.add('key', 1_000);
  await clock.advance(1_000);
  t.equal(await added, 0);
});
