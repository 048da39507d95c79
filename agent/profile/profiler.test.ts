// Profiles are files for developer tools, bounded in memory and on disk.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { Profiler } from './profiler.ts';
import { recordProfile } from './runtime.ts';

const directory = mkdtempSync(join(tmpdir(), 'profile-'));
t.teardown(() => rmSync(directory, { recursive: true }));

const cpu = join(directory, 'cpu.cpuprofile');
const memory = join(directory, 'memory.heapprofile');
const profileIn = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

async function exists(file: string): Promise<void> {
  for (let tries = 0; !existsSync(file); tries++) {
    if (tries > 200) throw new Error(`${file} was never written`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

t.test('the CPU profile is written in pieces, and at the end', async (t) => {
  const clock = new VirtualClock();
  const profiler = await Profiler.start({ clock, log: silentLog }, { cpu: { path: cpu } });
  profiler?.started();
  await clock.advance(600_000);
  await exists(cpu);
  const first = profileIn(cpu);
  t.match(Object.keys(first), ['nodes', 'startTime', 'endTime', 'samples', 'timeDeltas']);
  await Promise.all([profiler?.stop(), profiler?.stop()]);
  t.same(profileIn(join(directory, 'cpu.previous.cpuprofile')), first);
  t.ok(profileIn(cpu).startTime >= first.endTime, 'the next piece starts at the end of the first');
  t.same(clock.timers(), []);
});

t.test('SIGUSR2 ends the CPU profile, but not the process', async (t) => {
  rmSync(cpu);
  const profiler = await Profiler.start({ clock: new VirtualClock(), log: silentLog }, { cpu: { path: cpu } });
  profiler?.started();
  process.kill(process.pid, 'SIGUSR2');
  await exists(cpu);
  const written = readFileSync(cpu, 'utf8');
  await profiler?.stop();
  t.equal(readFileSync(cpu, 'utf8'), written, 'it is not written again');
});

t.test('the memory profile is written at each interval; an unwritable file is reported', async (t) => {
  const clock = new VirtualClock();
  const profiler = await Profiler.start({ clock, log: silentLog }, { memory: { path: memory, intervalMs: 500 } });
  profiler?.started();
  await clock.advance(500);
  await exists(memory);
  t.match(profileIn(memory), { head: { callFrame: {}, children: Array }, samples: Array });
  await profiler?.stop();
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const failing = await Profiler.start({ clock, log }, { cpu: { path: join(directory, 'nowhere', 'x.cpuprofile') } });
  failing?.started();
  await failing?.stop();
  t.match(lines.join(''), /profile could not be written/);
  t.equal(await Profiler.start({ clock, log }, {}), undefined);
});

t.test('a request for a memory profile does not end the configured one', async (t) => {
  rmSync(memory, { force: true });
  const clock = new VirtualClock();
  const profiler = await Profiler.start({ clock, log: silentLog }, { memory: { path: memory, intervalMs: 500 } });
  profiler?.started();
  const { signal } = new AbortController();
  const request = () => recordProfile('memory', 0.1, { clock: new SystemClock(), signal });
  await t.rejects(request(), { code: 'BUSY', message: /already be recorded: see the section profile/ });
  await clock.advance(500);
  await exists(memory);
  t.match(profileIn(memory), { samples: Array });
  await profiler?.stop();
  t.ok(await request(), 'afterwards it is recorded');
});

t.test('a router that does not start leaves the files of another one unchanged', async (t) => {
  const clock = new VirtualClock();
  for (const file of [cpu, memory]) writeFileSync(file, 'another router');
  const config = { cpu: { path: cpu }, memory: { path: memory, intervalMs: 500 } };
  const profiler = await Profiler.start({ clock, log: silentLog }, config);
  await clock.advance(1_000);
  await profiler?.stop();
  for (const file of [cpu, memory]) t.equal(readFileSync(file, 'utf8'), 'another router');
});
