// The API proxy of an edge router, for clients that cannot reach a controller. The router forwards their requests with
// its own certificate, and sends the certificates that the clients presented.
//
//   client ─► TLS, HTTP ─► first part of the body ─► turn of the source ─► request + X-Client-CertPem ─► controller
//
// A client that withholds its body has no connection to the controller. Sources take turns for the connections, and
// leave some to each other (common/lib/queue/fair-tasks.ts).
//
// Reference fact: config, section `edge.apiProxy`.

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Agent, type RequestOptions, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import { HttpTimeouts } from '#http/http-timeouts.ts';
import { asError, ClosedError, describeError, errorCode, ProjectError, TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { joinHostPort } from '#lib/net/address.ts';
import { NO_DESCRIPTOR } from '#lib/net/client-sockets.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { Budget } from '#lib/queue/budget.ts';
import { WorkSlots } from '#lib/queue/fair-slots.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import { onAbort, unlessAborted } from '#lib/time/abort.ts';
import type { Timer } from '#lib/time/clock.ts';
import { peerCertificates } from '#pki/certificates.ts';
import { Proofs } from '#schemas/api/proofs.ts';
import { Alpn, type ClientStream, type TlsPort } from '#wire/connection/tls-port.ts';
import type { Identity } from '../identity/identity.ts';

export interface ApiProxyComponents {
  io: IoContext;
  log: Log;
  port: TlsPort;
  identity: Identity;
}

const UNAVAILABLE = 'SERVICE_UNAVAILABLE';
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
/** Milliseconds for which a request waits for a connection to the controller. */
const WAIT_TIMEOUT = 10_000;
/** Milliseconds for a body to arrive, however slowly. Below the limit of its connection, so that there is an answer. */
const BODY_TIMEOUT = 25_000;
/** Bytes of a body, if it has so many, before the request gets a connection to the controller. */
const FIRST_PART_BYTES = 16 * 1024;
/** Limit on requests that wait for this part of their bodies. */
const MAX_WITHOUT_BODY = 1_000;
const TOO_MANY_BODIES = `more than ${MAX_WITHOUT_BODY} requests wait for their bodies`;
/** Milliseconds for a client to read the answer to a rejected upgrade. */
const LINGER = 2_000;
/** Limit on connections to the controller, with those of upgrades. */
const MAX_UPSTREAM = 100;
/** Limit on requests that wait for such a connection. */
const MAX_WAITING = 1_000;
/** Limits on upgrades in progress. They may last for hours, so they leave connections to requests. */
const UPGRADES = { max: 50, maxOfSource: 10 };
/** Codes of errors → status. Others are those of the controller. */
const REJECTED: Readonly<Record<string, number>> = {
  REQUEST_TIMEOUT: 408,
  DISPLACED: 503,
  QUEUE_FULL: 503,
  TOO_MANY: 503,
};

export class ApiProxy {
  readonly #components: ApiProxyComponents;
  readonly #upstream: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_UPSTREAM });
  readonly #unhandle: (() => void)[];
  readonly #sockets = new Set<Duplex>();
  readonly #withoutBody = new WorkSlots(MAX_WITHOUT_BODY, () => new ProjectError('DISPLACED', TOO_MANY_BODIES));
  readonly #connections: TaskQueue;
  readonly #upgrades = new Budget(UPGRADES);
  readonly #proofs = new Proofs();

  /** Starts to accept on the port. @throws ProtocolTakenError if the port already serves HTTP */
  constructor(components: ApiProxyComponents, upstream: { host: string; port: number }) {
    this.#components = components;
    this.#upstream = upstream;
    const queue = { name: 'the API proxy', length: MAX_WAITING, workers: MAX_UPSTREAM };
    this.#connections = new TaskQueue({ ...queue, clock: components.io.clock });
    this.#server = createServer({ maxHeaderSize: MAX_HEADERS_BYTES });
    const passOn = (request: IncomingMessage, response: ServerResponse) => this.#passOn(request, response);
    const timeouts = new HttpTimeouts(this.#server, components.io, LIMITS, passOn, (request, socket, head) => {
      timeouts.release(request.socket);
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
    void this.#connections.close();
    this.#agent.destroy();
  }

  #own(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #passOn(request: IncomingMessage, response: ServerResponse): void {
    const exchange = this.#exchange(request, response);
    exchange.catch((error: unknown) => {
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      const { status, body } = this.#failure(request, asError(error));
      if (status === 503) response.setHeader('retry-after', '1');
      answerError(response, status, body);
    });
  }

  async #exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new ClosedError('the client')));
    const owner = sourceOf(request.socket.remoteAddress);
    const body = hasBody(request) ? this.#limitBody(request, response) : undefined;
    if (!body) request.resume();
    const signal = body ? AbortSignal.any([gone.signal, body]) : gone.signal;
    const firstPart = body && (await this.#firstPart(request, owner, signal));
    const isAnswered = await this.#connected(owner, signal, (running) =>
      this.#forward(request, response, firstPart, running),
    );
    if (!isAnswered) throw new ClosedError('the connection to the controller'); // for example after status 101
  }

  /** Aborts if the body does not arrive in time. */
  #limitBody(request: IncomingMessage, response: ServerResponse): AbortSignal {
    const late = () => new ProjectError('REQUEST_TIMEOUT', `the body did not arrive within ${BODY_TIMEOUT / 1_000} s`);
    const { signal, timer } = this.#components.io.clock.deadline('body of a request', BODY_TIMEOUT, late);
    request.once('end', () => timer.cancel());
    response.once('close', () => timer.cancel());
    return signal;
  }

  /** Resolves with the first part of the body, or with all of it if it is short. */
  async #firstPart(request: IncomingMessage, source: string, signal: AbortSignal): Promise<Buffer> {
    const slot = this.#withoutBody.take(source);
    if (!slot) throw new ProjectError('TOO_MANY', TOO_MANY_BODIES);
    const { promise, resolve } = Promise.withResolvers<void>();
    let part: Buffer = Buffer.alloc(0);
    const onData = (data: Buffer) => {
      part = Buffer.concat([part, data]); // small parts would each keep objects alive
      if (part.length >= FIRST_PART_BYTES) resolve();
    };
    request.on('data', onData).once('end', resolve);
    try {
      await unlessAborted(AbortSignal.any([signal, slot.displaced]), promise);
      return part;
    } finally {
      request.pause().off('data', onData).off('end', resolve);
      slot.release();
    }
  }

  /** Runs a task that uses a connection to the controller, when it is the turn of its source. */
  async #connected<T>(owner: string, gone: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const message = `no connection to the controller is free within ${WAIT_TIMEOUT / 1_000} s`;
    const late = () => new ProjectError('TOO_MANY', message);
    const { signal, timer } = this.#components.io.clock.deadline('api proxy queue', WAIT_TIMEOUT, late);
    const started = (running: AbortSignal) => {
      timer.cancel();
      return task(running);
    };
    return this.#connections
      .add(started, { owner, signal: AbortSignal.any([gone, signal]) })
      .finally(() => timer.cancel());
  }

  /** Resolves when the connection to the controller is free again, with whether the controller has answered. */
  #forward(
    request: IncomingMessage,
    response: ServerResponse,
    firstPart: Buffer | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const outgoing = this.#request(request, { agent: this.#agent, headers: framingOf(request) });
    const ended = onAbort(signal, (reason) => {
      reject(reason);
      outgoing.destroy();
    });
    outgoing.once('response', (answer) => {
      const { method = '', url = '' } = request;
      if ((answer.statusCode ?? 0) < 300 && this.#proofs.has(method, url))
        this.#components.io.unauthenticatedCpu.authenticated(request.socket);
      try {
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders));
      } catch (error) {
        reject(asError(error)); // node:http reads status lines that it does not write
        outgoing.destroy();
        return;
      }
      pipeline(answer, response, (error) => this.#logCut(request, error));
    });
    // Nobody asked for status 101. node:http leaves the connection to its listeners, and the agent forgets it.
    outgoing.once('upgrade', (_answer, connection: Duplex) => connection.destroy());
    outgoing.once('error', reject);
    outgoing.once('close', () => {
      ended();
      resolve(response.headersSent);
    });
    if (firstPart) outgoing.write(firstPart);
    if (!firstPart || request.readableEnded) outgoing.end();
    else pipeline(request, outgoing, () => undefined); // the handler of the answer reports errors
    return promise;
  }

  /** Forwards WebSockets, for example the controller's event stream. They use a connection each. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => undefined); // its 'close' follows
    const source = sourceOf(request.socket.remoteAddress);
    const reject = (error: unknown) => {
      if (socket.destroyed) return;
      const { status, body } = this.#failure(request, asError(error));
      this.#closeAfterAnswer(socket);
      socket.end(failureHead(status, Buffer.byteLength(body)) + body);
    };
    if (hasBody(request)) {
      this.#closeAfterAnswer(socket);
      socket.end(failureHead(400, 0));
    } else if (this.#upgrades.acquire(source)) {
      const gone = new AbortController();
      socket.once('close', () => gone.abort(new ClosedError('the client')));
      this.#connected(source, gone.signal, () => this.#forwardUpgrade(request, socket, head))
        .catch(reject)
        .finally(() => {
          this.#upgrades.release(source);
          this.#agent.maxSockets = MAX_UPSTREAM - this.#upgrades.total;
        });
    } else reject(new ProjectError('TOO_MANY', tooManyUpgrades()));
  }

  /** Resolves when the client's connection is closed; rejects if the controller does not answer. */
  #forwardUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { upgrade = '' } = request.headers;
    this.#makeRoom();
    const outgoing = this.#request(request, { agent: false, headers: ['connection', 'Upgrade', 'upgrade', upgrade] });
    socket.once('close', () => {
      outgoing.destroy();
      resolve();
    });
    outgoing.once('upgrade', (answer, upstream: Duplex, upstreamHead: Buffer) => {
      this.#components.io.unauthenticatedCpu.authenticated(request.socket); // controllers upgrade for a session only
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
    outgoing.once('error', reject);
    outgoing.end();
    return promise;
  }

  /** The connection of an upgrade is beside those of the agent: an idle one of them may be closed for it. */
  #makeRoom(): void {
    this.#agent.maxSockets = MAX_UPSTREAM - this.#upgrades.total;
    const isOpen = ({ destroyed }: Socket) => !destroyed;
    const idle = Object.values(this.#agent.freeSockets).flatMap((sockets = []) => sockets.filter(isOpen));
    const busy = Object.values(this.#agent.sockets).flatMap((sockets = []) => sockets.filter(isOpen));
    if (idle.length + busy.length > this.#agent.maxSockets) idle[0]?.destroy();
  }

  /** The connection of a rejected upgrade: its client may neither read the answer nor close. */
  #closeAfterAnswer(socket: Duplex): void {
    const { clock } = this.#components.io;
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
    const { identity, io } = this.#components;
    const { clock } = io;
    const { host, port } = this.#upstream;
    const socket = request.socket as ClientStream;
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
      if (outgoing.reusedSocket || this.#components.io.clientSockets.admit(connection)) return;
      outgoing.destroy(new ProjectError('OPEN_FILES', NO_DESCRIPTOR));
    });
    const late = () => outgoing.destroy(new TimeoutError('the answer of the controller', ANSWER_TIMEOUT));
    let timer: Timer | undefined = clock.after('api proxy', ANSWER_TIMEOUT, late);
    outgoing.once('finish', () => {
      timer?.cancel(); // the body has used a part of the time
      timer = timer && clock.after('api proxy', ANSWER_TIMEOUT, late);
    });
    const stop = () => {
      timer?.cancel();
      timer = undefined;
    };
    for (const event of ['response', 'upgrade', 'close']) outgoing.once(event, stop);
    return outgoing;
  }

  #failure({ method, url }: IncomingMessage, error: Error): { status: number; body: string } {
    const rejected = REJECTED[errorCode(error) ?? ''];
    if (rejected !== undefined)
      return { status: rejected, body: errorBody(rejected === 408 ? 'REQUEST_TIMEOUT' : UNAVAILABLE, error.message) };
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

function tooManyUpgrades(): string {
  return `too many upgrades are in progress: ${UPGRADES.maxOfSource} of one client, ${UPGRADES.max} in total`;
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
