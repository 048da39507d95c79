// HTTP on the shared TLS port: finds the operation of a path, reads the body, runs the steps, puts the envelope round the answer. The
// connections come from the listener; this server never listens itself.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { contentCoding } from '#lib/content-encoding.ts';
import { describeError } from '#lib/errors.ts';
import { JsonDepthError, parseJson } from '#lib/json.ts';
import { Shares } from '#lib/shares.ts';
import { sourceOf } from '#lib/source-address.ts';
import { HttpTimeouts } from '#wire/http-timeouts.ts';
import type { PortConnection } from '#wire/port-connections.ts';
import { presentedCertificates } from '../auth/presented.ts';
import { sessionOf } from '../auth/session-of.ts';
import { EventStreams } from '../events/stream.ts';
import { mayCall } from '../request/access.ts';
import { isJson } from '../request/body.ts';
import { BodyReader } from '../request/body-reader.ts';
import type { Answer, ApiRequest, ApiServices } from '../request/context.ts';
import { ApiError, unsupported } from '../request/errors.ts';
import { BusyError } from '../state/state.ts';
import { StoreWriteError } from '../store/store.ts';
import { BASES } from './bases.ts';
import { serveConsole } from './console.ts';
import { HEALTH_PATHS, serveHealth } from './health.ts';
import { BASE as OIDC_BASE } from './oidc/context.ts';
import { OIDC_ROUTES } from './oidc/routes.ts';
import { serveOidc } from './oidc/server.ts';
import { type Route, routes } from './routes.ts';
import { isPartial, perform } from './steps.ts';

const LARGEST_BODY = 1024 * 1024;
const GZIP_FROM = 1_024;
/** Requests that are being answered, in all and for each source; more are asked to come later. */
const AT_ONCE = { most: 4_000, mostOfSource: 2_000 };
/** Milliseconds that clients have. */
const LIMITS = { read: 15_000, write: 60_000, idle: 60_000 };
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const KNOWN: ReadonlySet<string> = new Set([...METHODS, 'HEAD']);
/** reference fact: where its command line opens event streams. */
const EVENTS_PATH = '/fabric/v1/ws-api';
const JSON_TYPE = 'application/json';
const CHALLENGE = 'www-authenticate';

/** Of the APIs. The specification has them in every envelope, the reference in refusals alone. */
const VERSIONS = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' };
const META = JSON.stringify(VERSIONS);

/** For pages of other origins: there are no cookies, so nothing can be done in somebody's name. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'zt-session, expires-at, expiration-seconds, www-authenticate, auth-request-id, totp-required',
};
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers':
    'accept, authorization, content-type, zt-session, session-token, mfa-validation-code, x-requested-with',
  'access-control-max-age': '600',
};

export class ApiServer {
  readonly #fastify: FastifyInstance;
  readonly #http: Server;
  readonly #services: ApiServices;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #routes: readonly Route[];
  readonly #served: readonly Served[];
  readonly #streams: EventStreams;
  readonly #timeouts: HttpTimeouts;
  readonly #bodies = new BodyReader();
  readonly #running = new Shares(AT_ONCE);

  private constructor(app: FastifyInstance, http: Server, services: ApiServices) {
    this.#fastify = app;
    this.#http = http;
    this.#services = services;
    this.#headers = { 'ziti-instance-id': services.state.ids.short(), server: 'edgeweave-controller-sim' };
    this.#routes = routes();
    this.#served = servedPaths(this.#routes);
    this.#streams = new EventStreams(services.events, services.log);
    this.#timeouts = new HttpTimeouts(http, services.clock, LIMITS);
  }

  /** `consoleFolder` is that of a built web console. Rejects with ConsoleError when it is not. */
  static async open(services: ApiServices, consoleFolder?: string): Promise<ApiServer> {
    let http: Server | undefined;
    const app = fastify({
      bodyLimit: LARGEST_BODY,
      // reference fact: its APIs have no HEAD; health checks, OIDC and the console ask for it where they make their routes.
      exposeHeadRoutes: false,
      forceCloseConnections: true,
      // reference fact: paths are tidied before they are looked up; its web console asks for `/fabric/v1//routers` and `/identities/ID//`.
      routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
      // What the router of the server itself refuses: paths that cannot be decoded, ids longer than any.
      frameworkErrors: (_error, request, reply) => void server.#refuse(request, reply, notFound(request.url)),
      clientErrorHandler: refuseBytes,
      serverFactory: (handler) => {
        http = createServer(handler as RequestListener);
        return http;
      },
    });
    const server: ApiServer = new ApiServer(app, http as unknown as Server, services);
    (http as unknown as Server).on('upgrade', (request, socket, head) => server.#upgrade(request, socket, head));
    server.#setUp();
    if (consoleFolder !== undefined) await serveConsole(app, consoleFolder, server.#refuseUnknown);
    await app.ready();
    return server;
  }

  /** Takes a connection of the shared port. */
  accept(socket: TLSSocket, connection: PortConnection): void {
    this.#timeouts.accept(socket, connection);
  }

  async close(): Promise<void> {
    await this.#streams.close();
    this.#http.closeAllConnections();
    await this.#fastify.close();
  }

  #setUp(): void {
    // The code that shows recovery codes may stand in a body. Nothing else is asked for with one: what cannot be read does not matter.
    this.#fastify.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
    // Every content type but JSON is text; an empty body is none.
    this.#fastify.removeAllContentTypeParsers();
    this.#fastify.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
      this.#readBody(request, payload),
    );
    this.#fastify.addHook('onRequest', async (request, reply) => {
      // Answers are texts already. Without a serializer fastify adds a charset to the type of JSON: SDKs compare the type as text.
      reply.serializer(asItIs);
      if (request.method === 'OPTIONS') return this.#answerOptions(request, reply);
      if (request.headers.origin !== undefined) reply.headers(CORS);
      // Before anything is asked of a request that nobody serves, such as the content type of a QUERY.
      if (!KNOWN.has(request.method)) {
        this.#refuseUnknown(request, reply);
        return reply;
      }
    });
    for (const route of this.#routes) {
      const path = route.operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
      for (const base of BASES[route.operation.api]) {
        this.#fastify.route({
          method: route.operation.method,
          url: path === '/' && base !== '' ? base : `${base}${path}`,
          handler: (request, reply) => this.#handle(route, request, reply),
        });
      }
    }
    serveOidc(this.#fastify, this.#services);
    serveHealth(this.#fastify, this.#services);
    this.#fastify.setNotFoundHandler(this.#refuseUnknown);
    this.#fastify.setErrorHandler((error, request, reply) => this.#refuse(request, reply, error));
  }

  async #readBody(request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
    const { method, headers, routeOptions, raw } = request;
    const limit = routeOptions.bodyLimit ?? LARGEST_BODY;
    if (Number(headers['content-length']) > limit) throw new ApiError('REQUEST_ENTITY_TOO_LARGE');
    const body = await this.#bodies.read(payload, { remoteAddress: raw.socket.remoteAddress, limit });
    if (body === '') return undefined;
    if (!isJson(headers['content-type'] ?? '')) return body;
    if (body.trim() === '') return undefined; // reference fact: blanks are no body
    try {
      return parseBody(body);
    } catch (error) {
      if (method === 'GET') return undefined;
      throw error;
    }
  }

  async #handle({ operation, handler }: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const socket = request.raw.socket as TLSSocket;
    const source = sourceOf(socket.remoteAddress);
    if (!this.#running.take(source)) throw new ApiError('RATE_LIMITED');
    try {
      const { url, headers } = request;
      const services = this.#services;
      const query = url.indexOf('?');
      const apiRequest: ApiRequest = {
        services,
        operation,
        params: request.params as Record<string, string>,
        query: new URLSearchParams(query < 0 ? '' : url.slice(query + 1)),
        headers,
        body: request.body,
        // Reading them costs more than most answers, and few look at them.
        get certificates() {
          return presentedCertificates(services, socket, headers).certificates;
        },
        get viaRouter() {
          return presentedCertificates(services, socket, headers).viaRouter;
        },
        remoteAddress: socket.remoteAddress ?? '',
        session: undefined,
        identity: undefined,
        challenge: undefined,
      };
      const answer = await perform(apiRequest, handler);
      if (apiRequest.challenge !== undefined) reply.header(CHALLENGE, apiRequest.challenge);
      this.#answer(request, reply, operation.status, answer);
    } finally {
      this.#running.give(source);
    }
  }

  #answer(request: FastifyRequest, reply: FastifyReply, status: number, answer: Answer): void {
    if ('raw' in answer) {
      this.#send(request, reply, answer.status ?? status, answer.contentType, answer.raw);
      return;
    }
    const send = (json: string, own = status) => this.#send(request, reply, own, JSON_TYPE, json);
    if ('page' in answer) {
      const { items, isText, ...page } = answer.page;
      const data = isText ? `[${items.join(',')}]` : JSON.stringify(items);
      send(`{"data":${data},"meta":${JSON.stringify({ ...VERSIONS, ...page })}}`);
    } else if ('json' in answer) {
      send(`{"data":${answer.json},"meta":${META}}`);
    } else {
      if (answer.headers) reply.headers(answer.headers);
      send(JSON.stringify({ data: answer.data, meta: { ...VERSIONS, ...answer.meta } }), answer.status);
    }
  }

  #refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    const { code, status, message, details, challenge } = this.#toApiError(thrown);
    if (challenge !== undefined) reply.header(CHALLENGE, challenge);
    if (!request.raw.complete) reply.header('connection', 'close'); // the rest of its body is not worth reading
    if (code === 'METHOD_NOT_ALLOWED') reply.header('allow', this.#allowed(pathOf(request.url)).join(', '));
    const body = {
      error: { code, message, requestId: requestId(), ...(details && { cause: details }) },
      meta: VERSIONS,
    };
    this.#send(request, reply, status, JSON_TYPE, JSON.stringify(body));
  }

  readonly #refuseUnknown = (request: FastifyRequest, reply: FastifyReply): void =>
    this.#refuse(request, reply, this.#notFound(request));

  #toApiError(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown;
    if (thrown instanceof StoreWriteError) return this.#notStored(thrown);
    if (thrown instanceof BusyError) return new ApiError('SERVER_TOO_MANY_REQUESTS');
    const code = (thrown as { code?: unknown }).code;
    if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupported('application/octet-stream');
    if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new ApiError('REQUEST_ENTITY_TOO_LARGE');
    if (typeof code === 'string' && code.startsWith('FST_ERR_CTP'))
      return new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message: describeError(thrown) });
    this.#services.log.error({ error: describeError(thrown), stack: (thrown as Error).stack }, 'request failed');
    return new ApiError('UNHANDLED');
  }

  #notStored(error: StoreWriteError): ApiError {
    this.#services.log.error({ error: describeError(error) }, 'a change could not be stored');
    return new ApiError('STORE_UNAVAILABLE', { code: 'UNHANDLED', message: error.message });
  }

  /** A path that exists for other methods is another refusal than one that does not. */
  #notFound(request: FastifyRequest): ApiError {
    const allowed = this.#allowed(pathOf(request.url));
    if (allowed.length === 0) return notFound(request.url);
    return new ApiError('METHOD_NOT_ALLOWED', {
      code: 'UNHANDLED',
      message: `method ${request.method} is not allowed, but [${allowed.join(',')}] are`,
    });
  }

  #allowed(path: string): string[] {
    return METHODS.filter((method) => this.#served.some((each) => each.method === method && fits(each.path, path)));
  }

  /** Event streams: for administrators whose login is complete. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#timeouts.release(request.socket);
    // No time limit watches the connection any more: it is not left to the client to close it.
    const refuse = (line: string) =>
      socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`, () => socket.destroy());
    if (pathOf(request.url ?? '') !== EVENTS_PATH) {
      refuse('404 Not Found');
      return;
    }
    const open = async () => {
      const remoteAddress = request.socket.remoteAddress ?? '';
      const { headers } = request;
      const { certificates } = presentedCertificates(this.#services, request.socket as TLSSocket, headers);
      const found = await sessionOf({ services: this.#services, headers, remoteAddress, certificates });
      if (found && !isPartial(found.session) && mayCall(found.identity, 'admin'))
        await this.#streams.accept(request, socket, head);
      else refuse('401 Unauthorized');
    };
    open().catch((error: unknown) => {
      this.#services.log.error({ error: describeError(error) }, 'an event stream was not opened');
      refuse('500 Internal Server Error');
    });
  }

  #answerOptions(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const allowed = this.#allowed(pathOf(request.url));
    if (allowed.length === 0) {
      this.#refuse(request, reply, notFound(request.url));
      return reply;
    }
    const isPreflight = request.headers['access-control-request-method'] !== undefined;
    reply.headers({
      ...this.#headers,
      allow: [...allowed, 'OPTIONS'].join(', '),
      ...(isPreflight && { ...CORS, ...PREFLIGHT }),
    });
    return reply.code(200).send();
  }

  #send(request: FastifyRequest, reply: FastifyReply, status: number, type: string, body: string | Buffer): void {
    const zip = body.length >= GZIP_FROM && contentCoding(request.headers['accept-encoding'], ['gzip']) !== undefined;
    reply.code(status).headers(this.#headers).header('content-type', type);
    if (body.length >= GZIP_FROM) reply.header('vary', 'accept-encoding');
    if (zip) reply.header('content-encoding', 'gzip');
    reply.send(zip ? gzipSync(body) : body);
  }
}

/** A path, perhaps with `{id}` in it, and a method that it has. */
interface Served {
  readonly method: string;
  readonly path: string;
}

function servedPaths(operations: readonly Route[]): Served[] {
  return [
    ...operations.flatMap(({ operation: { api, method, path } }) =>
      BASES[api].map((base) => ({ method, path: `${base}${path}` })),
    ),
    ...OIDC_ROUTES.map(({ method, path }) => ({ method, path: `${OIDC_BASE}${path}` })),
    ...HEALTH_PATHS.map((path) => ({ method: 'GET', path })),
  ];
}

function asItIs(text: string): string {
  return text;
}

function notFound(url: string): ApiError {
  return new ApiError('NOT_FOUND', { code: 'UNHANDLED', message: `path ${pathOf(url)} was not found` });
}

function pathOf(url: string): string {
  return url.split('?')[0] ?? '';
}

function fits(pattern: string, path: string): boolean {
  const parts = tidy(path).split('/');
  const wanted = tidy(pattern).split('/');
  return parts.length === wanted.length && wanted.every((part, index) => part.startsWith('{') || part === parts[index]);
}

/** No slash twice, and none at the end. */
function tidy(path: string): string {
  return path.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, '');
}

/** Throws ApiError for a text that is not JSON, or too deep. */
function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    // The parser's message repeats pieces of the body, which may be a password: the answer names only the place.
    const place = / at position \d+(?: \(line \d+ column \d+\))?/.exec(describeError(error))?.[0] ?? '';
    const why = error instanceof JsonDepthError ? error.message : `the body is no JSON${place}`;
    throw new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message: why });
  }
}

/** Bytes that are no HTTP get a plain refusal, and the connection ends. */
function refuseBytes(_error: Error, socket: Duplex): void {
  if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
}

function requestId(): string {
  return randomBytes(6).toString('base64url');
}
