// One TLS listening socket, shared by protocols that ALPN distinguishes: control channels, links, SDK connections,
// HTTP. It does not verify client certificates; each protocol does.
//
// Choice of a handler (reference fact: control channel, section 1.1): the LAST name in the client's list that has a
// handler. Without a list: the handler of '', or the only protocol of the port. Otherwise the handshake fails.
//
// A handshake begins when the first bytes of the client are there and it is the client's turn
// (common/lib/net/strangers.ts):
//
//   listening socket ─► first bytes ─► turn ─► TLS ─► protocol

import { constants } from 'node:crypto';
import { createServer as createListener, type Server as Listener, type Socket } from 'node:net';
import { createServer, type SecureContext, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls';
import { asError, describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { strangers } from '#lib/net/strangers.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { type PortConnection, PortConnections } from './port-connections.ts';

export type SocketHandler = (socket: TLSSocket, connection: PortConnection) => void;

export interface TlsPortOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Certificate, key and other options of the handshake. */
  context: SecureContextOptions;
  /** The certificate for a requested server name; undefined for the default one. */
  contextFor?: (serverName: string) => SecureContext | undefined;
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

/**
 * Disables session resumption: a resumed session contains only the leaf of the client's chain, which cannot be verified
 * without the intermediates. So every connection needs a full handshake.
 */
export const SERVER_SECURITY = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;
const HANDSHAKE_TIMEOUT = 5_000;
/**
 * Milliseconds of processor time that the rest of a handshake takes at most, with certificates that are expensive to
 * check. They count until the connection is closed, so that only some handshakes of a source are in progress.
 */
const DEAREST_MS = 4;
/** A handshake with EC keys usually takes this long, and this much longer for each KiB that the client sends. */
const HANDSHAKE_MS = 0.35;
const MS_PER_KIB = 0.04;
/** The handshakes of peers happen in real time, whatever the clock of a simulator shows. */
const clock = new SystemClock();
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
  /** Does not listen; it gets the connections of the listener. */
  readonly #tls: Server;
  readonly #handshakeTimeout: number;
  readonly #handlers = new Map<string, SocketHandler>();
  readonly #sockets = new Set<TLSSocket>();
  readonly #connections: PortConnections;
  /** Bytes of each client until the end of its handshake. */
  readonly #handshakeBytes = new WeakMap<Socket, number>();

  private constructor(tls: Server, connections: PortConnections, { handshakeTimeout, log }: TlsPortOptions) {
    this.#listener = createListener((socket) => this.#onClient(socket));
    this.#tls = tls;
    this.#connections = connections;
    this.#handshakeTimeout = handshakeTimeout ?? HANDSHAKE_TIMEOUT;
    tls.on('secureConnection', (socket) => this.#onConnection(socket));
    tls.on('tlsClientError', (error, socket) => {
      log.debug({ remote: socket.remoteAddress, error: describeError(error) }, 'tls handshake failed');
      socket.destroy();
    });
  }

  /** Rejects with the system's error (EADDRINUSE, EACCES, …) if the address is not available. */
  static async open(options: TlsPortOptions): Promise<TlsPort> {
    let port: TlsPort | undefined;
    const contextFor = options.contextFor;
    const tls = createServer({
      ...SERVER_SECURITY,
      ...options.context,
      requestCert: options.requestCert ?? true,
      rejectUnauthorized: false,
      handshakeTimeout: options.handshakeTimeout ?? HANDSHAKE_TIMEOUT,
      ALPNCallback: ({ protocols }) => protocols.findLast((protocol) => port?.has(protocol)),
      ...(contextFor && {
        SNICallback: (name: string, done: (error: Error | null, context?: SecureContext) => void) =>
          answerSni(contextFor, name, done),
      }),
    });
    const { maxConnections = MAX_CONNECTIONS, maxHandshakes = MAX_HANDSHAKES } = options;
    const connections = new PortConnections({ connections: maxConnections, handshakes: maxHandshakes });
    port = new TlsPort(tls, connections, options);
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
  handle(protocol: string, handler: SocketHandler): () => void {
    if (this.#handlers.has(protocol)) throw new ProtocolTakenError(protocol, `port ${this.address.port}`);
    this.#handlers.set(protocol, handler);
    return () => void this.#handlers.delete(protocol);
  }

  /** New connections use these certificates; open ones keep theirs. */
  replaceContext(context: SecureContextOptions): void {
    this.#tls.setSecureContext({ ...SERVER_SECURITY, ...context });
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
    this.#connections.add(socket);
    if (socket.destroyed) return;
    const timer = clock.after('first bytes of a client', this.#handshakeTimeout, () => socket.destroy());
    let prevent: (() => boolean) | undefined;
    socket.on('error', () => undefined); // its 'close' follows
    socket.once('close', () => {
      timer.cancel();
      const bytes = this.#handshakeBytes.get(socket) ?? socket.bytesRead;
      if (prevent && !prevent()) strangers.correct(socket, DEAREST_MS - costOf(bytes));
    });
    socket.once('readable', () => {
      timer.cancel(); // its turn is not the client's affair, and the TLS server has a timer of its own
      if (!socket.destroyed) prevent = strangers.run(socket, () => this.#tls.emit('connection', socket), DEAREST_MS);
    });
  }

  #onConnection(socket: TLSSocket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined); // the owner of the socket handles 'close'
    const handler = this.#handlerFor(socket.alpnProtocol);
    const connection = this.#connections.secured(socket);
    if (connection) {
      this.#handshakeBytes.set(connection.socket, connection.socket.bytesRead);
      strangers.join(connection.socket, socket);
    }
    if (handler && connection) handler(socket, connection);
    else socket.destroy();
  }

  #handlerFor(protocol: string | false | null): SocketHandler | undefined {
    if (protocol) return this.#handlers.get(protocol);
    const [first, ...others] = this.#handlers.values();
    return this.#handlers.get(Alpn.None) ?? (others.length === 0 ? first : undefined);
  }
}

function costOf(bytes: number): number {
  return HANDSHAKE_MS + (bytes / 1_024) * MS_PER_KIB;
}

function answerSni(
  contextFor: (name: string) => SecureContext | undefined,
  name: string,
  done: (error: Error | null, context?: SecureContext) => void,
): void {
  try {
    done(null, contextFor(name));
  } catch (error) {
    done(asError(error));
  }
}
