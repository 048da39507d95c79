// The HTTPS servers of the `web` section: bind points, options, and the APIs health-checks and metrics. A server whose only API is
// health-checks answers every path with it, as the reference does; `/livez` and `/readyz` answer with a status that probes understand.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { joinHostPort } from '#lib/address.ts';
import { background } from '#lib/background.ts';
import type { Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import { Alpn, TlsPort } from '#wire/tls-port.ts';
import type { BindPointConfig, WebConfig } from '../config/router-config.ts';
import type { Health } from '../health/health.ts';
import { Identity } from '../identity/identity.ts';
import type { PrometheusPage } from '../metrics/prometheus.ts';

export interface WebServerComponents {
  clock: Clock;
  log: Log;
  identity: Identity;
  health: Health;
  /** Undefined when no server has the metrics API. */
  metrics: PrometheusPage | undefined;
}

const GRACE = 15_000;
const MOST_CONNECTIONS = 500;
const LARGEST_HEADERS = 16 * 1024;
const TLS_NAMES = { 'TLS1.0': 'TLSv1', 'TLS1.1': 'TLSv1.1', 'TLS1.2': 'TLSv1.2', 'TLS1.3': 'TLSv1.3' } as const;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export class WebServer {
  readonly #components: WebServerComponents;
  readonly #config: WebConfig;
  readonly #servers: Server[] = [];
  readonly #ports: TlsPort[] = [];
  readonly #sockets = new Set<TLSSocket>();
  /** Sockets with a request that is being answered. */
  readonly #busy = new Set<TLSSocket>();
  #closing = false;
  readonly #unsubscribe: () => void;
  readonly #ownIdentity: Identity | undefined;

  private constructor(components: WebServerComponents, config: WebConfig, ownIdentity: Identity | undefined) {
    this.#components = components;
    this.#config = config;
    this.#ownIdentity = ownIdentity;
    const identity = ownIdentity ?? components.identity;
    this.#unsubscribe = identity.onChange(() => {
      for (const port of this.#ports) port.replaceContext(identity.serverContext());
    });
  }

  /** Rejects when a bind point cannot be had. */
  static async open(components: WebServerComponents, config: WebConfig): Promise<WebServer> {
    const { clock, log } = components;
    const own = config.identity ? await Identity.open({ config: config.identity, clock, log, watch: true }) : undefined;
    const server = new WebServer(components, config, own);
    try {
      for (const point of config.bindPoints) await server.#bind(point, own ?? components.identity);
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

  /** Accepts no more; requests under way get a bounded time. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#closing = true;
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
      await Promise.race([
        allClosed,
        new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
      ]);
      timer.cancel();
    }
    await Promise.all(this.#ports.map((port) => port.close()));
    this.#ownIdentity?.close();
  }

  async #bind(point: BindPointConfig, identity: Identity): Promise<void> {
    const { options } = this.#config;
    const port = await TlsPort.open({
      host: point.interface.host,
      port: point.interface.port,
      context: {
        ...identity.serverContext(),
        minVersion: TLS_NAMES[options.minTLSVersion],
        maxVersion: TLS_NAMES[options.maxTLSVersion],
      },
      contextFor: (name) => identity.contextFor(name),
      maxConnections: MOST_CONNECTIONS,
      log: this.#components.log,
    });
    const server = createServer({
      maxHeaderSize: LARGEST_HEADERS,
      requestTimeout: options.readTimeout + options.writeTimeout,
      headersTimeout: options.readTimeout,
      keepAliveTimeout: options.idleTimeout,
      connectionsCheckingInterval: 1_000,
    });
    server.on('request', (request, response) => this.#onRequest(point, request, response));
    const take = (socket: TLSSocket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      server.emit('connection', socket);
    };
    port.handle(Alpn.Http, take);
    port.handle(Alpn.None, take);
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

  #onRequest(point: BindPointConfig, request: IncomingMessage, response: ServerResponse): void {
    request.resume(); // no API reads a body
    const socket = request.socket as TLSSocket;
    this.#busy.add(socket);
    response.once('close', () => {
      this.#busy.delete(socket);
      if (this.#closing) socket.end();
    });
    background(this.#components.log, 'web request', async () => {
      const answer = await this.#answer(new URL(request.url ?? '/', 'https://router'));
      const { body, encoding } = compress(answer.body, request.headers['accept-encoding']);
      response.writeHead(answer.status, {
        'content-type': answer.type,
        'content-length': body.length,
        ...(encoding && { 'content-encoding': encoding }),
        ...(point.newAddress && {
          'ziti-ctrl-address': `https://${joinHostPort(point.newAddress.host, point.newAddress.port)}`,
        }),
      });
      response.end(request.method === 'HEAD' ? undefined : body);
    });
  }

  async #answer(url: URL): Promise<Answer> {
    const { health, metrics } = this.#components;
    const apis = this.#config.apis.map((api) => api.binding);
    const hasHealth = apis.includes('health-checks');
    const short = url.searchParams.get('type') === 'short';
    const json = (status: number): Answer => ({ status, type: 'application/json', body: health.payload({ short }) });
    if (metrics && apis.includes('metrics') && url.pathname === '/metrics')
      return { status: 200, type: metrics.contentType, body: await metrics.render() };
    // Alive is who answers; ready is who can carry traffic.
    if (hasHealth && url.pathname === '/livez') return json(200);
    if (hasHealth && url.pathname === '/readyz') return json(health.healthy ? 200 : 503);
    if (hasHealth && (apis.length === 1 || url.pathname.startsWith('/health-checks'))) return json(200);
    return {
      status: 404,
      type: 'application/json',
      body: `${JSON.stringify({ error: { code: 'NOT_FOUND', message: `path ${url.pathname} was not found; there is ${hasHealth ? '/health-checks, /livez, /readyz' : ''}${hasHealth && apis.length > 1 ? ', ' : ''}${apis.includes('metrics') ? '/metrics' : ''}` }, meta: {} })}\n`,
    };
  }
}

function compress(body: string, accepted: string | string[] | undefined): { body: Buffer; encoding?: 'br' | 'gzip' } {
  const offered = String(accepted ?? '');
  if (/\bbr\b/.test(offered)) return { body: brotliCompressSync(body), encoding: 'br' };
  if (/\bgzip\b/.test(offered)) return { body: gzipSync(body), encoding: 'gzip' };
  return { body: Buffer.from(body) };
}
