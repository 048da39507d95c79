// The name server over TCP, for answers that are larger than a datagram (RFC 7766): each message follows its length. A
// client may send several queries at once; each is answered when its answer is known.

import { createServer, type Server, type Socket } from 'node:net';
import { background } from '#lib/background.ts';
import { clientSockets } from '#lib/client-sockets.ts';
import type { Clock, Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';

export interface DnsStreamsComponents {
  clock: Clock;
  log: Log;
  /** The answer to a message; undefined if it gets none. */
  answer(message: Buffer): Promise<Buffer | undefined>;
}

/** Open connections; a new one replaces the one that has been idle for longest. */
const MOST_CONNECTIONS = 64;
/** Queries of a connection in progress; the server reads no further ones meanwhile. */
const MOST_QUERIES = 16;
/** Bytes of a query. */
const LARGEST_QUERY = 4_096;
/** Milliseconds without a query and an answer. */
const IDLE_TIMEOUT = 10_000;
/** Bytes of the length. */
const LENGTH = 2;

export class DnsStreams {
  readonly #server: Server;
  /** Ordered by their last query or answer. */
  readonly #connections = new Set<Connection>();

  private constructor(components: DnsStreamsComponents) {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(components, socket));
  }

  /** Rejects with the system's error if the address is not available. */
  static async open(components: DnsStreamsComponents, place: { host: string; port: number }): Promise<DnsStreams> {
    const streams = new DnsStreams(components);
    const server = streams.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ ...place }, () => (server.off('error', reject), resolve()));
    });
    server.on('error', (error) => components.log.error({ error: describeError(error) }, 'name server over TCP failed'));
    return streams;
  }

  close(): void {
    this.#server.close();
    for (const connection of this.#connections) connection.close();
  }

  #accept(components: DnsStreamsComponents, socket: Socket): void {
    const connections = this.#connections;
    if (connections.size >= MOST_CONNECTIONS) {
      const idle = [...connections].find((each) => each.isIdle);
      if (!idle) {
        socket.destroy();
        return;
      }
      connections.delete(idle);
      idle.close();
    }
    if (!clientSockets.admit(socket)) {
      socket.destroy();
      return;
    }
    const connection = new Connection(components, socket, () => {
      if (connections.delete(connection)) connections.add(connection);
    });
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  }
}

class Connection {
  readonly #components: DnsStreamsComponents;
  readonly #socket: Socket;
  readonly #onActive: () => void;
  #read: Buffer = Buffer.alloc(0);
  #queries = 0;
  #hasEnded = false;
  #idle: Timer | undefined;

  /** `onActive` is called after each query and each answer. */
  constructor(components: DnsStreamsComponents, socket: Socket, onActive: () => void) {
    this.#components = components;
    this.#socket = socket;
    this.#onActive = onActive;
    socket.on('data', (chunk: Buffer) => {
      this.#read = Buffer.concat([this.#read, chunk]);
      this.#serveNext();
    });
    socket.on('drain', () => this.#serveNext());
    socket.once('end', () => {
      this.#hasEnded = true;
      this.#endIfAnswered();
    });
    socket.on('error', () => undefined); // its 'close' follows
    socket.once('close', () => this.#idle?.cancel());
    this.#waitForQuery();
  }

  /** No query is in progress. */
  get isIdle(): boolean {
    return this.#queries === 0;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Serves the complete queries; a client that does not read its answers waits with further ones. */
  #serveNext(): void {
    const socket = this.#socket;
    while (!socket.destroyed && !this.#isBusy) {
      const length = this.#read.length < LENGTH ? undefined : this.#read.readUInt16BE();
      if (length !== undefined && length > LARGEST_QUERY) return this.close();
      if (length === undefined || this.#read.length < LENGTH + length) break;
      const message = this.#read.subarray(LENGTH, LENGTH + length);
      this.#read = this.#read.subarray(LENGTH + length);
      background(this.#components.log, 'dns question', this.#serve(message));
    }
    if (this.#isBusy) socket.pause();
    else socket.resume();
  }

  get #isBusy(): boolean {
    return this.#queries >= MOST_QUERIES || this.#socket.writableNeedDrain;
  }

  async #serve(message: Buffer): Promise<void> {
    this.#queries++;
    this.#idle?.cancel();
    this.#onActive();
    try {
      const answer = await this.#components.answer(message);
      if (answer && !this.#socket.destroyed) this.#write(answer);
    } finally {
      this.#queries--;
      this.#onActive();
      if (this.#queries === 0) this.#waitForQuery();
      this.#serveNext();
      this.#endIfAnswered();
    }
  }

  #write(answer: Buffer): void {
    const length = Buffer.alloc(LENGTH);
    length.writeUInt16BE(answer.length);
    this.#socket.write(Buffer.concat([length, answer]));
  }

  #waitForQuery(): void {
    if (this.#socket.destroyed) return;
    this.#idle = this.#components.clock.after('idle dns connection', IDLE_TIMEOUT, () => this.close());
  }

  #endIfAnswered(): void {
    if (this.#hasEnded && this.#queries === 0) this.#socket.end();
  }
}
