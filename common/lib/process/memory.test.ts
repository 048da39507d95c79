// Memory is released, and the release has no other effect. The heap grows less with garbage.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { BufferPool } from '../queue/buffer-pool.ts';
import { releaseMemory } from './memory.ts';

const MIB = 1024 * 1024;
const buffers = new BufferPool();

t.test('the memory of a burst of buffers is released', { skip: process.platform !== 'linux' }, async (t) => {
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  releaseMemory(buffers);
  const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  const before = resident();
  let kept: Buffer[] = [];
  for (let index = 0; index < 4_000; index++) kept.push(Buffer.alloc(16_000 + (index % 7) * 3_000, 1));
  // Every hundredth buffer survives, so the heap cannot simply shrink from its end.
  const survivors = kept.filter((_, index) => index % 100 === 0);
  const peak = resident();
  kept = [];
  releaseMemory(buffers);
  t.ok(peak - before > 60 * MIB, `${Math.round((peak - before) / MIB)} MiB more at the peak`);
  t.ok(resident() - before < (peak - before) / 2, `${Math.round((resident() - before) / MIB)} MiB more afterwards`);
  t.equal(survivors.length, 40);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(warnings, [], 'no warning is printed');
});

t.test('a small program keeps its garbage', async (t) => {
  const garbage = new WeakRef({ text: 'unused' });
  await new Promise((resolve) => setImmediate(resolve)); // until then, the reference holds it
  releaseMemory(buffers, 1024 ** 4);
  t.ok(garbage.deref(), 'the program is small enough');
  await new Promise((resolve) => setImmediate(resolve));
  releaseMemory(buffers, MIB);
  t.notOk(garbage.deref(), 'it is not');
});

/** Objects that live for a short while, beside 300,000 that stay; prints the largest heap in MiB. */
const CHURN = `
  const stay = Array.from({ length: 300_000 }, (_, index) => ({ index, text: 'x' + index }));
  const ring = [];
  let largest = 0;
  for (let index = 0; index < 3_000_000; index++) {
    ring[index % 100_000] = { index, text: 'y' + index };
    if (index % 1_000 === 0) largest = Math.max(largest, process.memoryUsage().heapTotal);
  }
  console.log(largest / 2 ** 20, stay.length);
`;

/** Leaves garbage and becomes idle for these milliseconds. */
const REST = (milliseconds: number) => `
  let garbage = Array.from({ length: 600_000 }, (_, index) => ({ index, text: 'x' + index }));
  gc({ type: 'major', execution: 'sync' });
  garbage = undefined;
  await new Promise((resolve) => setTimeout(resolve, ${milliseconds}));
`;

t.test('an idle program keeps its compiled code', (t) => {
  /** Number of times that V8 waits to collect all garbage. */
  const planned = (before: string, milliseconds = 1_000) => {
    const code = `import { keepCompiledCode } from ${JSON.stringify(new URL('memory.ts', import.meta.url))};${before}${REST(milliseconds)}`;
    const delays = ['--memory-reducer-delay-ms=200', '--gc-memory-reducer-start-delay-ms=200'];
    const flags = ['--expose-gc', '--trace-memory-reducer', ...delays, '--input-type=module', '-e', code];
    return execFileSync(process.execPath, flags, { encoding: 'utf8' }).split('Memory reducer: waiting').length - 1;
  };
  t.equal(planned('keepCompiledCode();'), 0, 'V8 leaves the garbage');
  t.ok(planned('') > 0 || planned('', 10_000) > 0, 'it would collect, on a busy machine later');
  t.end();
});

t.test('the heap grows less with garbage when its growth is limited', (t) => {
  const largest = (before: string) => {
    const code = `import { limitHeapGrowth } from ${JSON.stringify(new URL('memory.ts', import.meta.url))};${before}${CHURN}`;
    const output = execFileSync(process.execPath, ['--max-semi-space-size=4', '--input-type=module', '-e', code], {
      encoding: 'utf8',
    });
    return Number.parseFloat(output);
  };
  const limited = largest('limitHeapGrowth();');
  const free = largest('');
  t.ok(limited < 0.8 * free, `${Math.round(limited)} instead of ${Math.round(free)} MiB`);
  t.end();
});
