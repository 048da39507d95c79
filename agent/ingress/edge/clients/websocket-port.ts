// SDK clients in browsers. A browser has no client certificate of the network, so the client's own TLS runs inside a
// WebSocket:
//
//   TLS ─► GET /ws ─► WebSocket ─► binary messages ─► TLS with the client's certificate ─► EdgeListener
//
// Reference facts: edge, section 1; config, section `transport.wss`.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { HttpTimeouts } from '#http/http-timeouts.ts';
import { limitShortFrames, MESSAGE_PARTS } from '#http/websocket-frames.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { FairSlots } from '#lib/queue/fair-slots.ts';
import type { PortConnection } from '#wire/connection/port-connections.ts';
import { limitKeyUpdates, SERVER_SECURITY, secureServer } from '#wire/connection/server-tls.ts';
import { networkOf } from '#wire/connection/threads/threaded-tls.ts';
import { Alpn, type ClientStream, type TlsPort } from '#wire/connection/tls-port.ts';
import type { Identity } from '../../../identity/identity.ts';
import { watchPongs } from './pong-watch.ts';
import { inPieces } from './websocket-pieces.ts';

/** Times in milliseconds, sizes in bytes. */
export interface WebSocketSettings {
  readonly readTimeout: number;
  readonly writeTimeout: number;
  readonly idleTimeout: number;
  /** A client that answers no ping for this long is disconnected. */
  readonly pongTimeout: number;
  /** 0: no pings. */
  readonly pingInterval: number;
  /** For the TLS handshake inside the WebSocket. */
  readonly handshakeTimeout: number;
  readonly readBufferSize: number;
  readonly writeBufferSize: number;
  readonly enableCompression: boolean;
}

export interface WebSocketPortComponents {
  io: IoContext;
  log: Log;
  port: TlsPort;
  /** For the TLS inside the WebSocket. */
  identity: Identity;
  /** Accepts a client whose inner handshake is complete. `network` is the connection that carries it. */
  onClient(socket: TLSSocket, network: Socket): void;
}

const PATH = '/ws';
const MAX_HEADERS_BYTES = 16 * 1024;
/** Bytes. A client sends TLS records of at most 16 KiB each and may combine several in one message. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Inner handshakes in progress: the same limit as for a port's outer handshakes. */
const MAX_HANDSHAKES = 2_000;

export class WebSocketPort {
  readonly #components: WebSocketPortComponents;
  readonly #settings: WebSocketSettings;
  readonly #http: Server;
  readonly #timeouts: HttpTimeouts;
  readonly #upgrades: WebSocketServer;
  readonly #connections = new WeakMap<Duplex, PortConnection>();
  readonly #handshakes = new FairSlots<WebSocket>(MAX_HANDSHAKES, (webSocket) => webSocket.terminate());
  readonly #unhandle: (() => void)[];
  #context: SecureContext;
  /** Connections before their inner handshake is complete; the listener owns them afterwards. */
  readonly #waiting = new Set<ClientStream>();

  constructor(components: WebSocketPortComponents, settings: WebSocketSettings) {
    this.#components = components;
    this.#settings = settings;
    const limits = { read: settings.readTimeout, write: settings.writeTimeout, idle: settings.idleTimeout };
    this.#http = createServer({ maxHeaderSize: MAX_HEADERS_BYTES });
    this.#timeouts = new HttpTimeouts(this.#http, components.io, limits, answerWithoutUpgrade, this.#upgrade);
    this.#upgrades = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_MESSAGE_BYTES,
      ...MESSAGE_PARTS,
      // Messages are TLS records, which do not compress: compressed messages are accepted, but none are sent.
      perMessageDeflate: settings.enableCompression && {
        serverNoContextTakeover: true,
        clientNoContextTakeover: true,
        threshold: Number.MAX_SAFE_INTEGER,
      },
    });
    // If the port serves nothing else, a client without ALPN is treated as a browser.
    const { identity } = components;
    const loadContext = () => createSecureContext({ ...SERVER_SECURITY, ...identity.serverContext() });
    this.#context = loadContext();
    const stopWatching = identity.onChange(() => {
      this.#context = loadContext();
    });
    const protocols = components.port.has(Alpn.None) ? [Alpn.Http] : [Alpn.Http, Alpn.None];
    const handled = protocols.map((protocol) =>
      components.port.handle(protocol, (socket, connection) => this.#accept(socket, connection)),
    );
    this.#unhandle = [stopWatching, ...handled];
  }

  close(): void {
    for (const unhandle of this.#unhandle) unhandle();
    this.#http.close();
    for (const socket of this.#waiting) socket.destroy();
  }

  #accept(socket: ClientStream, connection: PortConnection): void {
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
    this.#connections.set(socket, connection);
    this.#timeouts.accept(socket, connection);
  }

  readonly #upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const socket = request.socket as ClientStream;
    if (pathOf(request) !== PATH) {
      reject(stream, '404 Not Found', `WebSockets are served at ${PATH}`);
      return;
    }
    this.#timeouts.release(socket);
    this.#upgrades.handleUpgrade(request, stream, head, (webSocket) => this.#secure(webSocket, socket));
  };

  /** Runs the inner TLS handshake. Until it completes, the connection is unauthenticated and evictable. */
  #secure(webSocket: WebSocket, network: ClientStream): void {
    const { io, identity, log } = this.#components;
    const { handshakeTimeout, readBufferSize, writeBufferSize } = this.#settings;
    const connection = this.#connections.get(network);
    const { remoteAddress: remote } = network;
    limitShortFrames(webSocket, io.clock, () =>
      log.info({ remote }, 'WebSocket closed: the client keeps sending frames without data'),
    );
    connection?.setEvictable(true);
    this.#handshakes.add(webSocket, sourceOf(remote));
    const stream = createWebSocketStream(webSocket, {
      readableHighWaterMark: readBufferSize,
      writableHighWaterMark: writeBufferSize,
    });
    const socket = secureServer(inPieces(stream, network, io.unauthenticatedCpu), {
      clock: io.realClock,
      context: this.#context,
      requestCert: true,
      timeout: handshakeTimeout,
      contextFor: (name) => identity.contextFor(name),
    });
    limitKeyUpdates(socket, network, io);
    const settle = () => this.#handshakes.delete(webSocket);
    stream.on('error', () => undefined); // its 'close' follows
    socket.on('error', (error) => log.debug({ remote, error }, 'TLS inside a WebSocket failed'));
    socket.once('close', () => webSocket.terminate());
    network.once('close', () => (settle(), socket.destroy()));
    socket.once('secure', () => {
      settle();
      if (network.destroyed) return;
      connection?.setEvictable(false);
      this.#waiting.delete(network);
      this.#keepAlive(webSocket, network);
      this.#components.onClient(socket, networkOf(network));
    });
  }

  #keepAlive(webSocket: WebSocket, network: ClientStream): void {
    const { io, log } = this.#components;
    const stop = watchPongs(webSocket, io.clock, this.#settings, () => {
      log.info({ remote: network.remoteAddress }, 'WebSocket closed: the client answers no ping');
      webSocket.terminate();
    });
    webSocket.once('close', stop);
  }
}

function pathOf({ url = '' }: IncomingMessage): string | undefined {
  return URL.parse(url, 'https://router')?.pathname;
}

function answerWithoutUpgrade(request: IncomingMessage, response: ServerResponse): void {
  const found = pathOf(request) === PATH;
  const text = found ? 'SDK clients connect here with a WebSocket\n' : `WebSockets are served at ${PATH}\n`;
  response.writeHead(found ? 426 : 404, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...(found && { upgrade: 'websocket', connection: 'close' }),
  });
  response.end(text);
}

function reject(socket: Duplex, status: string, reason: string): void {
  const head = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: text/plain\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(reason)}\r\n\r\n${reason}`);
}
