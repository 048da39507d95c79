// One TLS connection that carries frames. First the two hellos, message by message; then `start` hands every frame to the
// channel that owns it. Writes of one turn of the event loop leave together. It does not know what the frames mean.

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Clock, Timer } from '#lib/clock.ts';
import { asError, ClosedError, TimeoutError } from '#lib/errors.ts';
import { readInto } from '#lib/read-into.ts';
import type { Frame } from './frame.ts';
import { type FrameLimits, FrameReader, HELLO_LIMITS, WrongMagicError } from './frame-reader.ts';
import { Message } from './message.ts';
import { WriteQueue } from './write-queue.ts';

/** Bytes that may wait to be written before the channel keeps further frames in its own queues. */
const BACKLOG_LIMIT = 256 * 1024;
/** How long a peer may take to read what was written before a close. */
const CLOSE_TIME = 2_000;
/** Answer of a listener to a peer that speaks another version: magic, count 2, versions 1 and 2. */
const VERSIONS_ANSWER = Buffer.from('0306090a020000000100000002000000', 'hex');

/** Bytes of one TLS record, the most that a TLS socket reads at once. */
const READ_SIZE = 16 * 1024;
/** Memory of all connections that reuse it: what is read is used up before the next read begins. */
let sharedRead: Buffer | undefined;

export interface UnderlayOptions {
  socket: Duplex | TLSSocket;
  /** The connection below, when `socket` runs inside another protocol: it knows the addresses. */
  network?: Socket;
  clock: Clock;
  /** `link.default`, `ctrl.high`, …; empty for a connection that is a channel of its own. */
  type?: string;
}

export interface UnderlayOwner {
  onFrame(frame: Frame): void;
  /** There is room again after `writable` was false. */
  onWritable(): void;
}

export class Underlay {
  type: string;
  /** For the channel: orders underlays that take turns. */
  turn = 0;
  readonly socket: Duplex | TLSSocket;
  /** Resolves once, with the reason or null for an orderly close by either side. */
  readonly closed: Promise<Error | null>;
  readonly #network: Partial<Socket>;
  readonly #clock: Clock;
  readonly #reader = new FrameReader(HELLO_LIMITS);
  #owner: UnderlayOwner | undefined;
  #waiting: { resolve(message: Message): void; reject(error: Error): void } | undefined;
  #rest: Buffer | undefined;
  #error: Error | null = null;
  #ended = false;
  #isPaused = false;
  readonly #queue: WriteQueue;
  #isFlushScheduled = false;
  #closeTimer: Timer | undefined;

  constructor(options: UnderlayOptions) {
    this.socket = options.socket;
    this.type = options.type ?? '';
    this.#clock = options.clock;
    this.#network = options.network ?? (this.socket as Partial<Socket>);
    this.#network.setNoDelay?.(true);
    this.#network.setKeepAlive?.(true, 15_000);
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve(this.#onClose())));
    this.socket.on('error', (error: Error) => {
      this.#error ??= error;
    });
    this.socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#queue = new WriteQueue(this.socket, () => this.#owner?.onWritable());
    this.socket.once('end', () => this.close());
  }

  get isClosed(): boolean {
    return this.#ended || this.socket.destroyed;
  }

  /** False while more than the backlog limit waits to be written. */
  get writable(): boolean {
    return !this.#ended && this.#queue.bytes < BACKLOG_LIMIT;
  }

  /** Bytes that wait to be written. */
  get backlog(): number {
    return this.#queue.bytes;
  }

  /** `10.0.0.1:40000`, or an empty text when the connection is gone. */
  get localAddress(): string {
    const { localAddress, localPort } = this.#network;
    return localAddress === undefined ? '' : `${localAddress}:${localPort}`;
  }

  /** The peer's IP address, or an empty text when the connection is gone. */
  get remoteHost(): string {
    return this.#network.remoteAddress ?? '';
  }

  get remoteAddress(): string {
    const { remoteAddress, remotePort } = this.#network;
    return remoteAddress === undefined ? '' : `${remoteAddress}:${remotePort}`;
  }

  /** The next message of the hello exchange. Rejects with TimeoutError, ClosedError or ProtocolError; the connection is closed then. */
  readMessage(what: string, milliseconds: number): Promise<Message> {
    if (this.isClosed) return Promise.reject(this.#error ?? new ClosedError('the connection'));
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(`hello ${what}`, milliseconds, () =>
        this.close(new TimeoutError(what, milliseconds)),
      );
      this.#waiting = {
        resolve: (message) => (timer.cancel(), resolve(message)),
        reject: (error) => (timer.cancel(), reject(error)),
      };
      this.#resume();
    });
  }

  /**
   * From now on every frame goes to `owner`; sizes up to `limits`. With `reuseMemory` a frame is valid only during the call that hands it
   * over: the next one lies in the same memory.
   */
  start(owner: UnderlayOwner, limits: FrameLimits, reuseMemory = false): void {
    this.#owner = owner;
    this.#reader.limits = limits;
    this.#reader.reuseMemory = reuseMemory;
    if (reuseMemory) {
      sharedRead ??= Buffer.allocUnsafeSlow(READ_SIZE);
      readInto(this.socket as Socket, sharedRead, (chunk) => this.#onData(chunk));
    }
    this.#resume();
  }

  /** Without reading, nothing more reaches the owner, and the peer's bytes stay in the buffers of the network. */
  setReading(isReading: boolean): void {
    this.#isPaused = !isReading;
    if (isReading) this.#resume();
    else this.socket.pause();
  }

  /** Queues a copy of the bytes; everything queued in one turn is written at its end. */
  write(head: Buffer, body?: Buffer): void {
    if (this.#ended) return;
    this.#queue.add(head);
    if (body !== undefined && body.length > 0) this.#queue.add(body);
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    process.nextTick(() => {
      this.#isFlushScheduled = false;
      if (!this.#ended) this.#queue.flush();
    });
  }

  /** Lets what was written leave, for a bounded time, and ends the connection. With a reason it ends at once. */
  close(reason: Error | null = null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error ??= reason;
    this.#rest = undefined;
    this.#reject(this.#error ?? new ClosedError('the connection'));
    if (reason) {
      this.socket.destroy();
      return;
    }
    this.#queue.end();
    this.socket.end();
    this.#closeTimer = this.#clock.after('underlay close', CLOSE_TIME, () => this.socket.destroy());
    if (this.socket.writableFinished) this.socket.destroy();
    else this.socket.once('finish', () => this.socket.destroy());
  }

  /** Answers a peer of another protocol version and closes. */
  refuseVersion(): void {
    this.write(VERSIONS_ANSWER);
    this.close();
  }

  #onData(chunk: Buffer): void {
    if (this.#ended) return; // the socket may still deliver what arrived before the close
    if (this.#isPaused || (!this.#owner && !this.#waiting)) {
      this.#hold(this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk);
      return;
    }
    try {
      const rest = this.#reader.push(chunk, (frame) => this.#onFrame(frame));
      if (rest) this.#hold(rest);
    } catch (error) {
      // The listener still answers a peer of another protocol version, so its connection stays open for that.
      if (error instanceof WrongMagicError && this.#waiting) this.#reject(error);
      else this.close(asError(error));
    }
  }

  #onFrame(frame: Frame): boolean {
    if (this.#owner) {
      this.#owner.onFrame(frame);
      return !this.#ended && !this.#isPaused;
    }
    // One message at a time before `start`: what follows the hello belongs to the channel and to its limits.
    const message = Message.fromFrame(frame); // throws before the reader is forgotten: `close` rejects it then
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(message);
    return false;
  }

  #reject(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }

  #resume(): void {
    if (this.#isPaused) return;
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest) this.#onData(rest);
    if (!this.#rest && !this.#isPaused && !this.isClosed) this.socket.resume();
  }

  #hold(rest: Buffer): void {
    if (this.#ended) return; // a frame of this chunk closed the connection
    this.#rest = rest;
    this.socket.pause();
  }

  #onClose(): Error | null {
    this.#ended = true;
    this.#closeTimer?.cancel();
    this.#reject(this.#error ?? new ClosedError('the connection'));
    return this.#error;
  }
}
