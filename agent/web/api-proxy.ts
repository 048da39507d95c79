// The API proxy of an edge router, for clients that cannot reach a controller. The router forwards their requests with
// its own certificate, and sends the certificates that the clients presented.
//
//   client ─► TLS, HTTP ─► request + X-Client-CertPem ─► controller
//
// Reference fact: config, section `edge.apiProxy`.

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Agent, type RequestOptions, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { HttpTimeouts } from '#http/http-timeouts.ts';
import { asError, ClosedError, describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { joinHostPort } from '#lib/net/address.ts';
import { clientSockets, NO_DESCRIPTOR } from '#lib/net/client-sockets.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { strangers } from '#lib/net/strangers.ts';
import { type ShareLimits, Shares } from '#lib/queue/shares.ts';
import type { Clock } from '#lib/time/clock.ts';
import { peerCertificates } from '#pki/certificates.ts';
import { Proofs } from '#schemas/api/proofs.ts';
import { Alpn, type TlsPort } from '#wire/connection/tls-port.ts';
import type { Identity } from '../identity/identity.ts';

export interface ApiProxyComponents {
  clock: Clock;
  log: Log;
  port: TlsPort;
  identity: Identity;
}

const CERTIFICATE_HEADER = 'x-client-certpem';
const PROXY_HEADER = 'x-edge-router-proxy-request';
/** Hop-by-hop headers (RFC 9110, section 7.6.1), and headers that only the router may set. */
const NOT_PASSED_ON = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  CERTIFICATE_HEADER,
  PROXY_HEADER,
]);
/** Headers that delimit a message. The proxy writes those of requests itself. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);
/** `Connection` cannot remove these: without framing, a body would become the connection's next request. */
const NEVER_HOP_BY_HOP: ReadonlySet<string> = new Set([...FRAMING, 'host']);
const MAX_HEADERS_BYTES = 32 * 1024;
/** Milliseconds; long enough for a login with a second factor over a slow line. */
const LIMITS = { read: 30_000, write: 60_000, idle: 60_000 };
/** Milliseconds until the controller must start its answer. */
const ANSWER_TIMEOUT = 30_000;
/** Milliseconds for a client to read the answer to a rejected upgrade. */
const LINGER = 2_000;
/** Limit on connections to the controller, with those of upgrades; further requests wait. */
const MAX_UPSTREAM = 100;
/**
 * Limits on requests in progress, with upgrades: a client that sends no body, or does not read, keeps its connection to
 * the controller.
 */
const IN_PROGRESS = { max: 1_000, maxOfSource: 50 };
/** Limits on upgrades in progress. They may last for hours, so they leave connections to requests. */
const UPGRADES = { max: 50, maxOfSource: 10 };

export class ApiProxy {
  readonly #components: ApiProxyComponents;
  readonly #upstream: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_UPSTREAM });
  readonly #unhandle: (() => void)[];
  readonly #sockets = new Set<Duplex>();
  readonly #inProgress = new Shares(IN_PROGRESS);
  readonly #upgrades = new Shares(UPGRADES);
  readonly #proofs = new Proofs();

  /** Starts to accept on the port. @throws ProtocolTakenError if the port already serves HTTP */
  constructor(components: ApiProxyComponents, upstream: { host: string; port: number }) {
    this.#components = components;
    this.#upstream = upstream;
    this.#server = createServer({ maxHeaderSize: MAX_HEADERS_BYTES });
    const timeouts = new HttpTimeouts(this.#server, components.clock, LIMITS, (request, response) =>
      this.#passOn(request, response),
    );
    this.#server.on('upgrade', (request, socket, head) => {
      timeouts.release(socket as TLSSocket);
      this.#upgrade(request, socket, head);
    });
    const protocols = components.port.has(Alpn.None) ? [Alpn.Http] : [Alpn.Http, Alpn.None];
    this.#unhandle = protocols.map((protocol) =>
      components.port.handle(protocol, (socket, connection) => {
        this.#own(socket);
        timeouts.accept(socket, connection);
      }),
    );
  }

  /** The bound `host:port`. */
  get address(): string {
    const { host, port } = this.#components.port.address;
    return joinHostPort(host, port);
  }

  close(): void {
    for (const unhandle of this.#unhandle) unhandle();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
  }

  #own(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #passOn(request: IncomingMessage, response: ServerResponse): void {
    const source = sourceOf(request.socket.remoteAddress);
    if (!this.#inProgress.acquire(source)) {
      answerError(response.setHeader('retry-after', '1'), 503, tooMany('requests', IN_PROGRESS));
      return;
    }
    response.once('close', () => this.#inProgress.release(source));
    const outgoing = this.#request(request, { agent: this.#agent, headers: framingOf(request) });
    const fail = (error: Error) => {
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      const { status, body } = this.#failure(request, error);
      answerError(response, status, body);
    };
    outgoing.once('response', (answer) => {
      const { method = '', url = '' } = request;
      if ((answer.statusCode ?? 0) < 300 && this.#proofs.has(method, url)) strangers.know(request.socket);
      try {
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders));
      } catch (error) {
        fail(asError(error)); // node:http reads status lines that it does not write
        outgoing.destroy();
        return;
      }
      pipeline(answer, response, (error) => this.#logCut(request, error));
    });
    outgoing.once('error', fail);
    outgoing.once('close', () => {
      // For example after status 101.
      if (!response.headersSent) fail(new ClosedError('the connection to the controller'));
    });
    response.once('close', () => outgoing.destroy());
    pipeline(request, outgoing, () => undefined); // the handler of the answer reports errors
  }

  /** Forwards WebSockets, for example the controller's event stream. They use a connection each. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { upgrade = '' } = request.headers;
    socket.on('error', () => undefined); // its 'close' follows
    if (hasBody(request)) {
      this.#closeAfterAnswer(socket);
      socket.end(failureHead(400, 0));
      return;
    }
    const release = this.#reserve(sourceOf(request.socket.remoteAddress));
    if (!release) {
      const body = tooMany('upgrades', UPGRADES);
      this.#closeAfterAnswer(socket);
      socket.end(failureHead(503, Buffer.byteLength(body)) + body);
      return;
    }
    socket.once('close', release);
    const outgoing = this.#request(request, { agent: false, headers: ['connection', 'Upgrade', 'upgrade', upgrade] });
    socket.once('close', () => outgoing.destroy());
    outgoing.once('upgrade', (answer, upstream: Duplex, upstreamHead: Buffer) => {
      this.#own(upstream);
      socket.write(headOf(answer, ['connection', 'Upgrade', 'upgrade', upgrade]));
      socket.write(upstreamHead);
      upstream.write(head);
      upstream.on('error', () => undefined); // its 'close' follows
      upstream.once('close', () => socket.destroy());
      socket.once('close', () => upstream.destroy());
      socket.pipe(upstream).pipe(socket);
    });
    outgoing.once('response', (answer) => {
      this.#closeAfterAnswer(socket);
      socket.write(headOf(answer, ['connection', 'close']));
      answer.once('error', () => socket.destroy());
      answer.pipe(socket);
    });
    outgoing.once('error', (error) => {
      const { status, body } = this.#failure(request, error);
      this.#closeAfterAnswer(socket);
      socket.end(failureHead(status, Buffer.byteLength(body)) + body);
    });
    outgoing.end();
  }

  /**
   * Reserves an upgrade and its connection to the controller. Returns how to release both; undefined beyond a limit.
   */
  #reserve(source: string): (() => void) | undefined {
    if (!this.#upgrades.acquire(source)) return undefined;
    const hasShare = this.#inProgress.acquire(source);
    const release = () => {
      this.#upgrades.release(source);
      if (hasShare) this.#inProgress.release(source);
      this.#agent.maxSockets = MAX_UPSTREAM - this.#upgrades.total;
    };
    if (!hasShare || !this.#hasConnection()) {
      release();
      return undefined;
    }
    this.#agent.maxSockets = MAX_UPSTREAM - this.#upgrades.total;
    return release;
  }

  /** Whether the newest upgrade may open a connection. An idle connection of requests is closed for it. */
  #hasConnection(): boolean {
    const isOpen = ({ destroyed }: Socket) => !destroyed;
    const idle = Object.values(this.#agent.freeSockets).flatMap((sockets = []) => sockets.filter(isOpen));
    const busy = Object.values(this.#agent.sockets).flatMap((sockets = []) => sockets.filter(isOpen));
    if (idle.length + busy.length + this.#upgrades.total <= MAX_UPSTREAM) return true;
    idle[0]?.destroy();
    return idle.length > 0;
  }

  /** The connection of a rejected upgrade: its client may neither read the answer nor close. */
  #closeAfterAnswer(socket: Duplex): void {
    const { clock } = this.#components;
    const destroyAfter = (milliseconds: number) =>
      clock.after('rejected upgrade', milliseconds, () => socket.destroy());
    let timer = destroyAfter(LIMITS.write);
    socket.once('finish', () => {
      timer.cancel();
      timer = destroyAfter(LINGER);
    });
    socket.once('close', () => timer.cancel());
    socket.resume(); // unread data would reset the connection before the client reads the answer
  }

  /** Creates the request to the controller; it fails if the answer does not start in time. */
  #request(request: IncomingMessage, { agent, headers }: { agent: Agent | false; headers: readonly string[] }) {
    const { identity, clock } = this.#components;
    const { host, port } = this.#upstream;
    const socket = request.socket as TLSSocket;
    const certificates = peerCertificates(socket).flatMap(({ raw }) => [CERTIFICATE_HEADER, raw.toString('base64')]);
    const options: RequestOptions = {
      ...identity.clientContext(),
      allowPartialTrustChain: true,
      rejectUnauthorized: true, // the default depends on the environment
      minVersion: 'TLSv1.2',
      agent,
      host,
      port,
      method: request.method,
      path: request.url,
      headers: [
        ...passedOn(request.rawHeaders, FRAMING),
        ...headers,
        ...certificates,
        PROXY_HEADER,
        new Date(clock.now()).toISOString(),
        'x-forwarded-for',
        socket.remoteAddress ?? '',
      ],
    };
    const outgoing = requestHttps(options);
    outgoing.once('socket', (connection) => {
      if (outgoing.reusedSocket || clientSockets.admit(connection)) return;
      outgoing.destroy(new ProjectError('OPEN_FILES', NO_DESCRIPTOR));
    });
    const late = () => outgoing.destroy(new TimeoutError('the answer of the controller', ANSWER_TIMEOUT));
    const timer = clock.after('api proxy', ANSWER_TIMEOUT, late);
    for (const event of ['response', 'upgrade', 'close']) outgoing.once(event, () => timer.cancel());
    return outgoing;
  }

  #failure({ method, url }: IncomingMessage, error: Error): { status: number; body: string } {
    const upstream = joinHostPort(this.#upstream.host, this.#upstream.port);
    const isLate = error instanceof TimeoutError;
    this.#components.log.warn({ upstream, method, url, error: describeError(error) }, 'request could not be forwarded');
    const code = isLate ? 'GATEWAY_TIMEOUT' : 'BAD_GATEWAY';
    const message = `the controller's API at ${upstream} ${isLate ? 'did not answer in time' : 'cannot be reached'}`;
    return { status: isLate ? 504 : 502, body: errorBody(code, message) };
  }

  #logCut({ method, url }: IncomingMessage, error: Error | null | undefined): void {
    if (error)
      this.#components.log.debug({ method, url, error: describeError(asError(error)) }, 'answer was interrupted');
  }
}

/** Names the status text, because a response keeps the one of a `writeHead` that threw. */
function answerError(response: ServerResponse, status: number, body: string): void {
  response
    .writeHead(status, STATUS_CODES[status], { 'content-type': 'application/json', connection: 'close' })
    .end(body);
}

function errorBody(code: string, message: string): string {
  return `${JSON.stringify({ error: { code, message }, meta: {} })}\n`;
}

function tooMany(what: string, { max, maxOfSource }: ShareLimits): string {
  const limits = `${maxOfSource} of one client, ${max} in total`;
  return errorBody('SERVICE_UNAVAILABLE', `too many ${what} are in progress: ${limits}`);
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return coding !== undefined || Number(length) !== 0;
}

/** The headers that delimit the body. node:http adds none to methods that rarely have one, such as GET. */
function framingOf({ headers }: IncomingMessage): string[] {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (coding !== undefined) return ['transfer-encoding', 'chunked'];
  return length === undefined ? [] : ['content-length', length];
}

/** Raw headers without hop-by-hop headers, without those that `connection` names, and without `omitted`. */
function passedOn(rawHeaders: readonly string[], omitted: ReadonlySet<string> = new Set()): string[] {
  const named = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'connection') continue;
    for (const name of (rawHeaders[at + 1] ?? '').split(',')) named.add(name.trim().toLowerCase());
  }
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const lower = name.toLowerCase();
    if (named.has(lower) && !NEVER_HOP_BY_HOP.has(lower)) continue;
    // Some servers read "_" in names as "-".
    if (!NOT_PASSED_ON.has(lower.replaceAll('_', '-')) && !omitted.has(lower)) kept.push(name, value);
  }
  return kept;
}

/** Status line and headers of an error answer of the proxy in wire format. */
function failureHead(status: number, length: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`;
}

/** Status line and headers of an answer in wire format. Its body follows without chunks. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage, further: readonly string[]): string {
  const headers = [...passedOn(rawHeaders), ...further];
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]?.toLowerCase() !== 'transfer-encoding') lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
