// Receives intercepted datagrams on one transparent socket, in a separate thread, and reports their original
// destinations.

import { Worker } from 'node:worker_threads';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
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
const MAX_PENDING = 512;

/** Milliseconds until a thread that ended unexpectedly is replaced. */
const RESTART = 1_000;

export interface DatagramReceiverComponents {
  clock: Clock;
  log: Log;
}

export class DatagramReceiver {
  readonly port: number;
  readonly #components: DatagramReceiverComponents;
  readonly #socket: number;
  readonly #stop: number;
  readonly #onDatagram: (datagram: ReceivedDatagram) => void;
  #ended: Promise<void>;
  #restart: Timer | undefined;
  #isClosing = false;

  private constructor(
    components: DatagramReceiverComponents,
    { socket, stop }: { socket: number; stop: number },
    onDatagram: (datagram: ReceivedDatagram) => void,
  ) {
    this.#components = components;
    this.#socket = socket;
    this.#stop = stop;
    this.#onDatagram = onDatagram;
    this.port = boundAddress(socket).port;
    this.#ended = this.#start();
  }

  /** Listens on a free port of `host`. @throws SystemCallError */
  static open(
    components: DatagramReceiverComponents,
    host: string,
    onDatagram: (datagram: ReceivedDatagram) => void,
  ): DatagramReceiver {
    const opened: number[] = [];
    try {
      const socket = openTransparentReceiver({ host, port: 0 });
      opened.push(socket);
      const stop = openEvent();
      opened.push(stop);
      return new DatagramReceiver(components, { socket, stop }, onDatagram);
    } catch (error) {
      for (const descriptor of opened) closeDescriptor(descriptor);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#restart?.cancel();
    signalEvent(this.#stop);
    await this.#ended;
    closeDescriptor(this.#socket);
    closeDescriptor(this.#stop);
  }

  /** Starts the thread. Resolves when it has ended. */
  #start(): Promise<void> {
    const pending = new Int32Array(new SharedArrayBuffer(4));
    const workerData: DatagramThreadData = {
      socket: this.#socket,
      stop: this.#stop,
      pending,
      maxPending: MAX_PENDING,
    };
    const worker = new Worker(THREAD, { workerData });
    worker.on('message', ({ data, source, destination }: ReceivedDatagram) => {
      Atomics.sub(pending, 0, 1);
      this.#onDatagram({ data: Buffer.from(data.buffer, data.byteOffset, data.byteLength), source, destination });
    });
    let problem: string | undefined;
    worker.on('error', (error) => {
      problem = describeError(error);
    });
    return new Promise((resolve) =>
      worker.once('exit', (code) => {
        if (!this.#isClosing) this.#startAgain(problem ?? `exit code ${code}`);
        resolve();
      }),
    );
  }

  /** The socket stays open, and keeps some datagrams meanwhile. */
  #startAgain(error: string): void {
    const { clock, log } = this.#components;
    log.error({ error, retryIn: RESTART }, 'thread for intercepted datagrams ended, restarting');
    this.#restart = clock.after('datagram thread', RESTART, () => {
      this.#ended = this.#start();
    });
  }
}
