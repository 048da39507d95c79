// The subjects on a path: plain TCP, two routers of this project, and two of the reference, with their controllers at
// the far end and further routers between them if wanted. It runs on the far machine.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TunnelOptions } from '../../test/support/config/link-config.ts';
import { fixedPorts } from '../../test/support/networks/fixed-ports.ts';
import { untilWorking } from '../../test/support/until.ts';
import { Process } from '../data/processes.ts';
import { createServices, type Host, ROOT, type Software, startRouter } from '../data/subjects.ts';
import type { Load, Ports } from './load.ts';
import { FAR, NEAR, onMachine } from './two-machines.ts';

export interface PathSubject extends AsyncDisposable {
  readonly name: string;
  /** Where the clients on the near machine reach the services. */
  readonly ports: Ports;
  /** Bytes of resident memory of the largest router between the two ends; undefined without one. */
  transitMemory(): number | undefined;
}

const SERVICES = ['count', 'echo', 'source'] as const;
const LOAD = join(ROOT, 'bench/path/load.ts');
const LOOPBACK_ADDRESS = '127.0.0.1';

interface Place {
  readonly name: string;
  readonly host: Host;
  readonly isNear: boolean;
  readonly groups: readonly string[];
  readonly tunnel: TunnelOptions;
}

/** Runs a load on the near machine. */
export async function runLoad<T>(near: string, load: Load, directory: string): Promise<T> {
  await using running = new Process('load', onMachine(near, [process.execPath, LOAD, JSON.stringify(load)]), {
    directory,
  });
  const before = running.output.length;
  while (running.isRunning) await new Promise((resolve) => setTimeout(resolve, 50));
  const output = running.output.slice(before).trim();
  if (running.exitCode !== 0) throw new Error(`a load failed: ${output.slice(-300)}`);
  return JSON.parse(output.split('\n').at(-1) ?? '') as T;
}

/** The services, reached over the path without routers. */
export async function startPlain(directory: string): Promise<PathSubject> {
  const [ports, server] = await startServices('plain TCP', FAR.address, directory);
  return {
    name: 'plain TCP',
    ports: { host: FAR.address, ...ports },
    transitMemory: () => undefined,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Routers of `software` at both ends, and `transit` further ones at the near end. */
export async function startRouters(
  software: Software,
  { near, transit, directory: parent }: { near: string; transit: number; directory: string },
): Promise<PathSubject> {
  const directory = join(parent, software.name);
  mkdirSync(directory);
  await using starting = new AsyncDisposableStack();
  const [targets, server] = await startServices('targets', LOOPBACK_ADDRESS, directory);
  starting.use(server);
  const { address, management } = await software.controller({ directory, started: starting, host: FAR });
  starting.defer(() => management.close());
  const entries = await fixedPorts(SERVICES.length);
  const ports = Object.fromEntries(SERVICES.map((name, index) => [name, entries[index] ?? 0])) as Omit<Ports, 'host'>;
  const ids: string[] = [];
  const between: Process[] = [];
  for (const place of placesOf(transit, ports)) {
    const at = (command: [string, ...string[]]) => (place.isNear ? onMachine(near, command) : command);
    const file = { ...place, controller: address };
    const { id, router } = await startRouter({ software, management, directory, file, at });
    ids.push(id);
    starting.use(router);
    if (place.name.startsWith('transit')) between.push(router);
  }
  const hosted = SERVICES.map((name) => ({ name, port: targets[name], isEncrypted: true }));
  await createServices(management, hosted, ids);
  const reached: Ports = { host: LOOPBACK_ADDRESS, ...ports };
  await untilWorking(`echo through ${software.name}`, async () => {
    const { times } = await runLoad<{ times: number[] }>(
      near,
      { kind: 'circuits', count: 1, atOnce: 1, ports: reached },
      directory,
    );
    return times.length === 1;
  });
  const running = starting.move();
  return {
    name: software.name,
    ports: reached,
    transitMemory: () => (transit > 0 ? Math.max(...between.map((router) => router.usage().resident)) : undefined),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** In a chain, each router links only to its neighbors. */
function placesOf(transit: number, ports: Omit<Ports, 'host'>): Place[] {
  const services = SERVICES.map((name) => `${name}:${ports[name]}`);
  const count = transit + 2;
  return Array.from({ length: count }, (_, index) => {
    const groups = [`hop${index}`, `hop${index + 1}`].slice(index === 0 ? 1 : 0, index === count - 1 ? 1 : 2);
    const isLast = index === count - 1;
    return {
      name: index === 0 ? 'entry' : isLast ? 'exit' : `transit${index}`,
      host: isLast ? FAR : NEAR,
      isNear: !isLast,
      groups,
      tunnel: index === 0 ? { mode: 'proxy', services } : { mode: 'host' },
    };
  });
}

async function startServices(
  name: string,
  host: string,
  directory: string,
): Promise<[Omit<Ports, 'host'>, AsyncDisposable]> {
  const [count = 0, echo = 0, source = 0] = await fixedPorts(SERVICES.length);
  const command = [process.execPath, LOAD, 'serve', host, String(count), String(echo), String(source)] as const;
  const server = new Process(name.replaceAll(' ', '-'), [...command], { directory });
  return [{ count, echo, source }, server];
}

/** Bytes that a device has carried, in both directions. */
export function carried(device: string): number {
  const read = (name: string) => Number(readFileSync(`/sys/class/net/${device}/statistics/${name}_bytes`, 'utf8'));
  return read('rx') + read('tx');
}
