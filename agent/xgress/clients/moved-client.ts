// The part of a client whose socket an I/O thread carries that stays on the main thread: passes payloads between the
// circuit and the rings. The socket itself stays open here, unread, so that whoever limits or resets connections need
// not know of threads; client-in-thread.ts uses another descriptor of the same connection.

import type { Socket } from 'node:net';
import type { ClientSockets } from '#lib/net/client-sockets.ts';
import { type Crossing, type CrossingOwner, CrossingRecord } from '#lib/threads/crossings.ts';
import type { CrossingKindPlaces, IoThreads } from '#lib/threads/io-threads.ts';
import { LentSocket } from '#lib/threads/lent-socket.ts';
import type { CrossingFailed } from '#lib/threads/thread-host.ts';
import type { Xgress } from '../xgress.ts';
import type { EncryptedStream, StreamState } from './end-to-end.ts';

/** The kind of these crossings. */
export const MOVED_CLIENT: CrossingKindPlaces = { name: 'client', places: 64, ringBytes: 1024 * 1024 };

export interface MovedClientData {
  readonly descriptor: number;
  /** Bytes. */
  readonly maxPayload: number;
  readonly streams: StreamState | undefined;
}

/**
 * From the main thread: the circuit is over. The thread closes the socket: `end` after the end in the ring, `cut` at
 * once.
 */
export interface ClientCommand {
  readonly type: 'end' | 'cut';
}

/** To the main thread: the socket is closed. */
export interface ClientClosed {
  readonly type: 'closed';
  readonly error?: string;
  /** The data of the circuit does not verify. */
  readonly undecipherable?: string;
  /** The thread is gone, with bytes that nobody knows. */
  readonly isLost?: boolean;
  /** The client ended its direction before; its data is in the ring. */
  readonly hasEnd?: boolean;
}

export interface MovedClientInit {
  readonly socket: Socket;
  /** Its second descriptor counts among them. */
  readonly clientSockets: ClientSockets;
  readonly encryption: EncryptedStream | undefined;
  readonly maxPayload: number;
  readonly xgress: Xgress;
  /** The client has ended its direction; called after its last data. */
  onEnd(): void;
  /** The thread has closed its socket. */
  onClosed(closed: ClientClosed): void;
}

/** Payloads that the circuit gets in one turn, so that others have theirs. */
const PAYLOADS_OF_TURN = 4;

export class MovedClient implements CrossingOwner {
  readonly #crossing: Crossing;
  readonly #init: MovedClientInit;
  readonly #lent: LentSocket;
  #isBlocked = false;
  /** `deliver` has returned false. */
  #isFull = false;
  /** The circuit drops what the client sends. */
  #isRejected = false;
  /** Payloads without room in the ring: the circuit passes none after the first, but the end may follow. */
  readonly #unsent: { readonly kind: number; readonly data: Buffer }[] = [];
  #writeLimit = 0;
  #isEnding = false;
  /** The circuit is over. */
  #isClosing = false;
  #closed: ClientClosed | undefined;
  #isFinished = false;

  private constructor(lent: LentSocket, init: MovedClientInit) {
    this.#lent = lent;
    this.#crossing = lent.crossing;
    this.#init = init;
    this.#crossing.owner = this;
    this.#tellWriteLimit(init.xgress.writeLimit);
    this.#crossing.touch();
  }

  /** Returns undefined, without any change, if no thread or no descriptor is free. */
  static move(threads: IoThreads, init: MovedClientInit): MovedClient | undefined {
    const { socket, clientSockets, encryption, maxPayload } = init;
    const describe = (descriptor: number) =>
      ({ descriptor, maxPayload, streams: encryption?.state }) satisfies MovedClientData;
    const lent = LentSocket.open(threads, { socket, clientSockets, kind: MOVED_CLIENT, describe });
    return lent && new MovedClient(lent, init);
  }

  /** Bytes that were delivered and that the thread has not written. */
  get unwritten(): number {
    return this.#crossing.sent.used;
  }

  /** Returns false if the client must read first. */
  deliver(data: Buffer): boolean {
    const { maxRecord } = this.#crossing.sent;
    let at = 0;
    for (; data.length - at > maxRecord; at += maxRecord)
      this.#send(CrossingRecord.Part, data.subarray(at, at + maxRecord));
    this.#send(CrossingRecord.Data, data.subarray(at));
    this.#isFull = this.#unsent.length > 0;
    this.#finishIfOver();
    return !this.#isFull;
  }

  /** The client gets nothing after what was delivered. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#send(CrossingRecord.End);
  }

  /** The circuit is over: `end` still writes what was delivered, `cut` does not. */
  close(type: ClientCommand['type']): void {
    this.#isClosing = true;
    if (type === 'end') this.end();
    if (this.#closed) this.#finishIfOver();
    else this.#crossing.post({ type } satisfies ClientCommand);
  }

  /** The circuit accepts payloads again. */
  resume(): void {
    this.#isBlocked = false;
    this.#crossing.touch();
  }

  /** The circuit drops what the client sends, and never accepts payloads again. */
  rejected(): void {
    this.#isRejected = true;
    this.#finishIfOver();
  }

  onTurn(): boolean {
    this.#sendUnsent();
    const { received } = this.#crossing;
    const { xgress } = this.#init;
    this.#tellWriteLimit(xgress.writeLimit);
    let count = 0;
    while (count < PAYLOADS_OF_TURN && !this.#isBlocked && received.next()) {
      count++;
      if (received.kind === CrossingRecord.End) this.#init.onEnd();
      else this.#isBlocked = !xgress.write(received.data);
    }
    if (count > 0) this.#crossing.release();
    else if (this.#closed && !this.#isBlocked) this.#finish(this.#closed);
    this.#finishIfOver();
    return count > 0;
  }

  onMessage(message: ClientClosed | CrossingFailed): void {
    this.#closed = 'failed' in message ? { type: 'closed', error: message.failed, isLost: true } : message;
    this.#finishIfOver();
    this.#crossing.touch();
  }

  onLost(error: Error): void {
    this.#finish({ type: 'closed', error: error.message, isLost: true });
  }

  /** The socket is closed; the data that the client sent before its end still goes to the circuit, if it can. */
  #finishIfOver(): void {
    const closed = this.#closed;
    if (!closed) return;
    const isForCircuit = closed.hasEnd && closed.undecipherable === undefined && !this.#isClosing && !this.#isRejected;
    const isDeadlock = this.#isBlocked && this.#isFull; // each side waits for the client of the other one
    if (!isForCircuit || isDeadlock) this.#finish(closed);
  }

  #finish(closed: ClientClosed): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#closed = closed;
    this.#lent.end();
    this.#init.onClosed(closed);
  }

  #tellWriteLimit(limit: number): void {
    const bytes = Number.isFinite(limit) ? Math.max(1, Math.floor(limit)) : 0;
    if (bytes === this.#writeLimit) return;
    this.#writeLimit = bytes;
    this.#crossing.sent.hint = bytes;
  }

  #send(kind: number, data?: Buffer): void {
    if (this.#unsent.length === 0 && this.#put(kind, data)) this.#crossing.publish();
    else this.#unsent.push({ kind, data: data ? Buffer.from(data) : NOTHING });
  }

  #put(kind: number, data: Buffer = NOTHING): boolean {
    const room = this.#crossing.sent.reserve(data.length);
    if (!room) return false;
    data.copy(room);
    this.#crossing.sent.commit(kind, data.length);
    return true;
  }

  #sendUnsent(): void {
    for (let next = this.#unsent[0]; next && this.#put(next.kind, next.data); next = this.#unsent[0])
      this.#unsent.shift();
    this.#crossing.publish();
    if (!this.#isFull || this.#unsent.length > 0) return;
    this.#isFull = false;
    this.#init.xgress.resume();
  }
}

const NOTHING = Buffer.alloc(0);
