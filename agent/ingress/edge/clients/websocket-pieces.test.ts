// Pieces of a WebSocket that wait for the turn of their source.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { UnauthenticatedCpu } from '#lib/net/unauthenticated-cpu.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { inPieces } from './websocket-pieces.ts';

/** More than one piece. */
const MESSAGE = randomBytes(40_000);

/** A stream whose first piece waits, because its source rests. */
async function waitingPiece(remoteAddress: string) {
  const network = { remoteAddress };
  const unauthenticatedCpu = new UnauthenticatedCpu({ clock: new VirtualClock() });
  unauthenticatedCpu.punish(network);
  const stream = new PassThrough({ highWaterMark: MESSAGE.length });
  const pieces = inPieces(stream, network, unauthenticatedCpu);
  const received: Buffer[] = [];
  pieces.on('data', (piece: Buffer) => received.push(piece));
  stream.write(MESSAGE);
  await new Promise(setImmediate);
  return { unauthenticatedCpu, network, stream, pieces, received };
}

t.test('a piece that waits when its client is accepted does not wait any longer', async (t) => {
  const { unauthenticatedCpu, network, stream, pieces, received } = await waitingPiece('127.0.8.1');
  t.equal(unauthenticatedCpu.waiting, 1);
  unauthenticatedCpu.accept(network);
  t.equal(unauthenticatedCpu.waiting, 0);
  stream.end('the end');
  await once(pieces, 'end');
  t.same(Buffer.concat(received), Buffer.concat([MESSAGE, Buffer.from('the end')]));
});

t.test('nothing of a closed stream waits for a turn', async (t) => {
  const { unauthenticatedCpu, stream, pieces, received } = await waitingPiece('127.0.8.2');
  t.equal(unauthenticatedCpu.waiting, 1);
  stream.destroy();
  await once(pieces, 'close');
  t.equal(unauthenticatedCpu.waiting, 0);
  t.equal(received.length, 0);
});
