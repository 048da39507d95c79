// One measurement of the lab in a process of its own, so that nothing is loaded before it. The parent sends the task,
// and gets the values.

import { createServer } from 'node:https';
import type { SeedDocument } from '../../controller-sim/lab/seed/export.ts';
import type { Values } from '../rounds.ts';
import { SIM_ENTRY } from './package.ts';

/** Milliseconds from the message; memory in MiB. */
export type Task =
  | { readonly kind: 'bare'; readonly key: string; readonly cert: string }
  | { readonly kind: 'start'; readonly times: number }
  | { readonly kind: 'restore'; readonly identities: number }
  | { readonly kind: 'network'; readonly routers: number }
  | { readonly kind: 'together'; readonly simulators: number };

/** As a simulator of a test: nothing is kept, so a password needs no expensive hash. */
const QUICK = { passwordCost: { memory: 64, passes: 1 } };
/** The built package, with the types of its sources. */
const loadPackage = (): Promise<typeof import('../../entry/sim.ts')> => import(SIM_ENTRY);
const MIB = 1024 * 1024;

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const memory = () => process.memoryUsage().rss / MIB;

/** A server over TLS with the same HTTP framework and one route: what any simulator in JavaScript needs. */
async function bare({ key, cert }: { key: string; cert: string }): Promise<Values> {
  const ready = await elapsed(async () => {
    const { fastify } = await import('fastify');
    const app = fastify({ serverFactory: (handler) => createServer({ key, cert }, handler) });
    app.get('/', () => ({ data: {} }));
    await app.listen({ host: '127.0.0.1', port: 0 });
  });
  return { ready, memory: memory() };
}

/** The first start loads the program; the values are those of the last one. */
async function started(times: number): Promise<Values> {
  let ready = 0;
  let closed = 0;
  const first = performance.now();
  const { startSimulator } = await loadPackage();
  for (let time = 1; time <= times; time++) {
    const start = time === 1 ? first : performance.now();
    const simulator = await startSimulator(QUICK);
    ready = performance.now() - start;
    const resident = memory();
    closed = await elapsed(() => simulator.close());
    if (time === times) return { ready, closed, memory: resident };
  }
  return { ready, closed, memory: memory() };
}

/** Each identity has changed since the snapshot. */
async function restored(identities: number): Promise<Values> {
  const { startSimulator } = await loadPackage();
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  const withAttribute = (attribute: string): SeedDocument => ({
    identities: Array.from({ length: identities }, (_, index) => ({ name: `i${index}`, roleAttributes: [attribute] })),
  });
  await lab.seed(withAttribute('before'));
  lab.snapshots.take('base');
  await lab.seed(withAttribute('after'), { apply: true });
  const restore = await elapsed(() => lab.restore('base'));
  return { restore, memory: memory() };
}

async function network(routers: number): Promise<Values> {
  const { startNetwork } = await loadPackage();
  let running: Awaited<ReturnType<typeof startNetwork>> | undefined;
  const ready = await elapsed(async () => {
    running = await startNetwork({ routers });
  });
  const resident = memory();
  return { ready, closed: await elapsed(async () => running?.close()), memory: resident };
}

async function together(count: number): Promise<Values> {
  const { startSimulator } = await loadPackage();
  const simulators: { close(): Promise<void> }[] = [];
  const ready = await elapsed(async () => {
    simulators.push(...(await Promise.all(Array.from({ length: count }, () => startSimulator(QUICK)))));
  });
  const resident = memory();
  const closed = await elapsed(() => Promise.all(simulators.map((simulator) => simulator.close())));
  return { ready, closed, memory: resident };
}

function measured(task: Task): Promise<Values> {
  if (task.kind === 'bare') return bare(task);
  if (task.kind === 'start') return started(task.times);
  if (task.kind === 'restore') return restored(task.identities);
  if (task.kind === 'network') return network(task.routers);
  return together(task.simulators);
}

process.once('message', async (task: Task) => {
  const values = await measured(task);
  process.send?.(values, () => process.exit(0));
});
