// The part of a moved client that runs in an I/O thread: reads and writes the socket, seals and opens. Each record is
// one message of the circuit. moved-client.ts is the other part.

import type { Socket } from 'node:net';
import { describeError } from '#lib/errors.ts';
import { readInto } from '#lib/net/read-into.ts';
import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import { type Crossing, type CrossingOwner, CrossingRecord } from '#lib/threads/crossings.ts';
import { takeSocket } from '#lib/threads/lent-socket.ts';
import { equalPart, LARGE_PAYLOAD } from '../payload-size.ts';
import { EncryptedStream, SEAL_LENGTH } from './end-to-end.ts';
import type { ClientClosed, ClientCommand, MovedClientData } from './moved-client.ts';

/** Records that are written in one turn, so that other connections have theirs. */
const RECORDS_OF_TURN = 4;
/** Memory shared by all clients of the thread: data is sealed before the next read begins. */
let shared: Buffer | undefined;

export class ClientInThread implements CrossingOwner {
  readonly #crossing: Crossing;
  readonly #socket: Socket;
  readonly #buffers: BufferPool;
  readonly #maxPayload: number;
  readonly #encryption: EncryptedStream | undefined;
  /** Bytes that were read while the main thread had no room, and the end of the client's direction. */
  #unsent: Buffer | undefined;
  #hasEnd = false;
  #isEndSent = false;
  /** The beginning of a message that is larger than a record. */
  #parts: Buffer[] = [];
  /** The main thread has sent everything. */
  #isEnding = false;
  /** The circuit needs nothing more from the client. */
  #isOver = false;
  #isClosed = false;
  #closing: ClientClosed = { type: 'closed' };

  /**
   * @param buffers Those of the thread.
   * @throws Error if the descriptor is not a connection; it is closed then
   */
  constructor(crossing: Crossing, { descriptor, maxPayload, streams }: MovedClientData, buffers: BufferPool) {
    this.#crossing = crossing;
    this.#buffers = buffers;
    this.#maxPayload = maxPayload;
    this.#socket = takeSocket(crossing, descriptor, { allowHalfOpen: true });
    try {
      this.#encryption = streams && EncryptedStream.resume(streams);
    } catch (error) {
      this.#socket.destroy();
      throw error;
    }
    this.#socket.setNoDelay(true);
    shared ??= Buffer.allocUnsafeSlow(LARGE_PAYLOAD);
    this.#socket.on('data', (data: Buffer) => this.#onData(data));
    readInto(this.#socket, shared.subarray(0, maxPayload), (data) => this.#onData(data));
    this.#socket.on('end', () => this.#onEnd());
    this.#socket.on('drain', () => crossing.touch());
    this.#socket.on('error', (error) => {
      this.#closing = { type: 'closed', error: describeError(error) };
    });
    this.#socket.on('close', () => this.#onClose());
    crossing.owner = this;
    this.#socket.resume();
  }

  onTurn(): boolean {
    const hadUnsent = this.#unsent !== undefined || (this.#hasEnd && !this.#isEndSent);
    if (hadUnsent) this.#sendUnsent();
    if (this.#isClosed) {
      if (this.#isEndSent) this.#tellClosed();
      return false;
    }
    const { received } = this.#crossing;
    let count = 0;
    while (count < RECORDS_OF_TURN && this.#isDrained && received.next()) {
      count++;
      if (received.kind === CrossingRecord.End) this.#end();
      else if (received.kind === CrossingRecord.Part) this.#parts.push(Buffer.from(received.data));
      else this.#write(this.#whole(received.data));
    }
    if (count > 0) this.#crossing.release();
    return count > 0;
  }

  onMessage(command: ClientCommand): void {
    this.#isOver = true;
    if (this.#isClosed) this.#tellClosed();
    else if (command.type === 'cut') this.#socket.destroy();
    else if (this.#isEnding) this.#socket.destroySoon();
  }

  /** The main thread is gone, and with it the process. */
  onLost(): void {
    this.#socket.destroy();
  }

  get #isDrained(): boolean {
    return this.#socket.writableLength < this.#socket.writableHighWaterMark;
  }

  /** Sends it in equal payloads, as small as the first link wants them. */
  #onData(data: Buffer): void {
    const sent = this.#unsent === undefined ? this.#send(data) : 0;
    this.#crossing.publish();
    if (sent === data.length) return;
    const rest = data.subarray(sent);
    this.#unsent = this.#unsent ? Buffer.concat([this.#unsent, rest]) : Buffer.from(rest);
    this.#socket.pause();
  }

  /** Returns the number of bytes for which there was room. */
  #send(data: Buffer): number {
    const { sent, received } = this.#crossing;
    const size = equalPart(data.length, Math.min(this.#maxPayload, received.hint || this.#maxPayload));
    for (let at = 0; at < data.length; at += size) {
      const part = data.subarray(at, at + size);
      const room = sent.reserve(part.length + SEAL_LENGTH);
      if (!room) return at;
      if (this.#encryption) sent.commit(CrossingRecord.Data, this.#encryption.seal(part, room).length);
      else sent.commit(CrossingRecord.Data, part.copy(room));
    }
    return data.length;
  }

  #sendUnsent(): void {
    const unsent = this.#unsent;
    if (unsent) {
      const sent = this.#send(unsent);
      this.#unsent = sent < unsent.length ? unsent.subarray(sent) : undefined;
      if (!this.#unsent) this.#socket.resume();
    }
    if (!this.#unsent && this.#hasEnd) this.#sendEnd();
    this.#crossing.publish();
  }

  #onEnd(): void {
    this.#hasEnd = true;
    if (!this.#unsent) this.#sendEnd();
    this.#crossing.publish();
  }

  #sendEnd(): void {
    if (this.#isEndSent || !this.#crossing.sent.reserve(0)) return;
    this.#isEndSent = true;
    this.#crossing.sent.commit(CrossingRecord.End, 0);
  }

  #whole(data: Buffer): Buffer {
    if (this.#parts.length === 0) return data;
    const parts = [...this.#parts, data];
    this.#parts = [];
    return Buffer.concat(parts);
  }

  #write(data: Buffer): void {
    const memory = this.#buffers.acquire(data.length);
    const clear = this.#open(data, memory);
    if (clear === undefined || clear.length === 0 || this.#isEnding) {
      this.#buffers.release(memory);
      return;
    }
    this.#socket.write(clear, (error) => {
      if (!error) this.#buffers.release(memory); // the system may still read from it after an error
    });
  }

  #open(data: Buffer, into: Buffer): Buffer | undefined {
    if (!this.#encryption) {
      data.copy(into);
      return into;
    }
    try {
      return this.#encryption.open(data, into);
    } catch (error) {
      this.#closing = { type: 'closed', undecipherable: describeError(error) };
      this.#isOver = true;
      this.#socket.destroy();
      return undefined;
    }
  }

  #end(): void {
    this.#isEnding = true;
    if (this.#isOver) this.#socket.destroySoon();
    else this.#socket.end();
  }

  #onClose(): void {
    this.#isClosed = true;
    const isWaiting = this.#hasEnd && !this.#isEndSent; // the main thread makes room for the end
    if (this.#isOver || !isWaiting) this.#tellClosed();
  }

  #tellClosed(): void {
    this.#crossing.post({ ...this.#closing, hasEnd: this.#isEndSent });
    this.#crossing.close();
  }
}
