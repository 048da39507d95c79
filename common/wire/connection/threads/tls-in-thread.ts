// The part of a TLS connection that runs in an I/O thread: performs the handshake, encrypts, writes and reads. It
// passes frames on, but does not interpret them. threaded-tls.ts is the other part.

import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { describeError, errorCode } from '#lib/errors.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { readTls } from '#lib/net/read-into.ts';
import { BoundedMap } from '#lib/queue/bounded-map.ts';
import { type Crossing, type CrossingOwner, CrossingRecord } from '#lib/threads/crossings.ts';
import { takeSocket } from '#lib/threads/lent-socket.ts';
import { peerCertificates } from '#pki/certificates.ts';
import { secureDialed } from '../dial.ts';
import { entryFor, selectProtocol } from '../protocols.ts';
import { ServerContexts } from '../server-contexts.ts';
import { secureClient } from '../server-tls.ts';
import { FrameRecords } from './frame-records.ts';
import type { AcceptedTlsData, DialedTlsData, ThreadTlsData, TlsClosed, TlsCommand, TlsEvent } from './tls-crossing.ts';

/** Certificates of this thread: those of its process, and their predecessors. */
const MAX_CONTEXTS = 16;

/** Carries such connections in this thread. @param io Shared by all connections of the thread. */
export function carryTls(io: IoContext): (crossing: Crossing, data: ThreadTlsData) => void {
  const known = new BoundedMap<string, ServerContexts>(MAX_CONTEXTS);
  const contextsOf = (options: readonly SecureContextOptions[]) => {
    const name = hash('sha256', JSON.stringify(options));
    const contexts = known.get(name) ?? new ServerContexts(options); // its creation takes as long as a handshake
    known.set(name, contexts);
    return contexts;
  };
  return (crossing, data) => void new TlsInThread(crossing, data, { io, contextsOf });
}

interface Shared {
  readonly io: IoContext;
  contextsOf(options: readonly SecureContextOptions[]): ServerContexts;
}

class TlsInThread implements CrossingOwner {
  readonly #crossing: Crossing;
  readonly #io: IoContext;
  readonly #network: Socket;
  readonly #socket: TLSSocket;
  readonly #frames: FrameRecords;
  #isWriting = false;
  #isFull = false;
  #hasEnd = false;
  #isEndSent = false;
  #isOver = false;
  #isClosed = false;
  #closing: TlsClosed = { type: 'closed' };

  /** @throws Error if the descriptor is not a connection, or the context not one of TLS; it is closed then */
  constructor(crossing: Crossing, data: ThreadTlsData, { io, contextsOf }: Shared) {
    this.#crossing = crossing;
    this.#io = io;
    this.#frames = new FrameRecords(crossing.sent);
    this.#network = takeSocket(crossing, data.descriptor, { allowHalfOpen: false });
    try {
      this.#socket = data.side === 'dialed' ? this.#dial(data) : this.#accept(data, contextsOf(data.contexts));
    } catch (error) {
      this.#network.destroy();
      throw error;
    }
    const socket = this.#socket;
    socket.on('data', (bytes: Buffer) => this.#onData(bytes));
    socket.on('end', () => this.#onEnd());
    socket.on('finish', () => this.#post({ type: 'finished' }));
    socket.on('error', (error) => {
      this.#closing = { ...this.#closing, error: { message: describeError(error), code: errorCode(error) } };
    });
    socket.on('close', () => this.#onClose());
    crossing.owner = this;
  }

  onTurn(): boolean {
    if (this.#isFull) this.#retry();
    if (this.#isClosed) {
      if (!this.#isWaiting) this.#tellClosed();
      return false;
    }
    return this.#write();
  }

  onMessage({ type }: TlsCommand): void {
    if (type === 'accepted') {
      this.#io.unauthenticatedCpu.authenticated(this.#network);
      readTls(this.#socket, (bytes) => this.#onData(bytes));
      if (!this.#isFull) this.#socket.resume();
      return;
    }
    this.#isOver = true;
    if (this.#isClosed) this.#tellClosed();
    else this.#socket.destroy();
  }

  /** The main thread is gone, and with it the process. */
  onLost(): void {
    this.#socket.destroy();
  }

  #dial({ context, host, protocols }: DialedTlsData): TLSSocket {
    const socket = secureDialed({ socket: this.#network }, { host, context, protocols }, (leaf) => {
      this.#closing = { ...this.#closing, leaf: leaf?.raw };
    });
    socket.once('secureConnect', () => this.#onSecure());
    return socket;
  }

  #accept(data: AcceptedTlsData, contexts: ServerContexts): TLSSocket {
    const { first, protocols, requestCert, timeout, remoteAddress } = data;
    Object.defineProperty(this.#network, 'remoteAddress', { value: remoteAddress });
    this.#network.unshift(Buffer.from(first));
    const socket = secureClient(this.#network, this.#io, {
      contexts,
      requestCert,
      timeout,
      protocolOf: (wanted) => selectProtocol(protocols, wanted),
    });
    socket.once('secure', () => {
      if (!entryFor(protocols, socket.alpnProtocol)) this.#beStream();
      this.#onSecure();
    });
    return socket;
  }

  /** A stream of the main thread decides itself whether its other direction ends, too. */
  #beStream(): void {
    this.#frames.beRaw();
    this.#socket.allowHalfOpen = true;
  }

  #onSecure(): void {
    const presented = peerCertificates(this.#socket).map(({ raw }) => raw);
    this.#closing = { type: 'closed' };
    this.#post({ type: 'secure', protocol: this.#socket.alpnProtocol ?? false, presented });
    this.#socket.setNoDelay(true);
  }

  /** One record at a time: its memory is free when the system has the bytes. */
  #write(): boolean {
    const { received } = this.#crossing;
    if (this.#isWriting || !received.next()) return false;
    if (received.kind === CrossingRecord.End || this.#socket.writableEnded) {
      this.#crossing.release();
      this.#socket.end(); // also if the peer ended the connection before
      return true;
    }
    this.#isWriting = true;
    this.#socket.write(received.data, () => {
      this.#isWriting = false;
      this.#crossing.release();
      if (!this.#write()) this.#crossing.touch();
    });
    return true;
  }

  #onData(bytes: Buffer): void {
    this.#setFull(!this.#frames.push(bytes));
    this.#crossing.publish();
  }

  #retry(): void {
    const hasRoom = this.#hasEnd ? this.#frames.end() && this.#sendEnd() : this.#frames.retry();
    this.#setFull(!hasRoom);
    this.#crossing.publish();
  }

  /** TLS passes on what it has decrypted even while it is paused. */
  #setFull(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    if (isFull) this.#socket.pause();
    else this.#socket.resume();
  }

  #onEnd(): void {
    this.#hasEnd = true;
    this.#retry();
  }

  /** Returns whether there was room. */
  #sendEnd(): boolean {
    if (this.#isEndSent) return true;
    if (!this.#crossing.sent.reserve(0)) return false;
    this.#isEndSent = true;
    this.#crossing.sent.commit(CrossingRecord.End, 0);
    return true;
  }

  /** The main thread has to make room first. */
  get #isWaiting(): boolean {
    return this.#isFull && !this.#isOver;
  }

  #onClose(): void {
    this.#isClosed = true;
    if (!this.#isWaiting) this.#tellClosed();
  }

  #tellClosed(): void {
    this.#post(this.#closing);
    this.#crossing.close();
  }

  #post(event: TlsEvent): void {
    this.#crossing.post(event);
  }
}
