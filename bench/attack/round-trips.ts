// Light or bulk traffic over one circuit, for a while.

import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE = 2;
/** Milliseconds without an answer after which the measurement fails. */
const PATIENCE = 30_000;
/** Round trips that do not count. */
const WARM_UP = 3;

/** Milliseconds of the round trips of one byte, over a new circuit. Rejects if the circuit ends. */
export async function roundTripsFor(port: number, milliseconds: number): Promise<number[]> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  socket.setTimeout(PATIENCE, () => socket.destroy(new Error(`no answer within ${PATIENCE} ms`)));
  const ended = new Promise<never>((_resolve, reject) => {
    socket.once('end', () => reject(new Error('the circuit ended'))).once('error', reject);
  });
  ended.catch(() => undefined); // it is watched below
  try {
    await Promise.race([once(socket, 'connect'), ended]);
    const times: number[] = [];
    const end = performance.now() + milliseconds;
    for (let index = -WARM_UP; performance.now() < end || index <= 0; index++) {
      const began = performance.now();
      socket.write('x');
      await Promise.race([once(socket, 'data'), ended]);
      if (index >= 0) times.push(performance.now() - began);
      await sleep(PAUSE);
    }
    return times;
  } finally {
    socket.destroy();
  }
}

const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** Mbit/s that come back over a new circuit which carries as much as it can. */
export async function transferFor(port: number, milliseconds: number): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1' });
  let received = 0;
  socket
    .on('error', () => undefined)
    .on('data', ({ length }) => {
      received += length;
    });
  const fill = () => {
    while (socket.writable && socket.write(CHUNK));
  };
  socket.on('drain', fill).once('connect', fill);
  const began = performance.now();
  await sleep(milliseconds);
  const rate = (received * 8) / 1_000 / (performance.now() - began);
  socket.destroy();
  return rate;
}
