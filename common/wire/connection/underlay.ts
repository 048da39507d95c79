// One TLS connection that carries frames. First it exchanges the two hellos message by message; then `start` passes
// every frame to the channel that owns it. Frames that follow each other closely are written together
// (flush-schedule.ts). It does not interpret frames.

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { asError, ClosedError, TimeoutError } from '#lib/errors.ts';
import type { FlushSchedule } from '#lib/net/flush-schedule.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { readTls } from '#lib/net/read-into.ts';
import { type TcpSensor, tcpSensor } from '#lib/net/tcp-info.ts';
import type { Timer } from '#lib/time/clock.ts';
import type { Frame } from '../frame.ts';
import { Message } from '../message.ts';
import { type FrameLimits, FrameReader, HELLO_LIMITS, WrongMagicError } from './frame-reader.ts';
import { ThreadedTls, type TlsConnection } from './threads/threaded-tls.ts';
import { type ByteQueue, WriteQueue } from './write-queue.ts';
import { WriteWatch } from './write-watch.ts';

/** Bytes waiting to be written before the channel keeps further frames in its own queues. */
const BACKLOG_LIMIT = 256 * 1024;
/** Milliseconds that a peer may take to read the remaining bytes before the connection is closed. */
const CLOSE_TIME = 2_000;
/** Bytes that fill a TLS record; they do not wait for others. */
const BULK = 16 * 1024;
/** Answer of a listener to a peer with another protocol version: magic, count 2, versions 1 and 2. */
const VERSIONS_ANSWER = Buffer.from('0306090a020000000100000002000000', 'hex');

export interface UnderlayOptions {
  /** TLS, or a stream inside another protocol. */
  socket: Duplex | TlsConnection;
  /** The connection below, if `socket` runs inside another protocol: it has the addresses. */
  network?: Socket;
  io: IoContext;
  /** `link.default`, `ctrl.high`, …; empty for an ungrouped connection. */
  type?: string;
}

export interface UnderlayUse {
  /** Limit on the sizes of frames. */
  readonly limits: FrameLimits;
  /** A frame is valid only during the call: the next one uses the same memory. */
  readonly reuseMemory?: boolean | undefined;
  /** Milliseconds after which a write that is still in progress closes the connection; 0: no limit. */
  readonly writeTimeout?: number | undefined;
}

export interface UnderlayOwner {
  onFrame(frame: Frame): void;
  /** Called when the queue has room again after `writable` was false. */
  onWritable(): void;
}

export class Underlay {
  type: string;
  /** Resolves once, with the reason, or with null for an orderly close by either side. */
  readonly closed: Promise<Error | null>;
  readonly #socket: Pick<
    Duplex,
    'destroyed' | 'destroy' | 'on' | 'once' | 'pause' | 'resume' | 'end' | 'writableFinished'
  >;
  readonly #threaded: ThreadedTls | undefined;
  readonly #network: Partial<Socket>;
  readonly #io: IoContext;
  readonly #flushes: FlushSchedule;
  readonly #reader = new FrameReader(HELLO_LIMITS);
  #owner: UnderlayOwner | undefined;
  #waiting: { resolve(message: Message): void; reject(error: Error): void } | undefined;
  #rest: Buffer | undefined;
  #error: Error | null = null;
  #ended = false;
  #isPaused = false;
  /** The peer ended the connection. */
  #hasEnd = false;
  readonly #queue: ByteQueue;
  #sensor: TcpSensor | undefined;
  #isFlushScheduled = false;
  #isBulkFlushScheduled = false;
  readonly #flushSmall = () => {
    this.#isFlushScheduled = false;
    this.#flush();
  };
  readonly #flushBulk = () => {
    this.#isBulkFlushScheduled = false;
    this.#flush();
  };
  #closeTimer: Timer | undefined;

  constructor(options: UnderlayOptions) {
    const { socket } = options;
    const threaded = socket instanceof ThreadedTls ? socket : undefined;
    this.#threaded = threaded;
    this.#socket = socket as Duplex;
    this.type = options.type ?? '';
    this.#io = options.io;
    this.#flushes = options.io.flushes;
    this.#network = options.network ?? threaded?.network ?? (socket as Partial<Socket>);
    this.#network.setNoDelay?.(true);
    this.#network.setKeepAlive?.(true, 15_000);
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve(this.#onClose())));
    this.#socket.on('error', (error: Error) => {
      this.#error ??= error;
    });
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    const onWritten = () => this.#owner?.onWritable();
    this.#queue =
      threaded?.openQueue(BACKLOG_LIMIT, onWritten) ?? new WriteQueue(socket as Duplex, this.#io.buffers, onWritten);
    this.#socket.once('end', () => this.#onEnd());
  }

  /** An I/O thread carries the bytes: each way costs some microseconds more, and this thread little. */
  get isThreaded(): boolean {
    return this.#threaded !== undefined;
  }

  get isClosed(): boolean {
    return this.#ended || this.#socket.destroyed;
  }

  /** False while more bytes than the backlog limit wait to be written. */
  get writable(): boolean {
    return !this.#ended && this.#queue.bytes < BACKLOG_LIMIT;
  }

  /** Small frames wait for a write that has not begun; a further one costs no system call of its own. */
  get isGathering(): boolean {
    return this.#isFlushScheduled && !this.isClosed && !this.#queue.isWriting && this.#queue.bytes < BULK;
  }

  /** Bytes that wait to be written. */
  get backlog(): number {
    return this.#queue.bytes;
  }

  /** Reads the system's state of the connection; undefined where the system does not tell it. */
  get tcpSensor(): TcpSensor | undefined {
    this.#sensor ??= tcpSensor(this.#network);
    return this.#sensor;
  }

  /** `10.0.0.1:40000`; empty if the connection is closed. */
  get localAddress(): string {
    const { localAddress, localPort } = this.#network;
    return localAddress === undefined ? '' : `${localAddress}:${localPort}`;
  }

  /** The peer's IP address; empty if the connection is closed. */
  get remoteHost(): string {
    return this.#network.remoteAddress ?? '';
  }

  get remoteAddress(): string {
    const { remoteAddress, remotePort } = this.#network;
    return remoteAddress === undefined ? '' : `${remoteAddress}:${remotePort}`;
  }

  /**
   * The next message of the hello exchange. Rejects with TimeoutError, ClosedError or ProtocolError, and closes the
   * connection.
   */
  readMessage(what: string, milliseconds: number): Promise<Message> {
    if (this.isClosed) return Promise.reject(this.#error ?? new ClosedError('the connection'));
    return new Promise((resolve, reject) => {
      const timer = this.#io.clock.after(`hello ${what}`, milliseconds, () =>
        this.close(new TimeoutError(what, milliseconds)),
      );
      this.#waiting = {
        resolve: (message) => (timer.cancel(), resolve(message)),
        reject: (error) => (timer.cancel(), reject(error)),
      };
      this.#resume();
    });
  }

  /** Passes every frame to `owner` from now on. */
  start(owner: UnderlayOwner, { limits, reuseMemory = false, writeTimeout = 0 }: UnderlayUse): void {
    this.#owner = owner;
    this.#reader.limits = limits;
    this.#reader.buffers = reuseMemory ? this.#io.buffers : undefined;
    if (writeTimeout > 0) {
      const late = () => this.close(new TimeoutError(`a write to ${this.remoteAddress}`, writeTimeout));
      this.#queue.watch = new WriteWatch(this.#io.clock, writeTimeout, late, () => this.#queue.look?.());
    }
    if (this.#threaded) this.#threaded.accept();
    else if (reuseMemory) {
      readTls(this.#socket as Socket, (chunk) => this.#onData(chunk));
    }
    this.#resume();
  }

  /**
   * Pauses or resumes reading. While paused, the owner receives nothing, and the peer's bytes stay in the network
   * buffers. When the peer ends the connection, the owner receives the bytes that were already read.
   */
  setReading(isReading: boolean): void {
    this.#isPaused = !isReading && !this.#hasEnd;
    if (isReading) this.#resume();
    else this.#socket.pause();
  }

  /** Queues a copy of the bytes; they are written soon, small ones together with others that follow closely. */
  write(head: Buffer, body?: Buffer): void {
    if (this.#ended) return;
    this.#queue.add(head);
    if (body !== undefined && body.length > 0) this.#queue.add(body);
    if (this.#queue.bytes >= BULK) {
      if (this.#isBulkFlushScheduled) return;
      this.#isBulkFlushScheduled = true;
      process.nextTick(this.#flushBulk);
    } else if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      this.#flushes.add(this.#flushSmall);
    }
  }

  /** Bytes wait for this connection, and the peer's system has acknowledged nothing for so many milliseconds. */
  noteUnacknowledged(milliseconds: number): void {
    this.#queue.watch?.noteUnacknowledged(milliseconds);
  }

  /** Writes the remaining bytes within a bounded time, then ends the connection. With a reason it ends at once. */
  close(reason: Error | null = null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error ??= reason;
    this.#rest = undefined;
    this.#queue.watch?.close();
    this.#reject(this.#error ?? new ClosedError('the connection'));
    if (reason) {
      this.#socket.destroy();
      return;
    }
    this.#queue.end();
    this.#socket.end();
    this.#closeTimer = this.#io.clock.after('underlay close', CLOSE_TIME, () => this.#socket.destroy());
    if (this.#socket.writableFinished) this.#socket.destroy();
    else this.#socket.once('finish', () => this.#socket.destroy());
  }

  /** Answers a peer of another protocol version and closes. */
  rejectVersion(): void {
    this.write(VERSIONS_ANSWER);
    this.close();
  }

  #flush(): void {
    if (!this.#ended) this.#queue.flush();
  }

  #onData(chunk: Buffer): void {
    this.#flushes.noteInput();
    if (this.#ended) return; // the socket may still deliver bytes from before the close
    if (this.#isPaused || (!this.#owner && !this.#waiting)) {
      this.#hold(this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk);
      return;
    }
    try {
      const rest = this.#reader.push(chunk, (frame) => this.#onFrame(frame));
      if (rest) this.#hold(rest);
    } catch (error) {
      // The listener still answers a peer with another protocol version, so the connection stays open for that.
      if (error instanceof WrongMagicError && this.#waiting) this.#reject(error);
      else this.close(asError(error));
    }
  }

  #onFrame(frame: Frame): boolean {
    if (this.#owner) {
      this.#owner.onFrame(frame);
      return !this.#ended && !this.#isPaused;
    }
    // One message at a time before `start`: bytes after the hello belong to the channel and to its limits.
    const message = Message.fromFrame(frame); // throws before `#waiting` is cleared, so `close` can reject it
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
    if (!this.#rest && !this.#isPaused && !this.isClosed) this.#socket.resume();
  }

  #hold(rest: Buffer): void {
    if (this.#ended) return; // a frame of this chunk closed the connection
    this.#rest = this.#reader.buffers ? Buffer.from(rest) : rest;
    this.#socket.pause();
  }

  /** The peer closed: the system now closes the connection, so that nobody could fetch the held bytes later. */
  #onEnd(): void {
    const rest = this.#rest;
    this.#rest = undefined;
    this.#isPaused = false;
    this.#hasEnd = true;
    if (rest && this.#owner) this.#onData(rest);
    this.close();
  }

  #onClose(): Error | null {
    this.#ended = true;
    this.#queue.watch?.close();
    this.#closeTimer?.cancel();
    this.#reject(this.#error ?? new ClosedError('the connection'));
    return this.#error;
  }
}
