// The bytes of a WebSocket for the TLS inside of it, in pieces: a message may have a MiB of small records, and each
// takes time. Until the client is accepted, each piece waits for a turn of its source, like those of other ports
// (common/wire/connection/stranger-reads.ts).

import { Duplex } from 'node:stream';
import type { UnauthenticatedCpu, UnauthenticatedSocket } from '#lib/net/unauthenticated-cpu.ts';

/** Bytes that TLS gets at once. */
const PIECE_BYTES = 16 * 1024;

/** `network` is the connection that carries the WebSocket of `stream`. */
export function inPieces(
  stream: Duplex,
  network: UnauthenticatedSocket,
  unauthenticatedCpu: UnauthenticatedCpu,
): Duplex {
  let isAccepted = false;
  /** A message is read in pieces. */
  let isReading = false;
  /** Waits for its turn. */
  let waiting: Buffer | undefined;
  let prevent: (() => boolean) | undefined;
  unauthenticatedCpu.onAccepted(network, () => {
    isAccepted = true;
    prevent?.();
    takeTurn();
  });
  const pieces = new Duplex({
    read: () => void (isReading || stream.resume()),
    write: (chunk, _encoding, done) => void stream.write(chunk, done),
    final: (done) => void stream.end(done),
    destroy: (error, done) => void (stream.destroy(), done(error)),
  });
  const pass = (message: Buffer) => {
    if (pieces.destroyed) return;
    const rest = message.subarray(PIECE_BYTES);
    isReading = rest.length > 0;
    const isWanted = pieces.push(message.subarray(0, PIECE_BYTES));
    if (isReading) next(rest);
    else if (isWanted) stream.resume();
  };
  const next = (message: Buffer) => {
    waiting = message;
    if (isAccepted) {
      takeTurn();
      return;
    }
    const preventThis = unauthenticatedCpu.run(network, takeTurn);
    if (waiting === message) prevent = preventThis; // else its turn was at once, and perhaps the next piece waits
  };
  function takeTurn(): void {
    const message = waiting;
    waiting = undefined;
    if (message) pass(message);
  }
  stream.on('data', (message: Buffer) => {
    stream.pause();
    isReading = true;
    next(message);
  });
  stream.once('end', () => pieces.push(null)).once('close', () => pieces.destroy());
  pieces.once('close', () => {
    prevent?.();
    waiting = undefined;
  });
  return pieces;
}
