// Figures and profiles of the running process.

import t from 'tap';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { collectGarbage, loadFigures, memoryFigures, recordProfile } from './runtime.ts';

const clock = new SystemClock();
const pool = new BufferPool();
const { signal } = new AbortController();

t.test('memory and load have plausible figures; a garbage collection frees memory', async (t) => {
  const figures = memoryFigures(pool);
  t.ok(figures.heapUsed > 0 && figures.heapUsed <= figures.heapReserved && figures.heapReserved < figures.heapLimit);
  t.ok(figures.resident > figures.heapUsed);
  t.match(loadFigures(), { seconds: Number, cpuSeconds: Number, busy: Number, handles: Number, cpus: Number });
  let garbage: unknown[] = Array.from({ length: 300_000 }, (_, index) => ({ index }));
  t.equal(garbage.length, 300_000);
  garbage = [];
  const { before, after } = collectGarbage(pool);
  t.ok(after.heapUsed < before.heapUsed, `${before.heapUsed} to ${after.heapUsed} bytes`);
});

t.test('profiles have the file formats of developer tools', async (t) => {
  const cpu = JSON.parse(await recordProfile('cpu', 0.1, { clock, signal })) as Record<string, unknown>;
  t.match(Object.keys(cpu).sort(), ['endTime', 'nodes', 'samples', 'startTime', 'timeDeltas']);
  const memory = JSON.parse(await recordProfile('memory', 0.1, { clock, signal })) as Record<string, unknown>;
  t.match(memory, { head: { callFrame: {} }, samples: Array });
});

t.test('one profile is recorded at a time, for a bounded time, and no longer than its client waits', async (t) => {
  const virtual = new VirtualClock();
  const gone = new AbortController();
  const recording = recordProfile('cpu', 600, { clock: virtual, signal: gone.signal });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await t.rejects(recordProfile('memory', 1, { clock, signal }), { code: 'BUSY' });
  gone.abort(new Error('the client disconnected'));
  await t.rejects(recording, { message: 'the client disconnected' });
  t.same(virtual.timers(), []);
  for (const seconds of [0, -1, 0.05, 601, Number.NaN])
    await t.rejects(recordProfile('cpu', seconds, { clock, signal }), { code: 'BAD_ARGUMENT' });
  t.ok(await recordProfile('cpu', 0.1, { clock, signal }), 'the failures left nothing behind');
});
