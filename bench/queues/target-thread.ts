// A TLS listener in a thread of its own, so that its handshakes do not delay the measured queue.

import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { TlsDialer, TlsTarget, type TlsTargetAddress } from './tls-target.ts';

export class TargetThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #dialer: TlsDialer;

  private constructor(worker: Worker, address: TlsTargetAddress) {
    this.#worker = worker;
    this.#dialer = new TlsDialer(address);
  }

  /** @param answerTime Milliseconds that the server lets a dial wait after the handshake. */
  static async open(answerTime: number): Promise<TargetThread> {
    const worker = new Worker(new URL(import.meta.url), { workerData: { answerTime } });
    const [address] = (await once(worker, 'message')) as [TlsTargetAddress];
    return new TargetThread(worker, address);
  }

  /** Resolves when the server has answered. */
  dial(): Promise<void> {
    return this.#dialer.dialAndWait();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

if (!isMainThread && parentPort) {
  const { answerTime } = workerData as { answerTime: number };
  parentPort.postMessage((await TlsTarget.open(answerTime)).address);
}
