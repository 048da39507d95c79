// Receives intercepted datagrams on one transparent socket, in a separate thread, and reports their original
// destinations.

import { Worker } from 'node:worker_threads';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { DatagramThreadData } from './datagram-thread.ts';
import {
  boundAddress,
  closeDescriptor,
  openEvent,
  openTransparentReceiver,
  type ReceivedDatagram,
  signalEvent,
} from './system-calls.ts';

const THREAD = new URL('./datagram-thread.ts', import.meta.url);
/** Datagrams queued between the two threads; further ones are dropped, so that a flood cannot fill the memory. */
const MOST_PENDING = 512;

export class DatagramReceiver {
  readonly port: number;
  readonly #socket: number;
  readonly #stop: number;
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;

  private constructor(
    log: Log,
    { socket, stop }: { socket: number; stop: number },
    onDatagram: (datagram: ReceivedDatagram) => void,
  ) {
    this.#socket = socket;
    this.#stop = stop;
    this.port = boundAddress(socket).port;
    const pending = new Int32Array(new SharedArrayBuffer(4));
    const workerData: DatagramThreadData = {
      socket: this.#socket,
      stop: this.#stop,
      pending,
      mostPending: MOST_PENDING,
    };
    this.#worker = new Worker(THREAD, { workerData });
    this.#worker.on('message', ({ data, source, destination }: ReceivedDatagram) => {
      Atomics.sub(pending, 0, 1);
      onDatagram({ data: Buffer.from(data.buffer, data.byteOffset, data.byteLength), source, destination });
    });
    this.#worker.on('error', (error) => log.error({ error: describeError(error) }, 'datagram thread failed'));
    this.#ended = new Promise((resolve) => this.#worker.once('exit', resolve));
  }

  /** Listens on a free port of `host`. @throws SystemCallError */
  static open(log: Log, host: string, onDatagram: (datagram: ReceivedDatagram) => void): DatagramReceiver {
    const opened: number[] = [];
    try {
      const socket = openTransparentReceiver({ host, port: 0 });
      opened.push(socket);
      const stop = openEvent();
      opened.push(stop);
      return new DatagramReceiver(log, { socket, stop }, onDatagram);
    } catch (error) {
      for (const descriptor of opened) closeDescriptor(descriptor);
      throw error;
    }
  }

  async close(): Promise<void> {
    signalEvent(this.#stop);
    await this.#ended;
    closeDescriptor(this.#socket);
    closeDescriptor(this.#stop);
  }
}
