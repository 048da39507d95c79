// A TLS connection of an I/O thread as a stream, for protocols that are not frames: HTTP, and what follows it.

import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { RingQueue } from './ring-queue.ts';
import type { ThreadedTls } from './threaded-tls.ts';

/** Bytes that wait for the thread before the writer has to wait. */
const BACKLOG_LIMIT = 64 * 1024;

type Done = (error?: Error | null) => void;

export class ThreadedStream extends Duplex {
  /** Servers of HTTP tell by it that a connection is secure. */
  readonly encrypted = true;
  bytesRead = 0;
  /** The TCP connection. */
  readonly network: Socket;
  readonly #tls: ThreadedTls;
  readonly #queue: RingQueue;
  /** The writer that waits. */
  #written: Done | undefined;

  /** Its handshake is complete. */
  constructor(tls: ThreadedTls) {
    super({ allowHalfOpen: false });
    this.#tls = tls;
    this.network = tls.network;
    this.#queue = tls.openQueue(BACKLOG_LIMIT, () => this.#onWritten());
    tls.on('data', (bytes) => {
      this.bytesRead += bytes.length;
      if (!this.push(Buffer.from(bytes))) tls.pause();
    });
    tls.once('end', () => this.push(null));
    tls.on('error', (error) => this.destroy(error));
    tls.once('close', () => this.destroy());
  }

  /** The certificates of the client, leaf first. */
  get presented(): readonly X509Certificate[] {
    return this.#tls.presented;
  }

  get remoteAddress(): string | undefined {
    return this.network.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.network.remotePort;
  }

  get localAddress(): string | undefined {
    return this.network.localAddress;
  }

  get localPort(): number | undefined {
    return this.network.localPort;
  }

  setNoDelay(isOn?: boolean): this {
    this.network.setNoDelay(isOn);
    return this;
  }

  /** As that of a socket: what was written is sent before. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  override _read(): void {
    this.#tls.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#queue.add(bytes);
    this.#queue.flush();
    if (this.#queue.bytes < BACKLOG_LIMIT) done();
    else this.#written = done;
  }

  override _final(done: Done): void {
    this.#tls.once('finish', () => done());
    this.#tls.end();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#tls.destroy();
    done(error);
  }

  #onWritten(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }
}
