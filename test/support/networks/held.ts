// A connection to an echo server through the network, which stays open while controllers come and go.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../until.ts';

export class Held {
  readonly #socket: Socket;
  readonly #sentHash = createHash('sha256');
  readonly #receivedHash = createHash('sha256');
  #received = 0;
  #sent = 0;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
      this.#receivedHash.update(chunk);
    });
    this.#socket.on('error', () => undefined); // seen as the end
  }

  /** Sends random bytes. Resolves when they have come back; rejects if the connection has ended, or returns others. */
  async pings(when: string, bytes = 4): Promise<void> {
    const data = randomBytes(bytes);
    this.#sent += bytes;
    this.#sentHash.update(data);
    this.#socket.write(data);
    await until(`the connection ${when}`, () => {
      if (this.#socket.destroyed) throw new Error(`the connection has ended ${when}`);
      return this.#received >= this.#sent;
    });
    const [sent, received] = [this.#sentHash, this.#receivedHash].map((hash) => hash.copy().digest('hex'));
    if (sent !== received) throw new Error(`the connection returned other bytes ${when}`);
  }

  /** Ends its side, and resolves when the other side has ended too. */
  async end(): Promise<void> {
    const closed = once(this.#socket, 'close');
    this.#socket.end();
    await closed;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
