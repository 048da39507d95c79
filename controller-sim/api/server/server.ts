// HTTP on the shared TLS port: finds the operation of a path, runs the steps of a request, sends the answer in its
// envelope. The listener supplies the connections; this server never listens itself.

import { createServer, type OutgoingHttpHeaders, type RequestListener, type Server } from 'node:http';
import cors from '@fastify/cors';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { HttpTimeouts } from '#http/http-timeouts.ts';
import { rejectBytes } from '#http/reject-bytes.ts';
import { InvariantError } from '#lib/errors.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { Budget } from '#lib/queue/budget.ts';
import { BASES } from '#schemas/api/bases.ts';
import { isProof } from '#schemas/api/proofs.ts';
import type { PortConnection } from '#wire/connection/port-connections.ts';
import type { ClientStream } from '#wire/connection/tls-port.ts';
import { presentedCertificates } from '../../auth/presented.ts';
import { ApiError } from '../../errors/errors.ts';
import { connectEvent } from '../../events/connect.ts';
import { serveOidc } from '../oidc/server.ts';
import type { ApiServices, FullRequest } from '../operations/context.ts';
import { MAX_BODY_BYTES, readBodies } from './bodies.ts';
import { sendCompressed } from './compression.ts';
import { serveConsole } from './console.ts';
import { CORS } from './cors.ts';
import { type Sent, wrapAnswer, wrapError } from './envelope.ts';
import { toApiError, unknownMethod, unknownPath } from './errors.ts';
import { serveHealth } from './health.ts';
import { ManagementUpgrade } from './management-upgrade.ts';
import { serveMetrics } from './metrics.ts';
import { METHODS, Paths } from './paths.ts';
import { RequestFaults } from './request-faults.ts';
import { noteError, RequestJournal } from './request-journal.ts';
import { type Route, routes } from './routes.ts';
import { type StaticPage, serveStaticPages } from './static-pages.ts';
import { DATA_INDEX, isOfUnacceptedType, perform } from './steps.ts';
import { UnreadAnswers } from './unread-answers.ts';

/** Concurrent requests, in total and for each source. Clients beyond the limit are asked to retry. */
const AT_ONCE = { max: 4_000, maxOfSource: 2_000 };
/**
 * Bytes of the request line and the headers: room for the longest filter, and for tokens of issuers that list all
 * groups of a user. The reference's limit is 1 MiB.
 */
const MAX_HEADERS_BYTES = 64 * 1024;
/** Time limits for clients in milliseconds. */
const LIMITS = { read: 15_000, write: 60_000, idle: 60_000 };
const KNOWN: ReadonlySet<string> = new Set([...METHODS, 'HEAD']);
const CHALLENGE = 'www-authenticate';
/** The APIs whose requests are connections of identities. */
const OF_IDENTITIES: ReadonlySet<string> = new Set(['management', 'client']);

/** Limit on ids in paths. Unknown ids get the answer of their operation, as in the reference. */
const MAX_ID_LENGTH = 8_192;

export interface ApiServerInit {
  /** Folder of a built web console. */
  readonly console?: string | undefined;
  readonly pages?: readonly StaticPage[];
}

export class ApiServer {
  readonly #fastify: FastifyInstance;
  readonly #http: Server;
  readonly #services: ApiServices;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #routes: readonly Route[];
  readonly #pages: readonly StaticPage[];
  readonly #paths: Paths;
  readonly #management: ManagementUpgrade;
  readonly #timeouts: HttpTimeouts;
  readonly #running = new Budget(AT_ONCE);
  readonly #unread = new UnreadAnswers();
  readonly #journal: RequestJournal;
  readonly #faults: RequestFaults;

  private constructor(services: ApiServices, pages: readonly StaticPage[]) {
    const http = createServer({ maxHeaderSize: MAX_HEADERS_BYTES });
    let serve: RequestListener | undefined;
    this.#services = services;
    this.#pages = pages;
    this.#routes = routes().filter(({ operation }) => operation.api !== 'lab' || services.labToken !== undefined);
    this.#paths = new Paths(this.#routes, pages);
    this.#journal = new RequestJournal(services);
    this.#faults = new RequestFaults({
      services,
      journal: this.#journal,
      send: (request, reply, sent) => void this.#send(request, reply, sent),
    });
    this.#fastify = fastify({
      bodyLimit: MAX_BODY_BYTES,
      // reference fact: its APIs have no HEAD; health checks, OIDC and the console enable it in their own routes.
      exposeHeadRoutes: false,
      forceCloseConnections: true,
      // While the simulator stops, requests get the answers of the API, not those of fastify.
      return503OnClosing: false,
      // reference fact: paths are normalized before the lookup; its web console requests `/fabric/v1//routers` and
      // `/identities/ID//`.
      routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: MAX_ID_LENGTH },
      // Errors of fastify's router: paths that cannot be decoded, ids that are too long.
      frameworkErrors: (_error, request, reply) => {
        this.#journal.begin(request);
        this.#reject(request, reply, unknownPath(request.url));
        this.#journal.end(request, reply.statusCode);
      },
      clientErrorHandler: rejectBytes,
      // The default compilers of schemas load 100 modules. No route has a schema: bodies are checked by their
      // operations.
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
      serverFactory: (handler) => {
        serve = handler as RequestListener;
        return http;
      },
    });
    this.#http = http;
    this.#headers = { 'ziti-instance-id': services.state.ids.short(), server: 'edgeweave-controller-sim' };
    this.#management = new ManagementUpgrade(services);
    const serveRequest: RequestListener = (request, response) => serve?.(request, response);
    this.#timeouts = new HttpTimeouts(http, services.io, LIMITS, serveRequest, (request, socket, head) => {
      this.#timeouts.release(request.socket);
      const record = this.#journal.recordOf(request);
      this.#management.onUpgrade(request, socket, head, (status, identity) => {
        record.setIdentity(identity);
        this.#journal.finish(record, status);
      });
    });
  }

  /** Rejects with ConsoleError if the folder of the console has none. */
  static async open(services: ApiServices, { console: folder, pages = [] }: ApiServerInit = {}): Promise<ApiServer> {
    const server = new ApiServer(services, pages);
    await server.#setUp();
    if (folder !== undefined)
      await serveConsole(server.#fastify, folder, services.io.clientSockets, server.#rejectUnknown);
    await server.#fastify.ready();
    return server;
  }

  /** Serves a connection of the shared port. */
  accept(socket: ClientStream, connection: PortConnection): void {
    this.#timeouts.accept(socket, connection);
  }

  async close(): Promise<void> {
    await this.#management.close();
    this.#http.closeAllConnections();
    await this.#fastify.close();
  }

  async #setUp(): Promise<void> {
    const app = this.#fastify;
    this.#journal.addTo(app);
    this.#faults.addTo(app);
    await app.register(cors, CORS); // its hook precedes the others that answer
    readBodies(app);
    app.addHook('onRequest', this.#onRequest);
    for (const route of this.#routes) {
      const path = route.operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
      for (const base of BASES[route.operation.api]) {
        app.route({
          method: route.operation.method,
          url: path === '/' && base !== '' ? base : `${base}${path}`,
          config: { operation: route.operation },
          handler: (request, reply) => this.#handle(route, request, reply),
        });
      }
    }
    serveOidc(app, this.#services);
    serveHealth(app, this.#services);
    serveMetrics(app, this.#services);
    serveStaticPages(app, this.#pages);
    app.setNotFoundHandler(this.#rejectUnknown);
    app.setErrorHandler((error, request, reply) => this.#reject(request, reply, error));
  }

  readonly #onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    // Answers are text already. Without a serializer, fastify adds a charset to the JSON content type, and SDKs compare
    // it exactly.
    reply.serializer(asItIs);
    if (request.method === 'OPTIONS') return this.#answerOptions(request, reply);
    // Unknown methods are rejected before other checks, such as the content type of a QUERY.
    return KNOWN.has(request.method) ? undefined : this.#rejectUnknown(request, reply);
  };

  async #handle({ operation, handler }: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const source = sourceOf(request.raw.socket.remoteAddress);
    if (!this.#running.acquire(source)) throw new ApiError('RATE_LIMITED');
    const apiRequest = this.#apiRequest(operation, request);
    try {
      const answer = await perform(apiRequest, handler);
      if (isProof(operation)) this.#services.io.unauthenticatedCpu.authenticated(request.raw.socket);
      if (apiRequest.challenge !== undefined) reply.header(CHALLENGE, apiRequest.challenge);
      const sent = wrapAnswer(answer, operation.status);
      if (request.record) request.record.bytes = Buffer.byteLength(sent.body);
      request.record?.setIdentity(apiRequest.identity);
      if (!this.#unread.add(reply.raw, source, sent.body.length)) throw new ApiError('RATE_LIMITED');
      return isOfUnacceptedType(apiRequest)
        ? this.#sendUntyped(request, reply, sent)
        : this.#send(request, reply, sent);
    } catch (error) {
      request.record?.setIdentity(apiRequest.identity);
      if (!apiRequest.isValid || !isOfUnacceptedType(apiRequest)) throw error;
      const rejection = toApiError(error, this.#services);
      noteError(request.record, rejection);
      return this.#sendUntyped(request, reply, wrapError(rejection, this.#services.random));
    } finally {
      this.#running.release(source);
      this.#noteConnect(apiRequest, request);
    }
  }

  /** reference fact: each request with a session that reached its handler is a connection of its identity. */
  #noteConnect({ operation, identity, isValid }: FullRequest, { raw, headers }: FastifyRequest): void {
    const { events, controllerId } = this.#services;
    if (!identity || !isValid || !OF_IDENTITIES.has(operation.api) || !events.hasListeners('connect')) return;
    const { remoteAddress = '', remotePort = '' } = raw.socket;
    events.emit(
      connectEvent(this.#services, {
        source: 'identity',
        sourceId: identity.id,
        sourceAddress: `${remoteAddress}:${remotePort}`,
        destination: 'ctrl',
        destinationId: controllerId,
        destinationAddress: headers.host ?? '',
      }),
    );
  }

  /** The methods of the path; for a preflight, the headers of CORS are set already. */
  #answerOptions(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const allowed = this.#paths.methodsOf(request.url);
    if (allowed.length === 0) return this.#reject(request, reply, unknownPath(request.url));
    reply.headers({ ...this.#headers, allow: [...allowed, 'OPTIONS'].join(', ') });
    return reply.code(200).send();
  }

  #apiRequest(operation: Route['operation'], { url, headers, params, body, raw }: FastifyRequest): FullRequest {
    const services = this.#services;
    const socket = raw.socket as ClientStream;
    const query = url.indexOf('?');
    return {
      services,
      operation,
      params: params as Record<string, string>,
      query: new URLSearchParams(query < 0 ? '' : url.slice(query + 1)),
      headers,
      body,
      // Parsed on demand: this costs more than most answers, and few operations need them.
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
      isValid: false,
    };
  }

  #reject(request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply {
    const contentType = request.headers['content-type'];
    const error = toApiError(thrown, { log: this.#services.log, ...(contentType && { contentType }) });
    noteError(request.record, error);
    if (error.challenge !== undefined) reply.header(CHALLENGE, error.challenge);
    if (!request.raw.complete) reply.header('connection', 'close'); // the rest of the body is not read
    if (error.code === 'METHOD_NOT_ALLOWED') reply.header('allow', this.#paths.methodsOf(request.url).join(', '));
    return this.#send(request, reply, wrapError(error, this.#services.random));
  }

  /** 405 if the path exists with other methods, else 404. */
  readonly #rejectUnknown = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const allowed = this.#paths.methodsOf(request.url);
    const isPath = allowed.length > 0;
    return this.#reject(request, reply, isPath ? unknownMethod(request.method, allowed) : unknownPath(request.url));
  };

  #send(request: FastifyRequest, reply: FastifyReply, sent: Sent): FastifyReply {
    const headers = { ...this.#headers, [DATA_INDEX]: String(this.#services.state.index), ...sent.headers };
    reply.code(sent.status).headers(headers).header('content-type', sent.contentType);
    request.record?.setAnswer(sent.body, { ...headers, 'content-type': sent.contentType });
    return sendCompressed(request, reply, sent.body, sent);
  }

  /** Sends an empty content type, which fastify replaces by another. */
  #sendUntyped(request: FastifyRequest, reply: FastifyReply, { status, body, headers }: Sent): FastifyReply {
    reply.headers({ ...this.#headers, ...headers });
    request.record?.setAnswer(body, { ...this.#headers, ...headers });
    this.#journal.end(request, status);
    reply.hijack();
    const length = { 'content-type': '', 'content-length': Buffer.byteLength(body) };
    reply.raw.writeHead(status, { ...reply.getHeaders(), ...length } as OutgoingHttpHeaders).end(body);
    return reply;
  }
}

function noSchemas(): never {
  throw new InvariantError('routes have no schemas');
}

function asItIs(text: string): string {
  return text;
}
