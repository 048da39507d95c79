// Ports that must be known before anybody listens there: of a listener that comes back at its address after a restart,
// and of a program that cannot say which port the system chose. Everything else listens on port 0 and is asked for its
// port. test/house/ports.test.ts lists who may use fixed ports, and why.

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { errorCode } from '#lib/errors.ts';

/** Nobody listens there: the port needs a privilege, and no program uses it. */
export const CLOSED_PORT = 1;

const HOST = '127.0.0.1';
/**
 * The system gives ports above this range to programs that leave the choice to it, and to outgoing connections: Linux
 * from 32768, others from 49152. A port below stays free until its program starts.
 */
const FIRST = 10_000;
const END = 32_768;
/**
 * A process listens on the first port of a block, and has the others: no other process gets them. The system ends the
 * claim with the process, however that ends.
 */
const BLOCK_SIZE = 16;
const BLOCKS = Math.floor((END - FIRST) / BLOCK_SIZE);
const MAX_ATTEMPTS = 100;

/** Ports of claimed blocks that nobody has got. */
const left: number[] = [];
let claiming: Promise<void> | undefined;
/** Ports of simulators by the files of their data. */
const ofData = new Map<string, Promise<number[]>>();

/** Returns this many ports of the loopback address, none of them twice. They are free, and belong to this process. */
export async function fixedPorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = left.shift();
    if (port === undefined) {
      claiming ??= claimBlock();
      await claiming;
      claiming = undefined;
    } else if (await isFree(port)) ports.push(port);
  }
  return ports;
}

/** The options of a simulator with stored data: each start on the same file has the same port, which routers know. */
export async function atItsPort<Options extends { readonly data?: string; readonly port?: number }>(
  options: Options,
): Promise<Options> {
  const { data, port } = options;
  if (data === undefined || port !== undefined) return options;
  const known = ofData.get(data) ?? fixedPorts(1);
  ofData.set(data, known);
  return { ...options, port: (await known)[0] };
}

async function claimBlock(): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const first = FIRST + randomInt(BLOCKS) * BLOCK_SIZE;
    const claim = await listen(first);
    if (!claim) continue;
    claim.unref();
    for (let port = first + 1; port < first + BLOCK_SIZE; port++) left.push(port);
    return;
  }
  throw new Error(`no free block of ports of ${HOST} was found in ${MAX_ATTEMPTS} attempts`);
}

/** Another program may use a port that it has chosen itself, for TCP or for UDP. */
async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (!server) return false;
  const socket = createSocket('udp4');
  try {
    const bound = once(socket, 'listening');
    socket.bind(port, HOST);
    await bound;
    return true;
  } catch {
    return false;
  } finally {
    socket.close();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Undefined if the port is in use. Rejects with the system's error if no port is available. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    const listening = once(server, 'listening');
    server.listen(port, HOST);
    await listening;
    return server;
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
}
