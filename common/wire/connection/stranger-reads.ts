// Reads the bytes of a client for its TLS until the client is accepted: one piece in each turn of its source. The time
// of a piece counts for the source, and the bytes below the client's data have a limit.
//
//   connection ─► second reader ─► piece ─► turn of the source ─► TLS     until the client is accepted
//   connection ─────────────────────────────────────────────────► TLS     afterwards
//
// Node's TLS reads up to 2 MiB in one turn of the event loop, and nothing tells how long its records took. So TLS gets
// the bytes as Node gives it those that arrived before: by `receive` of its handle. If a Node version lacks the fields,
// or the system has no second readers, TLS reads by itself.

import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { stopReading } from '#lib/net/descriptor.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { hasSecondReaders, secondReader } from '#lib/net/second-reader.ts';
import { ProtocolError } from '../errors.ts';

/** Bytes of a piece. A client's first message, with its handshake, has as many. */
const PIECE_BYTES = 16 * 1024;
/**
 * Bytes below the data of a client: its handshake with the largest chain that OpenSSL accepts, 100 KiB. The data itself
 * does not count, nor do its records.
 */
const MAX_BELOW_DATA_BYTES = 128 * 1024;
/** Bytes of a TLS record for one byte of data. */
const MAX_OVERHEAD = 32;

/** Fields of the handles of a connection and of its TLS. */
interface ReadHandle {
  readStart(): number;
  readStop(): number;
}

interface Handle extends ReadHandle {
  /** Bytes of data. */
  readonly bytesRead: number;
  reading: boolean;
  receive(bytes: Buffer): void;
}

/** Shared by all connections: each piece is copied, because it may have to wait. */
let memory: Buffer | undefined;

/** `socket` is the TLS of the connection `network`, and has read nothing yet. */
export function readInTurns(socket: TLSSocket, network: Socket, io: IoContext): void {
  const handle = handleOf(socket);
  const below = handleOf(network);
  if (typeof handle?.receive === 'function' && typeof below?.readStart === 'function' && hasSecondReaders())
    new StrangerReads(io, socket, network, handle as Handle, below as ReadHandle);
}

function handleOf(socket: Socket): Partial<Handle> | null | undefined {
  return (socket as unknown as { _handle?: Partial<Handle> | null })._handle;
}

class StrangerReads {
  readonly #io: IoContext;
  readonly #socket: TLSSocket;
  readonly #network: Socket;
  readonly #handle: Handle;
  readonly #handles: readonly ReadHandle[];
  #reader: Socket | undefined;
  /** Whether TLS wants to read. */
  #isWanted = false;
  #isReading = false;
  #isOver = false;
  /** Bytes that were read. */
  #bytes = 0;
  /** Waits for its turn. */
  #piece: Buffer | undefined;
  #prevent: (() => boolean) | undefined;

  constructor(io: IoContext, socket: TLSSocket, network: Socket, handle: Handle, below: ReadHandle) {
    this.#io = io;
    this.#socket = socket;
    this.#network = network;
    this.#handle = handle;
    // Both handles share `reading`, and Node may start to read with either.
    this.#handles = [handle, below];
    handle.reading = true; // the next line must not start to read
    const first = network.read() as Buffer | null;
    stopReading(socket);
    for (const each of this.#handles) {
      // Own fields hide the methods until they are deleted.
      each.readStart = () => this.#setWanted(true);
      each.readStop = () => this.#setWanted(false);
    }
    io.unauthenticatedCpu.onAccepted(network, () => this.#finish());
    network.once('close', () => {
      this.#isOver = true;
      this.#prevent?.();
      this.#reader?.destroy();
    });
    if (first) handle.receive(first);
  }

  #setWanted(isWanted: boolean): number {
    this.#isWanted = isWanted;
    this.#read();
    return 0;
  }

  #read(): void {
    if (this.#isOver || this.#piece || !this.#isWanted) return;
    this.#reader ??= this.#open();
    this.#isReading = true;
    this.#reader?.resume();
  }

  #open(): Socket | undefined {
    memory ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
    const callback = (length: number, buffer: Uint8Array) => {
      this.#isReading = false; // until the piece was processed, perhaps at once
      this.#take(Buffer.from(buffer.subarray(0, length)));
      return this.#isReading;
    };
    const reader = secondReader(this.#network, { buffer: memory, callback }, this.#io.clientSockets);
    if (!reader) this.#network.destroy();
    return reader
      ?.on('error', (error) => this.#socket.destroy(error)) // only the first reader sees it; the next one, an end
      .once('close', () => this.#finish()); // also after the end, which TLS has to see
  }

  #take(piece: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += piece.length;
    this.#piece = piece;
    this.#prevent = this.#io.unauthenticatedCpu.run(this.#network, () => this.#process());
  }

  #process(): void {
    const piece = this.#piece;
    this.#piece = undefined;
    if (!piece || this.#socket.destroyed) return;
    this.#handle.receive(piece);
    if (this.#isOver) return;
    if (this.#bytes - MAX_OVERHEAD * this.#handle.bytesRead > MAX_BELOW_DATA_BYTES)
      this.#network.destroy(new ProtocolError(`more than ${MAX_BELOW_DATA_BYTES} bytes arrived without a message`));
    else this.#read();
  }

  /** TLS reads by itself again. */
  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#prevent?.();
    this.#reader?.destroy();
    for (const each of this.#handles) {
      Reflect.deleteProperty(each, 'readStart');
      Reflect.deleteProperty(each, 'readStop');
    }
    if (this.#socket.destroyed) return;
    // Before the piece, which may be more than TLS wants: then it stops again, and must know that it does not read.
    if (this.#isWanted) this.#handle.readStart();
    const piece = this.#piece;
    this.#piece = undefined;
    if (piece) this.#handle.receive(piece);
  }
}
