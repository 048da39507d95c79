// The thread that waits for intercepted datagrams: Node cannot poll a socket that other code reads. Only the first
// datagrams of a session arrive here; later ones arrive at the session's own socket.

import { parentPort, workerData } from 'node:worker_threads';
import { DatagramReader, waitReadable } from './system-calls.ts';

export interface DatagramThreadData {
  readonly socket: number;
  /** Becomes readable when the thread must end. */
  readonly stop: number;
  /** Number of datagrams that the other thread has not read yet. */
  readonly pending: Int32Array;
  /** Limit on pending datagrams; further ones are dropped. */
  readonly maxPending: number;
}

const { socket, stop, pending, maxPending } = workerData as DatagramThreadData;
const reader = new DatagramReader(socket);
for (;;) {
  const [hasDatagrams, isOver] = waitReadable([socket, stop]);
  if (isOver) break;
  if (!hasDatagrams) continue;
  for (let datagram = reader.read(); datagram; datagram = reader.read()) {
    if (Atomics.load(pending, 0) >= maxPending) continue;
    Atomics.add(pending, 0, 1);
    parentPort?.postMessage(datagram);
  }
}
