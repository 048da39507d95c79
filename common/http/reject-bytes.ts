// Answers to bytes that are not a request. Without a handler, node:http writes an answer and destroys the connection,
// and the answer is lost if an earlier write of TLS has not ended yet.

import type { Duplex } from 'node:stream';

/** Answers bytes that are not HTTP with a plain 400, and large headers with a plain 431, and ends the connection. */
export function rejectBytes({ code }: Error & { code?: string }, socket: Duplex): void {
  const status = code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}
