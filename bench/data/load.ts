// The loads: traffic of clients at the port of a service.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const CHUNK = Buffer.alloc(64 * 1024, 7);
const MIB = 1024 * 1024;
/** Milliseconds without progress after which a connection counts as stuck. */
const STUCK_AFTER = 500;
/** Milliseconds without progress after which a load fails. */
const MAX_SILENCE_MS = 60_000;

/** Sends this amount over several parallel connections; returns MiB per second of all together. */
export async function push(port: number, mib: number, connections: number): Promise<number> {
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, () => pushOne(port, mib * MIB)));
  return (connections * mib * 1_000) / (performance.now() - started);
}

async function pushOne(port: number, bytes: number): Promise<void> {
  const socket = await open(port);
  const announcement = Buffer.alloc(8);
  announcement.writeBigUInt64BE(BigInt(bytes));
  const send = async () => {
    socket.write(announcement);
    for (let sent = 0; sent < bytes; sent += CHUNK.length) if (!socket.write(CHUNK)) await next(socket, 'drain');
  };
  try {
    await Promise.all([next(socket, 'data'), send()]);
  } finally {
    socket.destroy();
  }
}

/** Milliseconds of each of `count` round trips of one byte, sorted. The first ones are not counted. */
export async function roundTrips(port: number, count: number): Promise<number[]> {
  const socket = await open(port);
  const times: number[] = [];
  try {
    for (let each = -count / 10; each < count; each++) {
      const started = performance.now();
      await roundTrip(socket);
      if (each >= 0) times.push(performance.now() - started);
    }
  } finally {
    socket.destroy();
  }
  return times.sort((a, b) => a - b);
}

/** Opens and closes connections with one round trip each, some in parallel; returns their number per second. */
export async function circuits(port: number, count: number, atOnce: number): Promise<number> {
  let left = count;
  const started = performance.now();
  const worker = async () => {
    while (left-- > 0) (await openAndProve(port)).destroy();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (count * 1_000) / (performance.now() - started);
}

/** Returns idle connections that did one round trip each. */
export async function idle(port: number, count: number, atOnce: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  let left = count;
  const worker = async () => {
    while (left-- > 0) sockets.push((await openAndProve(port)).setTimeout(0));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return sockets;
}

/** A connection that is written to as fast as possible, until it is destroyed. */
export async function saturate(port: number): Promise<Socket> {
  const socket = (await open(port)).setTimeout(0); // a stuck one makes no progress
  const announcement = Buffer.alloc(8);
  announcement.writeBigUInt64BE(BigInt(Number.MAX_SAFE_INTEGER));
  socket.write(announcement);
  const write = () => {
    while (!socket.destroyed && socket.write(CHUNK));
  };
  socket.on('drain', write);
  write();
  return socket;
}

/** The same, to a reader that never reads: resolves when no further bytes are accepted. */
export async function block(port: number): Promise<Socket> {
  const socket = await saturate(port);
  for (let before = -1; before !== socket.bytesWritten - socket.writableLength; ) {
    before = socket.bytesWritten - socket.writableLength;
    await new Promise((resolve) => setTimeout(resolve, STUCK_AFTER));
  }
  if (socket.destroyed) throw new Error('the connection that should be stuck was closed by its peer');
  return socket;
}

async function openAndProve(port: number): Promise<Socket> {
  const socket = await open(port);
  try {
    await roundTrip(socket);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return socket;
}

async function roundTrip(socket: Socket): Promise<void> {
  const answered = next(socket, 'data');
  socket.write('x');
  await answered;
}

/** Waits for an event. Rejects if the connection ends first. */
function next(socket: Socket, event: 'data' | 'drain'): Promise<void> {
  return new Promise((resolve, reject) => {
    const onEvent = () => {
      socket.off('close', onClose);
      resolve();
    };
    const onClose = () => reject(socket.errored ?? new Error('a connection of the load was closed by its peer'));
    socket.once(event, onEvent).once('close', onClose);
    if (socket.closed) onClose();
  });
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  socket.setTimeout(MAX_SILENCE_MS, () => socket.destroy(new Error(`no progress within ${MAX_SILENCE_MS} ms`)));
  socket.on('error', () => undefined); // the waiting load reports it
  return socket;
}
