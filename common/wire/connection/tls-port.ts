// One TLS listening socket, shared by protocols that ALPN distinguishes: control channels, links, SDK connections,
// HTTP. It does not verify client certificates; each protocol does.
//
// Choice of a handler (reference fact: control channel, section 1.1): the LAST name in the client's list that has a
// handler. Without a list: the handler of '', or the only protocol of the port. Otherwise the handshake fails.

import { constants } from 'node:crypto';
import type { Server as NetServer } from 'node:net';
import { createServer, type SecureContext, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls';
import { asError, describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
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
  readonly #server: Server;
  readonly #handlers = new Map<string, SocketHandler>();
  readonly #sockets = new Set<TLSSocket>();
  readonly #connections: PortConnections;
  readonly #log: Log;

  private constructor(server: Server, connections: PortConnections, log: Log) {
    this.#server = server;
    this.#connections = connections;
    this.#log = log;
  }

  /** Rejects with the system's error (EADDRINUSE, EACCES, …) if the address is not available. */
  static async open(options: TlsPortOptions): Promise<TlsPort> {
    let port: TlsPort | undefined;
    const contextFor = options.contextFor;
    const server = createServer({
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
    port = new TlsPort(server, connections, options.log);
    port.#listen();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(
        options.port,
        options.host === '' ? undefined : options.host,
        () => (server.off('error', reject), resolve()),
      );
    });
    server.on('error', (error) => options.log.error({ error: describeError(error) }, 'listening socket failed'));
    return port;
  }

  /** The bound address, with the actual port if the configured one is 0. */
  get address(): { host: string; port: number } {
    const address = (this.#server as NetServer).address();
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
    this.#server.setSecureContext({ ...SERVER_SECURITY, ...context });
  }

  /**
   * Stops accepting and closes all connections. With `keepsHandled`, the connections of handlers stay open. Resolves
   * when no connection is left.
   */
  async close({ keepsHandled = false }: { keepsHandled?: boolean } = {}): Promise<void> {
    this.#handlers.clear();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#connections.closeHandshakes();
      if (!keepsHandled) for (const socket of this.#sockets) socket.destroy();
    });
  }

  #listen(): void {
    this.#server.on('connection', (socket) => this.#connections.add(socket));
    this.#server.on('secureConnection', (socket) => this.#onConnection(socket));
    this.#server.on('tlsClientError', (error, socket) => {
      this.#log.debug({ remote: socket.remoteAddress, error: describeError(error) }, 'tls handshake failed');
      socket.destroy();
    });
  }

  #onConnection(socket: TLSSocket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined); // the owner of the socket handles 'close'
    const handler = this.#handlerFor(socket.alpnProtocol);
    const connection = this.#connections.secured(socket);
    if (handler && connection) handler(socket, connection);
    else socket.destroy();
  }

  #handlerFor(protocol: string | false | null): SocketHandler | undefined {
    if (protocol) return this.#handlers.get(protocol);
    const [first, ...others] = this.#handlers.values();
    return this.#handlers.get(Alpn.None) ?? (others.length === 0 ? first : undefined);
  }
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
