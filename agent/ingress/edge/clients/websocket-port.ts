// SDK clients in browsers. A browser has no client certificate of the network, so the client's own TLS runs inside a
// WebSocket:
//
//   TLS ─► GET /ws ─► WebSocket ─► binary messages ─► TLS with the client's certificate ─► EdgeListener
//
// Reference facts: edge, section 1; config, section `transport.wss`.

import type { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { HttpTimeouts } from '#http/http-timeouts.ts';
import { limitShortFrames, MESSAGE_PARTS } from '#http/websocket-frames.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { socketPair } from '#lib/net/socket-pair.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { FairSlots } from '#lib/queue/fair-slots.ts';
import type { PortConnection } from '#wire/connection/port-connections.ts';
import { ServerContexts } from '#wire/connection/server-contexts.ts';
import { limitKeyUpdates, secureServer } from '#wire/connection/server-tls.ts';
import { secureInThread } from '#wire/connection/threads/secure-in-thread.ts';
import { networkOf, type ThreadedTls, type TlsConnection } from '#wire/connection/threads/threaded-tls.ts';
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
  onClient(socket: TlsConnection, network: Socket): void;
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
  #contexts: ServerContexts;
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
    this.#contexts = new ServerContexts(identity.serverContexts());
    const stopWatching = identity.onChange(() => {
      this.#contexts = new ServerContexts(identity.serverContexts());
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
    const { io, log } = this.#components;
    const { readBufferSize, writeBufferSize } = this.#settings;
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
    stream.on('error', () => undefined); // its 'close' follows
    const socket = this.#secureInThread(stream, networkOf(network)) ?? this.#secureHere(stream, network);
    const emitter: EventEmitter = socket;
    const settle = () => this.#handshakes.delete(webSocket);
    emitter.on('error', (error: Error) => log.debug({ remote, error }, 'TLS inside a WebSocket failed'));
    emitter.once('close', () => webSocket.terminate());
    network.once('close', () => (settle(), socket.destroy()));
    emitter.once('secure', () => {
      settle();
      if (network.destroyed) return;
      connection?.setEvictable(false);
      this.#waiting.delete(network);
      this.#keepAlive(webSocket, network);
      this.#components.onClient(socket, networkOf(network));
    });
  }

  #secureHere(stream: Duplex, network: ClientStream): TLSSocket {
    const { io } = this.#components;
    const socket = secureServer(inPieces(stream, network, io.unauthenticatedCpu), {
      clock: io.realClock,
      contexts: this.#contexts,
      requestCert: true,
      timeout: this.#settings.handshakeTimeout,
    });
    limitKeyUpdates(socket, network, io);
    return socket;
  }

  /** The thread reads and writes the TLS from a socket to this thread. */
  #secureInThread(stream: Duplex, network: Socket): ThreadedTls | undefined {
    const { io } = this.#components;
    const { handshakeTimeout: timeout } = this.#settings;
    const pair = io.threads && io.unauthenticatedCpu.isNoticeable ? socketPair(io.clientSockets) : undefined;
    if (!pair) return undefined;
    const { socket, descriptor } = pair;
    const protocols = new Map([['', true]]);
    const options = { contexts: this.#contexts, protocols, requestCert: true, timeout, descriptor };
    const secured = secureInThread(network, io, options);
    if (secured)
      pipeline(stream, socket, stream, () => undefined); // errors end both, and the connection with them
    else pair.close();
    return secured;
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
