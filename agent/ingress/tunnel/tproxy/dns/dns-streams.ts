// The name server over TCP, for answers that are larger than a datagram (RFC 7766): each message follows its length. A
// client may send several queries at once; each is answered when its answer is known.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import type { Timer } from '#lib/time/clock.ts';

export interface DnsStreamsComponents {
  io: Pick<IoContext, 'clock' | 'clientSockets'>;
  log: Log;
  /** The answer to a message; undefined if it gets none. */
  answer(message: Buffer, source: string): Promise<Buffer | undefined>;
}

/**
 * Open connections. Beyond them, a new one replaces the least active one of the source with most, or the one that has
 * been idle for longest.
 */
const MAX_CONNECTIONS = 64;
/** Queries of a connection in progress; the server reads no further ones meanwhile. */
const MAX_QUERIES = 16;
/** Bytes of a query. */
const MAX_QUERY_BYTES = 4_096;
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

  /** The actual port if the configured one is 0. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const connection of this.#connections) connection.close();
  }

  #accept(components: DnsStreamsComponents, socket: Socket): void {
    const connections = this.#connections;
    const source = sourceOf(socket.remoteAddress);
    if (connections.size >= MAX_CONNECTIONS) {
      const replaced = this.#replacedBy(source);
      if (!replaced) {
        socket.destroy();
        return;
      }
      connections.delete(replaced);
      replaced.close();
    }
    if (!components.io.clientSockets.admit(socket)) {
      socket.destroy();
      return;
    }
    const connection = new Connection(components, socket, source, () => {
      if (connections.delete(connection)) connections.add(connection);
    });
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  }

  /**
   * The connection that makes room for another one of a source; undefined if all others are busy and have a right to.
   */
  #replacedBy(source: string): Connection | undefined {
    const connections = [...this.#connections];
    const counts = new Map<string, number>();
    for (const each of connections) counts.set(each.source, (counts.get(each.source) ?? 0) + 1);
    const own = counts.get(source) ?? 0;
    const max = Math.max(...counts.values());
    if (max > own + 1) return connections.find((each) => counts.get(each.source) === max);
    const mayReplace = (other: string) => other === source || (counts.get(other) ?? 0) > own;
    return connections.find((each) => each.isIdle && mayReplace(each.source));
  }
}

class Connection {
  readonly source: string;
  readonly #components: DnsStreamsComponents;
  readonly #socket: Socket;
  readonly #onActive: () => void;
  #read: Buffer = Buffer.alloc(0);
  #queries = 0;
  #hasEnded = false;
  #idle: Timer | undefined;

  /** `onActive` is called after each query and each answer. */
  constructor(components: DnsStreamsComponents, socket: Socket, source: string, onActive: () => void) {
    this.source = source;
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
      if (length !== undefined && length > MAX_QUERY_BYTES) return this.close();
      if (length === undefined || this.#read.length < LENGTH + length) break;
      const message = this.#read.subarray(LENGTH, LENGTH + length);
      this.#read = this.#read.subarray(LENGTH + length);
      background(this.#components.log, 'dns question', this.#serve(message));
    }
    if (this.#isBusy) socket.pause();
    else socket.resume();
  }

  get #isBusy(): boolean {
    return this.#queries >= MAX_QUERIES || this.#socket.writableNeedDrain;
  }

  async #serve(message: Buffer): Promise<void> {
    this.#queries++;
    this.#idle?.cancel();
    this.#onActive();
    try {
      const answer = await this.#components.answer(message, this.source);
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
    this.#idle = this.#components.io.clock.after('idle dns connection', IDLE_TIMEOUT, () => this.close());
  }

  #endIfAnswered(): void {
    if (this.#hasEnded && this.#queries === 0) this.#socket.end();
  }
}
