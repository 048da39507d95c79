// A TLS connection whose bytes an I/O thread encrypts, writes and reads: the part on the main thread. It has the events
// and methods of a stream that a connection of frames needs. The TCP socket itself stays open here, unread, with its
// addresses, its limits and the system's state; tls-in-thread.ts is the other part.

import { X509Certificate } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientSockets } from '#lib/net/client-sockets.ts';
import { type Crossing, type CrossingOwner, CrossingRecord } from '#lib/threads/crossings.ts';
import type { CrossingKindPlaces, IoThreads } from '#lib/threads/io-threads.ts';
import { LentSocket } from '#lib/threads/lent-socket.ts';
import type { CrossingFailed } from '#lib/threads/thread-host.ts';
import { RingQueue } from './ring-queue.ts';
import type { AcceptedTlsData, DialedTlsData, ThreadTlsData, TlsClosed, TlsCommand, TlsEvent } from './tls-crossing.ts';

/** Records that the owner gets in one turn, so that others have theirs. */
const RECORDS_OF_TURN = 4;

interface Events {
  /** The handshake is complete. */
  secure: [];
  /** Bytes, valid only during the call. */
  data: [Buffer];
  /** The peer has ended its direction. */
  end: [];
  /** All bytes are written, and the peer knows the end. */
  finish: [];
  error: [Error];
  close: [];
}

export type TlsUse = Omit<DialedTlsData, 'descriptor'> | Omit<AcceptedTlsData, 'descriptor'>;

export interface ThreadedTlsInit {
  /** The TCP connection. */
  readonly network: Socket;
  /** The thread gets it instead: that of a socket with the bytes of TLS inside of another protocol. */
  readonly descriptor?: number;
  /** LINK_CONNECTION or ACCEPTED_CONNECTION. */
  readonly kind: CrossingKindPlaces;
  readonly use: TlsUse;
  /** The connection counts among them, if a client opened it. */
  readonly clientSockets?: ClientSockets;
}

export class ThreadedTls extends EventEmitter<Events> implements CrossingOwner {
  /** The TCP connection. */
  readonly network: Socket;
  destroyed = false;
  writableFinished = false;
  alpnProtocol: string | false = false;
  /** The certificate of a server that was not accepted. */
  rejected: X509Certificate | undefined;
  readonly #crossing: Crossing;
  readonly #lent: LentSocket;
  #queue: RingQueue | undefined;
  #isReading = false;
  /** The certificates of the peer in DER form. */
  #presented: readonly Uint8Array[] = [];
  #certificates: readonly X509Certificate[] | undefined;
  #closed: TlsClosed | undefined;
  #isFinished = false;

  private constructor(lent: LentSocket, network: Socket) {
    super();
    this.#lent = lent;
    this.#crossing = lent.crossing;
    this.network = network;
    this.#crossing.owner = this;
    network.once('close', () => this.destroy());
    network.on('error', (error) => this.destroy(error));
    this.#crossing.touch();
  }

  /**
   * Begins the handshake over a socket that nobody reads. Returns undefined, without any change, if no thread or no
   * descriptor is free.
   */
  static open(threads: IoThreads, init: ThreadedTlsInit): ThreadedTls | undefined {
    const { network, use, ...more } = init;
    const describe = (descriptor: number): ThreadTlsData => ({ ...use, descriptor });
    const lent = LentSocket.open(threads, { ...more, socket: network, describe });
    return lent && new ThreadedTls(lent, network);
  }

  /** The certificates of the peer, leaf first. They are parsed when somebody needs them: a stranger's are expensive. */
  get presented(): readonly X509Certificate[] {
    this.#certificates ??= this.#presented.map((der) => new X509Certificate(der));
    return this.#certificates;
  }

  /** The queue of what is written; call it once. `onWritten` is called when fewer than `limit` bytes wait again. */
  openQueue(limit: number, onWritten: () => void): RingQueue {
    this.#queue = new RingQueue(this.#crossing, limit, onWritten);
    return this.#queue;
  }

  /** Call it when the client is accepted: the limits of strangers end. */
  accept(): void {
    this.#post('accepted');
  }

  pause(): void {
    this.#isReading = false;
  }

  resume(): void {
    this.#isReading = true;
    this.#crossing.touch();
  }

  /** Writes what is queued, then ends this direction. */
  end(): void {
    this.#queue?.end();
  }

  /** Closes the connection at once. */
  destroy(error?: Error): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#queue?.close();
    this.#post('cut');
    this.network.destroy();
    process.nextTick(() => {
      if (error) this.emit('error', error);
      this.emit('close');
    });
  }

  onTurn(): boolean {
    this.#queue?.turn();
    const { received } = this.#crossing;
    let count = 0;
    while (count < RECORDS_OF_TURN && this.#mayPass && received.next()) {
      count++;
      if (received.kind === CrossingRecord.End) this.emit('end');
      else this.emit('data', received.data);
    }
    if (count > 0) this.#crossing.release();
    else if (this.#closed) this.#finish(this.#closed);
    return count > 0;
  }

  onMessage(event: TlsEvent | CrossingFailed): void {
    if ('failed' in event) this.#onClosed({ type: 'closed', error: { message: event.failed, code: undefined } });
    else if (event.type === 'closed') this.#onClosed(event);
    else if (event.type === 'finished') this.#onFinished();
    else {
      this.alpnProtocol = event.protocol;
      this.#presented = event.presented;
      this.emit('secure');
    }
  }

  onLost(error: Error): void {
    this.#end();
    this.destroy(error);
  }

  /** When the connection is closed, the owner gets the rest, like that of a socket. */
  get #mayPass(): boolean {
    return (this.#isReading || this.#closed !== undefined) && !this.destroyed;
  }

  /** The bytes that arrived before the end still go to the owner. */
  #onClosed(closed: TlsClosed): void {
    this.#closed = closed;
    if (this.destroyed) this.#finish(closed);
    else this.#crossing.touch();
  }

  #onFinished(): void {
    this.writableFinished = true;
    this.emit('finish');
  }

  #finish({ error, leaf }: TlsClosed): void {
    this.#end();
    if (leaf) this.rejected = new X509Certificate(leaf);
    this.destroy(error && Object.assign(new Error(error.message), error.code !== undefined && { code: error.code }));
  }

  /** The other part is over. */
  #end(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#lent.end();
  }

  #post(type: TlsCommand['type']): void {
    if (!this.#closed && !this.#isFinished) this.#crossing.post({ type } satisfies TlsCommand);
  }
}

/** A TLS connection of this thread or of another one. */
export type TlsConnection = TLSSocket | ThreadedTls;

/** The socket with the addresses of a connection: TLS of this thread has them, too. */
export function networkOf(connection: TLSSocket | { readonly network: Socket }): Socket {
  return 'network' in connection ? connection.network : connection;
}
