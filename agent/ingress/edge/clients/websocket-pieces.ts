// The bytes of a WebSocket for the TLS inside of it, in pieces: a message may have a MiB of small records, and each
// takes time. Until the client is accepted, each piece waits for a turn of its source, like those of other ports
// (common/wire/connection/stranger-reads.ts).

import { Duplex } from 'node:stream';
import { type StrangerSocket, strangers } from '#lib/net/strangers.ts';

/** Bytes that TLS gets at once. */
const PIECE_BYTES = 16 * 1024;

/** `network` is the connection that carries the WebSocket of `stream`. */
export function inPieces(stream: Duplex, network: StrangerSocket): Duplex {
  let isAccepted = false;
  /** A message is read in pieces. */
  let isReading = false;
  strangers.onAccepted(network, () => {
    isAccepted = true;
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
    if (isAccepted) pass(message);
    else strangers.run(network, () => pass(message));
  };
  stream.on('data', (message: Buffer) => {
    stream.pause();
    isReading = true;
    next(message);
  });
  stream.once('end', () => pieces.push(null)).once('close', () => pieces.destroy());
  return pieces;
}
