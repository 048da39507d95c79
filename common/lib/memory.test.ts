// Memory is released, and the release has no other effect.

import { readFileSync } from 'node:fs';
import t from 'tap';
import { releaseMemory } from './memory.ts';

const MIB = 1024 * 1024;

t.test('the memory of a burst of buffers is released', { skip: process.platform !== 'linux' }, async (t) => {
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  releaseMemory();
  const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  const before = resident();
  let kept: Buffer[] = [];
  for (let index = 0; index < 4_000; index++) kept.push(Buffer.alloc(16_000 + (index % 7) * 3_000, 1));
  // Every hundredth buffer survives, so the heap cannot simply shrink from its end.
  const survivors = kept.filter((_, index) => index % 100 === 0);
  const peak = resident();
  kept = [];
  releaseMemory();
  t.ok(peak - before > 60 * MIB, `${Math.round((peak - before) / MIB)} MiB more at the peak`);
  t.ok(resident() - before < (peak - before) / 2, `${Math.round((resident() - before) / MIB)} MiB more afterwards`);
  t.equal(survivors.length, 40);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(warnings, [], 'no warning is printed');
});
