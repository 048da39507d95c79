// Ports for programs that need a fixed one: free at the time of the check.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The system gives ports above this range to programs that leave the choice to it, and to outgoing connections: Linux
 * from 32768, others from 49152. A port below stays free until its program starts.
 */
const FIRST = 10_000;
const END = 32_768;
/** Attempts for each port. */
const MOST_ATTEMPTS = 100;

/** Ports that this process has returned. */
const taken = new Set<number>();

/** Returns this many free ports of the loopback address, none of them twice. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}

async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, END);
    if (taken.has(port)) continue;
    taken.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port of 127.0.0.1 was found in ${MOST_ATTEMPTS} attempts`);
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
