// Figures and profiles of the running process.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { kindOf } from '../../test/support/rooms/crossing.ts';
import { until } from '../../test/support/until.ts';
import { collectGarbage, loadFigures, memoryFigures, recordProfile } from './runtime.ts';

const ECHO = new URL('../../test/support/rooms/echo-thread.ts', import.meta.url);
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

/** One thread that runs, and a connection in it that receives messages. */
async function ioThread() {
  const threads = new IoThreads({ count: 1, program: ECHO, clock: new VirtualClock(), log: silentLog });
  const alive = setInterval(() => undefined, 1_000); // threads do not keep a process alive
  await threads.start();
  const crossing = threads.open(kindOf('echo'), () => ({ greeting: '' }));
  const thread = threads.profiled(1);
  if (!crossing || !thread) throw new Error('no thread');
  const dispose = async () => {
    clearInterval(alive);
    await threads.close();
  };
  return { threads, crossing, thread, [Symbol.asyncDispose]: dispose };
}

t.test('profiles of an I/O thread have its functions, even if it stands still', async (t) => {
  await using running = await ioThread();
  const { threads, crossing, thread } = running;
  t.equal(threads.profiled(2), undefined);
  const still = new Int32Array(new SharedArrayBuffer(4));
  crossing.post(still);
  const cpu = JSON.parse(await recordProfile('cpu', 0.3, { clock, signal, thread }));
  t.match(Object.keys(cpu).sort(), ['endTime', 'nodes', 'samples', 'startTime', 'timeDeltas']);
  const names = cpu.nodes.map(({ callFrame }: { callFrame: { functionName: string } }) => callFrame.functionName);
  t.ok(names.includes('standStill'), names.join());
  Atomics.store(still, 0, 1);
  const memory = JSON.parse(await recordProfile('memory', 0.1, { clock, signal, thread }));
  t.match(memory, { head: { callFrame: {} }, samples: Array });
});

t.test('the profile of an I/O thread ends with its client, and with the thread', async (t) => {
  await using running = await ioThread();
  const { crossing, thread } = running;
  const virtual = new VirtualClock();
  for (const kind of ['cpu', 'memory'] as const) {
    const gone = new AbortController();
    const recording = recordProfile(kind, 600, { clock: virtual, signal: gone.signal, thread });
    await until('the recording', () => virtual.timers().length > 0);
    await t.rejects(recordProfile('memory', 1, { clock, signal, thread }), { code: 'BUSY' });
    gone.abort(new Error('the client disconnected'));
    await t.rejects(recording, { message: 'the client disconnected' });
  }
  t.ok(await recordProfile('memory', 0.1, { clock, signal, thread }), 'the failures left nothing behind');
  const recording = recordProfile('cpu', 600, { clock: virtual, signal, thread });
  await until('the recording', () => virtual.timers().length > 0);
  crossing.post('throw');
  await t.rejects(recording, { code: 'THREAD_ENDED', message: /as asked/ });
  await t.rejects(recordProfile('cpu', 1, { clock, signal, thread }), { code: 'THREAD_ENDED' });
  t.same(virtual.timers(), []);
  t.ok(await recordProfile('cpu', 0.1, { clock, signal }), 'the main thread has profiles as before');
});
