// TurboFan waits, then also compiles what other compilers have compiled meanwhile.

import { setFlagsFromString } from 'node:v8';
import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { delayOptimization } from './optimizer.ts';

const DELAY = 800;

setFlagsFromString('--allow-natives-syntax');
const isOptimized = new Function('code', 'return %ActiveTierIsTurbofan(code)') as (code: unknown) => boolean;
const isCompiled = new Function('code', 'return %ActiveTierIsMaglev(code)') as (code: unknown) => boolean;
setFlagsFromString('--no-allow-natives-syntax');

function checksum(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum = (sum * 31 + value) % 65_521;
  return sum;
}

/** Calls the function until the condition is true, at most for this processor time in milliseconds. */
async function callUntil(condition: () => boolean, milliseconds: number): Promise<boolean> {
  const values = Array.from({ length: 1_000 }, (_, index) => index);
  const start = process.cpuUsage().user;
  while (!condition()) {
    if (process.cpuUsage().user - start > milliseconds * 1_000) return false;
    for (let calls = 0; calls < 1_000; calls++) checksum(values);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return true;
}

t.test('functions are optimized only after some processor time', async (t) => {
  const clock = new VirtualClock();
  delayOptimization(clock, DELAY);
  t.ok(await callUntil(() => isCompiled(checksum), 10_000), 'by Maglev at once');
  await clock.advance(60_000);
  t.same(clock.timers(), ['optimizing compiler'], 'an idle time does not count');
  t.notOk(await callUntil(() => isOptimized(checksum), DELAY + 100), 'not by TurboFan');
  await clock.advance(1_000);
  t.same(clock.timers(), []);
  t.ok(await callUntil(() => isOptimized(checksum), 10_000), 'later by TurboFan');
});
