// A socket as the client of a circuit end: proxied connections and connections to hosted services. Each read is one
// payload, or one sealed chunk if encrypted; a half close is sent as FIN and EOF (reference fact: tunnel, section 1).

import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { readInto } from '#lib/net/read-into.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { IoThreads } from '#lib/threads/io-threads.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { ThreadedStream } from '#wire/connection/threads/threaded-stream.ts';
import { isFin } from '../end-marks.ts';
import { equalPart, LARGE_PAYLOAD, SAFE_PAYLOAD } from '../payload-size.ts';
import type { Xgress } from '../xgress.ts';
import type { CircuitOutcome, XgressClient } from '../xgress-client.ts';
import { type EncryptedStream, SEAL_LENGTH } from './end-to-end.ts';
import { type ClientClosed, MovedClient } from './moved-client.ts';

/** A socket, TLS of this thread, or TLS of another one. */
export type ClientSocket = Socket | ThreadedStream;

export interface SocketClientInit {
  socket: ClientSocket;
  /** Resets the TCP connection below TLS, which has no method for that. */
  reset?: () => void;
  /** The socket can end one direction and keep the other open. */
  halfClose: boolean;
  encryption?: EncryptedStream | undefined;
  /** Bytes; by default what every end accepts. */
  maxPayload?: number;
  io: Pick<IoContext, 'clock' | 'buffers' | 'threads' | 'clientSockets'>;
  /** Bytes within a second with which a client moves to a thread. */
  bulk?: number;
  log: Log;
}

/**
 * Milliseconds that a client may take to read the remaining data after its circuit ended; then it is reset. One that an
 * I/O thread carries gets as much time again while it reads some of what waits for the thread.
 */
const FLUSH_TIME = 10_000;
/**
 * A client that sends or receives so many bytes within so many milliseconds moves to an I/O thread. Others stay: each
 * way to another thread would add some 15 µs to their round trips.
 */
const BULK = 1024 * 1024;
const BULK_TIME = 1_000;
/** Memory shared by all clients: data is read, sealed and used before the next read begins. */
let shared: { readonly read: Buffer; readonly sealed: Buffer } | undefined;

export class SocketClient implements XgressClient {
  readonly borrows = true;
  readonly #socket: ClientSocket;
  readonly #reset: () => void;
  readonly #halfClose: boolean;
  readonly #encryption: EncryptedStream | undefined;
  readonly #maxPayload: number;
  readonly #io: SocketClientInit['io'];
  readonly #threads: IoThreads | undefined;
  readonly #bulk: number;
  readonly #clock: Clock;
  readonly #buffers: BufferPool;
  readonly #log: Log;
  #moved: MovedClient | undefined;
  /** Bytes in both directions since a time. */
  #recent = 0;
  #recentSince = 0;
  #xgress: Xgress | undefined;
  #headerSent = false;
  #readEnded = false;
  #writeEnded = false;
  /** The circuit drops what the client sends. */
  #isRejected = false;
  #flushTimer: Timer | undefined;

  constructor(init: SocketClientInit) {
    this.#socket = init.socket;
    this.#reset = () => resetSocket(init.socket, init.reset);
    this.#halfClose = init.halfClose;
    this.#encryption = init.encryption;
    this.#maxPayload = init.maxPayload ?? SAFE_PAYLOAD;
    this.#threads = isPlain(init.socket) ? init.io.threads : undefined;
    this.#clock = init.io.clock;
    this.#buffers = init.io.buffers;
    this.#bulk = init.bulk ?? BULK;
    this.#io = init.io;
    this.#log = init.log;
    this.#socket.pause();
    this.#socket.setNoDelay(true);
  }

  /** Connects the client to its end; call before the xgress starts. */
  attach(xgress: Xgress): void {
    this.#xgress = xgress;
    shared ??= {
      read: Buffer.allocUnsafeSlow(LARGE_PAYLOAD),
      sealed: Buffer.allocUnsafeSlow(LARGE_PAYLOAD + SEAL_LENGTH),
    };
    this.#socket.on('data', (data) => this.#onBuffered(data as Buffer));
    readInto(this.#socket, shared.read.subarray(0, this.#maxPayload), (data) => this.#onData(data));
    this.#socket.on('end', () => this.#onEnd());
    this.#socket.on('drain', () => {
      this.#moveIfBulk();
      xgress.resume();
    });
    this.#socket.on('finish', () => xgress.resume()); // an ending socket emits no drain
    this.#socket.on('error', (error) =>
      this.#log.debug({ circuitId: xgress.circuitId, error: describeError(error) }, 'client socket failed'),
    );
    this.#socket.on('close', () => this.#onClose());
    if (this.#socket.destroyed) setImmediate(() => this.#onClose());
  }

  deliver(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): boolean {
    const isAccepted = data.length === 0 || this.#deliver(data);
    if (isFin(headers)) this.end();
    return isAccepted;
  }

  #deliver(data: Buffer): boolean {
    this.#moveIfBulk();
    return this.#moved ? this.#moved.deliver(data) : this.#write(data);
  }

  end(): void {
    if (this.#writeEnded) return;
    this.#writeEnded = true;
    const isHalf = this.#halfClose || this.#readEnded;
    if (this.#moved) isHalf ? this.#moved.end() : this.#moved.close('end');
    else if (isHalf) this.#socket.end();
    else this.#socket.destroySoon();
  }

  closed(outcome: CircuitOutcome): void {
    this.#writeEnded = true;
    if (this.#socket.destroyed) return;
    if (outcome === 'cut') {
      this.#cut();
      return;
    }
    if (this.#moved) this.#moved.close('end');
    else this.#socket.destroySoon();
    this.#limitFlush();
  }

  #limitFlush(): void {
    const before = this.#moved?.unwritten ?? 0;
    this.#flushTimer = this.#clock.after('client socket flush', FLUSH_TIME, () => {
      if (this.#moved && this.#moved.unwritten < before) this.#limitFlush();
      else this.#cut();
    });
  }

  rejected(): void {
    this.#isRejected = true;
    this.#moved?.rejected();
  }

  writable(): void {
    if (this.#encryption && !this.#headerSent) {
      this.#headerSent = true;
      if (!this.#xgress?.write(this.#encryption.header)) return;
    }
    if (this.#moved) this.#moved.resume();
    else this.#socket.resume();
  }

  /** Data that was read into a memory of any size. */
  #onBuffered(data: Buffer): void {
    for (let at = 0; at < data.length; at += this.#maxPayload)
      this.#sendInEqualParts(data.subarray(at, at + this.#maxPayload));
    this.#onSent(data.length);
  }

  #onData(data: Buffer): void {
    this.#sendInEqualParts(data);
    this.#onSent(data.length);
  }

  /** All data that was read is with the circuit. */
  #onSent(bytes: number): void {
    this.#note(bytes);
    this.#moveIfBulk();
  }

  /** Sends it in equal payloads, as small as the first link wants them. */
  #sendInEqualParts(data: Buffer): void {
    const size = equalPart(data.length, this.#xgress?.writeLimit ?? data.length);
    for (let at = 0; at < data.length; at += size) this.#send(data.subarray(at, at + size));
  }

  #send(data: Buffer): void {
    if (!this.#xgress?.write(this.#encryption?.seal(data, shared?.sealed) ?? data)) this.#socket.pause();
  }

  /** Returns false if the client must read first. Bytes that the system accepts at once do not count. */
  #write(data: Buffer): boolean {
    const memory = this.#buffers.acquire(data.length);
    const clear = this.#open(data, memory);
    if (clear === undefined || clear.length === 0 || this.#writeEnded) {
      this.#buffers.release(memory);
      return true;
    }
    this.#note(data.length);
    this.#socket.write(clear, (error) => {
      if (!error) this.#buffers.release(memory); // the system may still read from it after an error
    });
    return this.#socket.writableLength < this.#socket.writableHighWaterMark;
  }

  #note(bytes: number): void {
    const now = this.#clock.monotonic();
    if (now - this.#recentSince > BULK_TIME) {
      this.#recentSince = now;
      this.#recent = 0;
    }
    this.#recent += bytes;
  }

  /** Moves the client when the socket holds no bytes: what was read was sent, and what was delivered was written. */
  #moveIfBulk(): void {
    const [socket, xgress] = [this.#socket, this.#xgress];
    if (!this.#threads || this.#recent < this.#bulk || this.#moved || !xgress || !isPlain(socket)) return;
    if (socket.destroyed || socket.writableLength > 0 || socket.readableLength > 0) return;
    if (this.#readEnded || this.#writeEnded || this.#isRejected || (this.#encryption && !this.#headerSent)) return;
    this.#recent = 0;
    const wasPaused = socket.isPaused();
    socket.pause();
    this.#moved = MovedClient.move(this.#threads, {
      socket,
      clientSockets: this.#io.clientSockets,
      encryption: this.#encryption,
      maxPayload: this.#maxPayload,
      xgress,
      onEnd: () => this.#onEnd(),
      onClosed: (closed) => this.#onMovedClosed(closed),
    });
    if (!this.#moved && !wasPaused) socket.resume();
  }

  #onMovedClosed({ error, undecipherable, isLost }: ClientClosed): void {
    const circuitId = this.#xgress?.circuitId;
    if (undecipherable !== undefined) this.#onUndecipherable(undecipherable);
    else if (error !== undefined) this.#log.debug({ circuitId, error }, 'client socket failed');
    if (isLost) this.#reset();
    else this.#socket.destroy();
  }

  #cut(): void {
    this.#moved?.close('cut');
    this.#reset();
  }

  #onEnd(): void {
    this.#readEnded = true;
    this.#xgress?.end({ fin: this.#halfClose });
    if (!this.#halfClose) this.#xgress?.rejectData();
  }

  /** A connection that closes without an end was reset, by the client or by the network. */
  #onClose(): void {
    this.#writeEnded = true;
    this.#flushTimer?.cancel();
    this.#moved?.close('cut');
    if (this.#readEnded) this.#xgress?.rejectData();
    else this.#xgress?.abort();
  }

  #open(data: Buffer, into: Buffer): Buffer | undefined {
    if (!this.#encryption) {
      data.copy(into);
      return into;
    }
    try {
      return this.#encryption.open(data, into);
    } catch (error) {
      this.#onUndecipherable(describeError(error));
      return undefined;
    }
  }

  #onUndecipherable(error: string): void {
    this.#log.warn({ circuitId: this.#xgress?.circuitId, error }, 'circuit cut: its data cannot be decrypted');
    this.#xgress?.abort();
  }
}

/** Whether a thread could use the descriptor: TLS stays where its keys are. */
function isPlain(socket: ClientSocket): socket is Socket {
  return socket instanceof Socket && !(socket instanceof TLSSocket);
}
