// The thread that waits for intercepted datagrams: Node cannot wait for a socket whose datagrams are read by somebody else. Only
// the first datagrams of a session come through here; those after them come to the session's own socket.

import { parentPort, workerData } from 'node:worker_threads';
import { DatagramReader, waitReadable } from './system-calls.ts';

export interface DatagramThreadData {
  readonly socket: number;
  /** Becomes readable when the thread shall end. */
  readonly stop: number;
  /** How many datagrams the other thread has not taken yet. */
  readonly pending: Int32Array;
  /** More than so many are dropped. */
  readonly mostPending: number;
}

const { socket, stop, pending, mostPending } = workerData as DatagramThreadData;
const reader = new DatagramReader(socket);
for (;;) {
  const [hasDatagrams, isOver] = waitReadable([socket, stop]);
  if (isOver) break;
  if (!hasDatagrams) continue;
  for (let datagram = reader.read(); datagram; datagram = reader.read()) {
    if (Atomics.load(pending, 0) >= mostPending) continue;
    Atomics.add(pending, 0, 1);
    parentPort?.postMessage(datagram);
  }
}
