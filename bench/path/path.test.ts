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
  for (const direction of ['up', 'down'] as const) {
    const { bytes, seconds } = await run<TransferOutcome>({
      ...{ kind: 'transfer', direction, count: 2, seconds: 1, lightAfter: 0.5, ports },
    });
    const total = bytes.reduce((sum, each) => sum + each, 0);
    t.ok(total > 0 && total < 1.01 * seconds * SHAPE.rate * 125_000, `${direction}: ${total} bytes in ${seconds} s`);
  }
});
