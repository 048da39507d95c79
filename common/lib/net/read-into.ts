// Makes a connected socket read into memory that is reused for each read, like the option `onread` of Node's sockets.
// Node supports that option for dialed connections only, not for accepted ones or server sides of TLS, so this code
// sets the same fields. If a Node version names these fields differently, nothing changes and the socket keeps its
// 'data' events.

import type { Duplex } from 'node:stream';

/** Bytes of one TLS record, the maximum that a TLS socket reads at once. */
const TLS_READ_SIZE = 16 * 1024;
/** Shared by all connections of this thread: each read is processed before the next one begins. */
let tlsMemory: Buffer | undefined;

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
 * From now on received bytes are read into `memory` and passed to `onData`, valid until it returns; 'data' events
 * deliver only bytes that were read before. The socket is paused afterwards. Returns false, without any change, if the
 * socket does not support this.
 */
export function readInto(socket: Duplex, memory: Buffer, onData: (data: Buffer) => void): boolean {
  const internals = socket as unknown as Internals;
  const reader = readerOf(internals);
  const handle = internals._handle;
  if (!reader || typeof handle?.useUserBuffer !== 'function') return false;
  handle.useUserBuffer(memory);
  internals[reader.buffer] = memory;
  internals[reader.callback] = (length: number) => onData(memory.subarray(0, length));
  socket.pause(); // stops a started read: 'data' delivers the bytes before
  return true;
}

/** The same for a TLS socket, into memory that all TLS sockets of this thread share. */
export function readTls(socket: Duplex, onData: (data: Buffer) => void): boolean {
  tlsMemory ??= Buffer.allocUnsafeSlow(TLS_READ_SIZE);
  return readInto(socket, tlsMemory, onData);
}

function readerOf(internals: Internals): Reader | undefined {
  const fields = Object.getOwnPropertySymbols(internals);
  const buffer = fields.find((field) => field.description === 'kBuffer');
  const callback = fields.find((field) => field.description === 'kBufferCb');
  return buffer && callback ? { buffer, callback } : undefined;
}
