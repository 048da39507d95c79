// The HTTPS servers of the `web` section: bind points, certificates, timeouts, closing. web-apis.ts creates the
// answers.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import { contentCoding } from '#http/content-negotiation.ts';
import { HttpTimeouts } from '#http/http-timeouts.ts';
import { background } from '#lib/background.ts';
import type { Log } from '#lib/log/log.ts';
import { joinHostPort } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { listening } from '#lib/net/listening.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { Budget } from '#lib/queue/budget.ts';
import { unlessAborted } from '#lib/time/abort.ts';
import type { PortConnection } from '#wire/connection/port-connections.ts';
import { Alpn, type ClientStream, TlsPort } from '#wire/connection/tls-port.ts';
import type { BindPointConfig, WebConfig } from '../config/router-config.ts';
import type { Identity } from '../identity/identity.ts';
import { rejection, type WebAnswer, type WebApiComponents, WebApis } from './web-apis.ts';

export interface WebServerComponents extends WebApiComponents {
  io: IoContext;
  log: Log;
  /** The server's own, or the router's. */
  identity: Identity;
  /** The port that other listeners of the router use at this address; bind points share it. */
  portOfOthers?: (host: string, port: number) => TlsPort | undefined;
}

const GRACE = 15_000;
/**
 * Limits on connections of a bind point and on TLS handshakes among them: for probes, metrics collectors and some
 * people.
 */
const MAX_CONNECTIONS = 500;
const MAX_HANDSHAKES = 200;
const MAX_HEADERS_BYTES = 16 * 1024;
/** Limits on requests in progress: a client that does not read its answer keeps its share. */
const IN_PROGRESS = { max: 400, maxOfSource: 20 };
const TLS_NAMES = { 'TLS1.0': 'TLSv1', 'TLS1.1': 'TLSv1.1', 'TLS1.2': 'TLSv1.2', 'TLS1.3': 'TLSv1.3' } as const;

const TOO_MANY = rejection(
  503,
  'SERVICE_UNAVAILABLE',
  `too many requests are in progress: ${IN_PROGRESS.maxOfSource} of one client, ${IN_PROGRESS.max} in total`,
  { 'retry-after': '1' },
);

export class WebServer {
  readonly #components: WebServerComponents;
  readonly #config: WebConfig;
  readonly #apis: WebApis;
  readonly #servers: Server[] = [];
  /** All ports, and those that are not shared. */
  readonly #ports: TlsPort[] = [];
  readonly #ownPorts: TlsPort[] = [];
  /** Ends the use of shared ports. */
  readonly #unshare: (() => void)[] = [];
  readonly #sockets = new Set<ClientStream>();
  /** Sockets with a request in progress. */
  readonly #busy = new Set<ClientStream>();
  readonly #inProgress = new Budget(IN_PROGRESS);
  #closing = false;
  readonly #unsubscribe: () => void;

  private constructor(components: WebServerComponents, config: WebConfig) {
    this.#components = components;
    this.#config = config;
    this.#apis = new WebApis(
      components,
      config.apis.map(({ binding }) => binding),
    );
    this.#unsubscribe = components.identity.onChange(() => {
      for (const port of this.#ownPorts) port.replaceContext(this.#contexts());
    });
  }

  /** Opens every bind point; `key` is the server's key in the configuration. Rejects with ListenError. */
  static async open(components: WebServerComponents, config: WebConfig, key: string): Promise<WebServer> {
    const server = new WebServer(components, config);
    try {
      for (const [index, point] of config.bindPoints.entries()) {
        const place = { key: `${key}.bindPoints[${index}].interface`, network: 'tcp', ...point.interface } as const;
        await listening(place, () => server.#bind(point));
      }
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  /** The bound addresses. */
  get addresses(): string[] {
    return this.#ports.map((port) => joinHostPort(port.address.host, port.address.port));
  }

  /** Stops accepting; requests in progress get a bounded time. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#closing = true;
    for (const unshare of this.#unshare) unshare();
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) if (!this.#busy.has(socket)) socket.destroy();
    if (this.#sockets.size > 0) {
      const { signal, timer } = this.#components.clock.deadline(
        'web close',
        GRACE,
        () => new Error('the grace time is over'),
      );
      const allClosed = Promise.all(
        [...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
      );
      await unlessAborted(signal, allClosed).catch(() => undefined); // the ports close the others
      timer.cancel();
    }
    await Promise.all(this.#ownPorts.map((port) => port.close()));
  }

  #contexts(): SecureContextOptions[] {
    const { minTLSVersion, maxTLSVersion } = this.#config.options;
    const versions = { minVersion: TLS_NAMES[minTLSVersion], maxVersion: TLS_NAMES[maxTLSVersion] };
    return this.#components.identity.serverContexts().map((each) => ({ ...each, ...versions }));
  }

  async #bind(point: BindPointConfig): Promise<void> {
    const { options } = this.#config;
    const { host, port: number } = point.interface;
    const shared = this.#components.portOfOthers?.(host, number);
    const port = shared ?? (await this.#openPort(host, number));
    const server = createServer({ maxHeaderSize: MAX_HEADERS_BYTES });
    const limits = { read: options.readTimeout, write: options.writeTimeout, idle: options.idleTimeout };
    const timeouts = new HttpTimeouts(server, this.#components.io, limits, (request, response) =>
      this.#onRequest(point, request, response),
    );
    const accept = (socket: ClientStream, connection: PortConnection) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      timeouts.accept(socket, connection);
    };
    // An edge listener on the port gets the clients without ALPN.
    const protocols = port.has(Alpn.None) ? [Alpn.Http] : [Alpn.Http, Alpn.None];
    const unhandle = protocols.map((protocol) => port.handle(protocol, accept));
    if (shared) this.#unshare.push(...unhandle);
    this.#ports.push(port);
    this.#servers.push(server);
    this.#components.log.info(
      {
        name: this.#config.name,
        address: joinHostPort(port.address.host, port.address.port),
        apis: this.#config.apis.map((api) => api.binding),
      },
      'web server open',
    );
  }

  async #openPort(host: string, port: number): Promise<TlsPort> {
    const { io, log } = this.#components;
    const opened = await TlsPort.open({
      io,
      host,
      port,
      context: this.#contexts(),
      requestCert: false,
      maxConnections: MAX_CONNECTIONS,
      maxHandshakes: MAX_HANDSHAKES,
      log,
    });
    this.#ownPorts.push(opened);
    return opened;
  }

  #onRequest(point: BindPointConfig, request: IncomingMessage, response: ServerResponse): void {
    request.resume(); // no API reads a body
    const socket = request.socket as ClientStream;
    const source = sourceOf(socket.remoteAddress);
    const hasShare = this.#inProgress.acquire(source);
    this.#busy.add(socket);
    response.once('close', () => {
      if (hasShare) this.#inProgress.release(source);
      this.#busy.delete(socket);
      if (this.#closing) socket.destroySoon();
    });
    background(this.#components.log, 'web request', async () => {
      try {
        const { method = '', url = '' } = request;
        send(point, request, response, hasShare ? await this.#apis.answer(method, url) : TOO_MANY);
      } catch (error) {
        response.destroy(); // closes the connection, because no answer follows
        throw error;
      }
    });
  }
}

function send(point: BindPointConfig, request: IncomingMessage, response: ServerResponse, answer: WebAnswer): void {
  const encoding = answer.reused && contentCoding(request.headers['accept-encoding'], ['br', 'gzip']);
  const body = answer.reused?.encoded(encoding) ?? Buffer.from(answer.body);
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.status !== 204 && { 'content-length': body.length }),
    ...(encoding && { 'content-encoding': encoding }),
    vary: 'accept-encoding',
    ...(point.newAddress && {
      'ziti-ctrl-address': `https://${joinHostPort(point.newAddress.host, point.newAddress.port)}`,
    }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
