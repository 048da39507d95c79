// Makes a connected socket read into memory that is used again for each read, as the option `onread` of Node's sockets does. Node takes that
// option for connections that are dialed only: neither accepted ones nor server sides of TLS have it, so this sets what the option sets.
// Where a version of Node has other names for it, nothing is changed and the socket goes on with 'data' events.

import type { Socket } from 'node:net';

/** The fields that `onread` sets on a socket. */
interface Reader {
  buffer: symbol;
  callback: symbol;
}

interface Internals {
  _handle?: { useUserBuffer?: (buffer: Buffer) => void } | null;
  [field: symbol]: unknown;
}

/**
 * From now on what arrives is read into `memory` and given to `onData`, valid until it returns; 'data' events bring only what was read
 * before. The socket is paused afterwards. False, and nothing changed, where this is not possible.
 */
export function readInto(socket: Socket, memory: Buffer, onData: (data: Buffer) => void): boolean {
  const internals = socket as unknown as Internals;
  const reader = readerOf(internals);
  const handle = internals._handle;
  if (!reader || typeof handle?.useUserBuffer !== 'function') return false;
  handle.useUserBuffer(memory);
  internals[reader.buffer] = memory;
  internals[reader.callback] = (length: number) => onData(memory.subarray(0, length));
  socket.pause(); // stops a read that has begun: 'data' has to bring what came before
  return true;
}

function readerOf(internals: Internals): Reader | undefined {
  const fields = Object.getOwnPropertySymbols(internals);
  const buffer = fields.find((field) => field.description === 'kBuffer');
  const callback = fields.find((field) => field.description === 'kBufferCb');
  return buffer && callback ? { buffer, callback } : undefined;
}
