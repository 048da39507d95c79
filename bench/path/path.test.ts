// The emulated path: what it delays, limits, loses and carries. Needs Linux and root.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Process } from '../data/processes.ts';
import type { Load, Ports, TransferOutcome } from './load.ts';
import { runLoad } from './network.ts';
import { PATHS, type PathShape, transferName } from './paths.ts';
import { FAR, onMachine, TwoMachines, whyNoPath } from './two-machines.ts';

const skip = whyNoPath() ?? false;
const SHAPE: PathShape = { delay: 15, rate: 40, queue: 50, loss: 0 };
const LOAD = join(import.meta.dirname, 'load.ts');

t.test('names of paths are unique, and so are those of their transfers', async (t) => {
  t.equal(new Set(PATHS.map(({ name }) => name)).size, PATHS.length);
  t.equal(transferName({ direction: 'up', count: 8 }), '8 uploads');
  t.equal(transferName({ direction: 'down', count: 1 }), '1 download');
  t.equal(transferName({ direction: 'both', count: 4 }), '4 up, 4 down');
});

t.test('an emulated path delays, and limits the rate', { skip, timeout: 60_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  await using machines = await TwoMachines.open();
  machines.setShape(SHAPE);
  const ports: Ports = { host: FAR.address, count: 4_001, echo: 4_002, source: 4_003 };
  const serve = [process.execPath, LOAD, 'serve', FAR.address, '4001', '4002', '4003'];
  await using services = new Process('services', onMachine(machines.far, serve), { directory });
  const run = async <T>(load: Load): Promise<T> => {
    for (let attempt = 0; ; attempt++)
      try {
        return await runLoad<T>(machines.near, load, directory);
      } catch (error) {
        if (attempt === 50 || !services.isRunning) throw error; // the services start meanwhile
      }
  };
  const { light } = await run<{ light: number[] }>({ kind: 'light', seconds: 1, ports });
  t.ok(light.length > 0, 'a round trip');
  t.ok(Math.min(...light) >= 2 * SHAPE.delay, `${Math.min(...light)} ms`);
  const limited: [name: string, direction: 'up' | 'down', shape: Partial<PathShape>, mbits: number][] = [
    ['up', 'up', {}, SHAPE.rate],
    ['down', 'down', {}, SHAPE.rate],
    ['another rate back', 'down', { rateBack: 10 }, 10],
    ['a rate that walks', 'up', { walk: 0.2 }, SHAPE.rate],
    ['a policer', 'up', { policer: 64 * 1024 }, SHAPE.rate],
    ['outages', 'up', { outages: 200 }, SHAPE.rate],
  ];
  for (const [name, direction, more, mbits] of limited) {
    machines.setShape({ ...SHAPE, ...more });
    const { bytes, seconds } = await run<TransferOutcome>({
      ...{ kind: 'transfer', direction, count: 2, seconds: 1, lightAfter: 0.5, ports },
    });
    const total = bytes.reduce((sum, each) => sum + each, 0);
    const burst = more.policer ?? 0;
    t.ok(total > 0 && total < burst + 1.01 * seconds * mbits * 125_000, `${name}: ${total} bytes in ${seconds} s`);
  }
  const typical = async (more: Partial<PathShape>) => {
    machines.setShape({ ...SHAPE, ...more });
    const { light: times } = await run<{ light: number[] }>({ kind: 'light', seconds: 1, ports });
    return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
  };
  t.ok((await typical({ jitter: 60 })) > 2 * SHAPE.delay + 10, 'jitter');
  t.ok((await typical({ bursts: 40 })) > 2 * SHAPE.delay + 9, 'bursts');
});
