// One TLS listening socket, shared by protocols that ALPN distinguishes: control channels, links, SDK connections,
// HTTP. It does not verify client certificates; each protocol does.
//
// A handshake begins when the first bytes of the client are there and it is the client's turn
// (common/lib/net/unauthenticated-cpu.ts). The further bytes of a client take turns, too, until its protocol accepts
// the client:
//
//   listening socket ─► first bytes ─► turn ─► TLS ─► protocol ─► accepted
//                                      ▲        │
//                                      └────────┘ next bytes (stranger-reads.ts)
//
// I/O threads perform the handshakes of some connections, and carry them afterwards: those which a protocol wants
// there, by the address of the client, and all while strangers use more of this thread than others should feel.

import type { EventEmitter } from 'node:events';
import { createServer as createListener, type Server as Listener, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { stopReading } from '#lib/net/descriptor.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { helloProtocols, isFirstRecordWhole } from './client-hello.ts';
import { type PortConnection, PortConnections } from './port-connections.ts';
import { entryFor, selectProtocol } from './protocols.ts';
import { ServerContexts, type ServerOptions } from './server-contexts.ts';
import { secureClient } from './server-tls.ts';
import { secureInThread } from './threads/secure-in-thread.ts';
import { ThreadedStream } from './threads/threaded-stream.ts';
import { networkOf, type ThreadedTls, type TlsConnection } from './threads/threaded-tls.ts';

/** The stream of a client: TLS of this thread or of another one. */
export type ClientStream = TLSSocket | ThreadedStream;
export type StreamHandler = (stream: ClientStream, connection: PortConnection) => void;

/** A protocol whose connections I/O threads may carry. */
export interface FrameProtocol {
  /** Whether a thread shall carry a connection of a client with this address in any case. */
  isForThread?(remoteAddress: string): boolean;
  readonly accept: (socket: TlsConnection, connection: PortConnection) => void;
}

export interface TlsPortOptions {
  io: IoContext;
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Certificate, key and other options of the handshake; of several, the first one is the default. */
  context: ServerOptions;
  /** Whether clients are asked for a certificate; default true. */
  requestCert?: boolean;
  /** Milliseconds; reference fact: 5 s. */
  handshakeTimeout?: number;
  /** Limit on open connections; above it, connections that wait for their client are closed in favor of new ones. */
  maxConnections?: number;
  /** Limit on TLS handshakes in progress; above it, the oldest of the source with the most is closed. */
  maxHandshakes?: number;
  log: Log;
}

/** ALPN names on TLS ports. The empty name means clients that offer none. */
export const Alpn = Object.freeze({
  Control: 'ziti-ctrl',
  Link: 'ziti-link',
  Edge: 'ziti-edge',
  Http: 'http/1.1',
  None: '',
} as const);

const HANDSHAKE_TIMEOUT = 5_000;
/** Milliseconds of processor time outside of tasks: to accept a connection, to poll it, and to end it. */
const CONNECTION_MS = 0.5;
/** Bytes that may arrive before the handshake begins. The first message of a handshake has less. */
const MAX_FIRST_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 20_000;
/** More than the routers and clients of a network start at the same time after a restart of the controller. */
const MAX_HANDSHAKES = 2_000;

/** Two handlers claim one protocol on one port. */
export class ProtocolTakenError extends ProjectError {
  constructor(protocol: string, where: string) {
    super(
      'PROTOCOL_TAKEN',
      `${where} already has a listener for ${protocol === '' ? 'clients without a protocol name' : protocol}`,
    );
  }
}

export class TlsPort {
  readonly #listener: Listener;
  readonly #options: TlsPortOptions;
  readonly #handshakeTimeout: number;
  #contexts: ServerContexts;
  readonly #handlers = new Map<string, StreamHandler | FrameProtocol>();
  readonly #sockets = new Set<TlsConnection>();
  readonly #connections: PortConnections;

  private constructor(options: TlsPortOptions) {
    const { maxConnections = MAX_CONNECTIONS, maxHandshakes = MAX_HANDSHAKES } = options;
    this.#listener = createListener({ highWaterMark: MAX_FIRST_BYTES }, (socket) => this.#onClient(socket));
    this.#options = options;
    this.#connections = new PortConnections(
      { connections: maxConnections, handshakes: maxHandshakes },
      options.io.clientSockets,
    );
    this.#handshakeTimeout = options.handshakeTimeout ?? HANDSHAKE_TIMEOUT;
    this.#contexts = new ServerContexts(options.context);
  }

  /** Rejects with the system's error (EADDRINUSE, EACCES, …) if the address is not available. */
  static async open(options: TlsPortOptions): Promise<TlsPort> {
    const port = new TlsPort(options);
    const listener = port.#listener;
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(
        options.port,
        options.host === '' ? undefined : options.host,
        () => (listener.off('error', reject), resolve()),
      );
    });
    listener.on('error', (error) => options.log.error({ error: describeError(error) }, 'listening socket failed'));
    return port;
  }

  /** The bound address, with the actual port if the configured one is 0. */
  get address(): { host: string; port: number } {
    const address = this.#listener.address();
    if (address === null || typeof address === 'string') return { host: '', port: 0 };
    return { host: address.address, port: address.port };
  }

  get protocols(): string[] {
    return [...this.#handlers.keys()];
  }

  /** Whether any protocol has a handler. */
  get isUsed(): boolean {
    return this.#handlers.size > 0;
  }

  has(protocol: string): boolean {
    return this.#handlers.has(protocol);
  }

  /**
   * Passes the connections of a protocol to `handler`, until the returned function is called. @throws
   * ProtocolTakenError
   */
  handle(protocol: string, handler: StreamHandler | FrameProtocol): () => void {
    if (this.#handlers.has(protocol)) throw new ProtocolTakenError(protocol, `port ${this.address.port}`);
    this.#handlers.set(protocol, handler);
    return () => void this.#handlers.delete(protocol);
  }

  /** New connections use these certificates; open ones keep theirs. */
  replaceContext(context: ServerOptions): void {
    this.#contexts = new ServerContexts(context);
  }

  /**
   * Stops accepting and closes all connections. With `keepsHandled`, the connections of handlers stay open. Resolves
   * when no connection is left.
   */
  async close({ keepsHandled = false }: { keepsHandled?: boolean } = {}): Promise<void> {
    this.#handlers.clear();
    await new Promise<void>((resolve) => {
      this.#listener.close(() => resolve());
      this.#connections.closeHandshakes();
      if (!keepsHandled) for (const socket of this.#sockets) socket.destroy();
    });
  }

  #onClient(socket: Socket): void {
    const { realClock, threads } = this.#options.io;
    this.#connections.add(socket);
    if (socket.destroyed) return;
    const timer = realClock.after('first bytes of a client', this.#handshakeTimeout, () => socket.destroy());
    socket.on('error', () => undefined); // its 'close' follows
    socket.once('close', () => timer.cancel());
    socket.once('readable', () => {
      if (threads)
        readFirstRecord(socket, (first) => {
          timer.cancel();
          if (this.#mayUseThread(socket)) void threads.start().then(() => this.#queue(socket, first));
          else this.#queue(socket, first);
        });
      else {
        timer.cancel(); // its turn is not the client's affair, and the handshake has a timer of its own
        this.#queue(socket);
      }
    });
  }

  /**
   * The first bytes of a client are there: its handshake takes its turn.
   *
   * @param first They were read, since a thread may perform the handshake: that is decided when it is its turn.
   */
  #queue(socket: Socket, first?: Buffer): void {
    if (socket.destroyed) return;
    const secure = () => this.#secure(socket, first);
    const prevent = this.#options.io.unauthenticatedCpu.run(socket, secure, CONNECTION_MS);
    socket.once('close', prevent);
  }

  #secure(network: Socket, first: Buffer = NOTHING): void {
    const { io, requestCert = true } = this.#options;
    if (network.readableLength + first.length > MAX_FIRST_BYTES) network.destroy();
    if (network.destroyed || this.#secureInThread(network, first)) return;
    if (first.length > 0) network.unshift(first);
    const socket = secureClient(network, io, {
      contexts: this.#contexts,
      requestCert,
      timeout: this.#handshakeTimeout,
      protocolOf: (wanted) => selectProtocol(this.#handlers, wanted),
    });
    this.#watch(socket, network);
  }

  /** Passes the connection on when its handshake is complete. */
  #watch(socket: TlsConnection, network: Socket): void {
    const { remoteAddress: remote } = network;
    const emitter: EventEmitter = socket;
    let isSecure = false;
    // Later, the owner of the socket handles 'close'.
    emitter.on('error', (error: Error) => {
      if (!isSecure) this.#options.log.debug({ remote, error: describeError(error) }, 'tls handshake failed');
    });
    emitter.once('secure', () => {
      isSecure = true;
      if (!socket.destroyed) this.#onConnection(socket);
    });
  }

  /** Returns false if this thread has to perform the handshake. */
  #secureInThread(network: Socket, first: Buffer): boolean {
    const { io, requestCert = true } = this.#options;
    const protocol = selectProtocol(this.#handlers, helloProtocols(first));
    const handler = entryFor(this.#handlers, protocol ?? null);
    const isLink = typeof handler === 'object' && handler.isForThread?.(network.remoteAddress ?? '') === true;
    const socket = secureInThread(network, io, {
      isLink,
      contexts: this.#contexts,
      first,
      protocols: new Map(this.#handlers.entries().map(([name, each]) => [name, typeof each === 'object'])),
      requestCert,
      timeout: this.#handshakeTimeout,
    });
    if (socket) this.#watch(socket, network);
    return socket !== undefined;
  }

  #mayUseThread({ remoteAddress = '' }: Socket): boolean {
    if (this.#options.io.unauthenticatedCpu.isNoticeable) return true;
    return this.#handlers.values().some((each) => typeof each === 'object' && each.isForThread?.(remoteAddress));
  }

  #onConnection(socket: TlsConnection): void {
    const emitter: EventEmitter = socket;
    this.#sockets.add(socket);
    emitter.once('close', () => this.#sockets.delete(socket));
    const handler = entryFor(this.#handlers, socket.alpnProtocol);
    const connection = this.#connections.secured(networkOf(socket));
    if (!handler || !connection) socket.destroy();
    else if (typeof handler === 'object') handler.accept(socket, connection);
    else handler(socket instanceof TLSSocket ? socket : this.#streamOf(socket), connection);
  }

  #streamOf(tls: ThreadedTls): ThreadedStream {
    const { unauthenticatedCpu } = this.#options.io;
    const stream = new ThreadedStream(tls);
    unauthenticatedCpu.joinClient(tls.network, stream);
    unauthenticatedCpu.onAccepted(stream, () => tls.accept());
    return stream;
  }
}

const NOTHING = Buffer.alloc(0);

/** Passes on the first TLS record, or what the client sent instead, as soon as it is there. Reads nothing after it. */
function readFirstRecord(socket: Socket, onRead: (first: Buffer) => void): void {
  let first = NOTHING;
  const read = () => {
    const bytes = socket.read() as Buffer | null;
    if (bytes) first = Buffer.concat([first, bytes]);
    // Without bytes, the client has ended.
    if (bytes && first.length <= MAX_FIRST_BYTES && !isFirstRecordWhole(first)) return;
    socket.off('readable', read);
    stopReading(socket);
    onRead(first);
  };
  socket.on('readable', read);
  read();
}
