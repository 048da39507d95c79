// HTTP on the shared TLS port: finds the operation of a path, reads the body, runs the steps, puts the envelope round the answer. The
// connections come from the listener; this server never listens itself.

import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { peerCertificates } from '#lib/certificates.ts';
import { describeError } from '#lib/errors.ts';
import type { Answer, ApiRequest, ApiServices, Operation } from '../request/context.ts';
import { ApiError } from '../request/errors.ts';
import { clientOperations } from './client/operations.ts';
import { managementOperations } from './management/operations.ts';
import { perform } from './steps.ts';

const LARGEST_BODY = 1024 * 1024;
const GZIP_FROM = 1_024;
const BASES: readonly (readonly [string, ApiRequest['api'], readonly Operation[]])[] = [
  ['/edge/management/v1', 'management', managementOperations],
  ['/edge/client/v1', 'client', clientOperations],
  ['/edge/v1', 'client', clientOperations],
  ['', 'client', clientOperations],
];

export class ApiServer {
  readonly #fastify: FastifyInstance;
  readonly #http: Server;
  readonly #services: ApiServices;
  readonly #instanceId: string;

  private constructor(app: FastifyInstance, http: Server, services: ApiServices) {
    this.#fastify = app;
    this.#http = http;
    this.#services = services;
    this.#instanceId = services.state.ids.short();
  }

  static async open(services: ApiServices): Promise<ApiServer> {
    let http: Server | undefined;
    const app = fastify({
      bodyLimit: LARGEST_BODY,
      exposeHeadRoutes: false,
      forceCloseConnections: true,
      routerOptions: { ignoreTrailingSlash: true },
      serverFactory: (handler) => {
        http = createServer(handler as RequestListener);
        return http;
      },
    });
    const server = new ApiServer(app, http as unknown as Server, services);
    server.#routes();
    await app.ready();
    return server;
  }

  /** Takes a connection of the shared port. */
  accept(socket: TLSSocket): void {
    this.#http.emit('connection', socket);
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await this.#fastify.close();
  }

  #routes(): void {
    // Every content type but JSON is text; an empty body is none.
    this.#fastify.removeAllContentTypeParsers();
    this.#fastify.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
      const type = request.headers['content-type'] ?? '';
      if (body === '') done(null, undefined);
      else if (type.includes('json') || type === '') parseJson(String(body), done);
      else done(null, body);
    });
    for (const [prefix, api, operations] of BASES) {
      for (const operation of operations) {
        const url = `${prefix}${operation.path === '/' && prefix !== '' ? '' : operation.path}`;
        this.#fastify.route({
          method: operation.method,
          url,
          handler: (request, reply) => this.#handle(api, operation, request, reply),
        });
      }
    }
    this.#fastify.setNotFoundHandler((request, reply) => this.#refuse(request, reply, this.#notFound(request)));
    this.#fastify.setErrorHandler((error, request, reply) => this.#refuse(request, reply, error));
  }

  async #handle(
    api: ApiRequest['api'],
    operation: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const socket = request.raw.socket as TLSSocket;
    const url = new URL(request.url, 'https://controller');
    const answer = await perform(
      {
        services: this.#services,
        api,
        method: request.method,
        params: request.params as Record<string, string>,
        query: url.searchParams,
        headers: request.headers,
        body: request.body,
        certificates: peerCertificates(socket),
        remoteAddress: socket.remoteAddress ?? '',
        session: undefined,
        identity: undefined,
      },
      operation,
    );
    this.#answer(request, reply, answer);
  }

  #answer(request: FastifyRequest, reply: FastifyReply, answer: Answer): void {
    if ('raw' in answer) {
      this.#send(request, reply, answer.status ?? 200, answer.contentType, answer.raw);
      return;
    }
    const body =
      'page' in answer
        ? {
            data: answer.page.items,
            meta: { filterableFields: answer.page.filterableFields, pagination: answer.page.pagination },
          }
        : { data: answer.data, meta: {} };
    this.#send(
      request,
      reply,
      ('status' in answer ? answer.status : undefined) ?? 200,
      'application/json',
      JSON.stringify(body),
    );
  }

  #refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    const error = this.#toApiError(thrown);
    const { code, status, message, details } = error;
    const body = {
      error: { code, message, requestId: requestId(), ...(details && { cause: details }) },
      meta: { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' },
    };
    this.#send(request, reply, status, 'application/json', JSON.stringify(body));
  }

  #toApiError(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown;
    const code = (thrown as { code?: unknown }).code;
    if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new ApiError('REQUEST_ENTITY_TOO_LARGE');
    if (typeof code === 'string' && code.startsWith('FST_ERR_CTP'))
      return new ApiError('COULD_NOT_PARSE_BODY', { code: 'COULD_NOT_PARSE_BODY', message: describeError(thrown) });
    this.#services.log.error({ error: describeError(thrown), stack: (thrown as Error).stack }, 'request failed');
    return new ApiError('UNHANDLED');
  }

  /** A path that exists for other methods is another refusal than one that does not. */
  #notFound(request: FastifyRequest): ApiError {
    const path = request.url.split('?')[0] ?? '';
    const allowed = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
      (method) => this.#fastify.findRoute({ url: path, method: method as 'GET' }) ?? this.#matches(path, method),
    );
    if (allowed.length > 0)
      return new ApiError('METHOD_NOT_ALLOWED', {
        code: 'METHOD_NOT_ALLOWED',
        message: `method ${request.method} is not allowed, but [${allowed.join(',')}] are`,
      });
    return new ApiError('NOT_FOUND', { code: 'NOT_FOUND', message: `path ${path} was not found` });
  }

  #matches(path: string, method: string): boolean {
    return BASES.some(
      ([prefix, , operations]) =>
        path.startsWith(prefix) &&
        operations.some((operation) => operation.method === method && fits(operation.path, path.slice(prefix.length))),
    );
  }

  #send(request: FastifyRequest, reply: FastifyReply, status: number, type: string, body: string | Buffer): void {
    const zip = body.length >= GZIP_FROM && String(request.headers['accept-encoding'] ?? '').includes('gzip');
    reply
      .code(status)
      .header('content-type', type)
      .header('ziti-instance-id', this.#instanceId)
      .header('server', 'edgeweave-controller-sim');
    if (zip) reply.header('content-encoding', 'gzip');
    reply.send(zip ? gzipSync(body) : body);
  }
}

function parseJson(text: string, done: (error: Error | null, body?: unknown) => void): void {
  try {
    done(null, JSON.parse(text));
  } catch (error) {
    done(new ApiError('COULD_NOT_PARSE_BODY', { code: 'COULD_NOT_PARSE_BODY', message: describeError(error) }));
  }
}

function fits(pattern: string, path: string): boolean {
  const parts = path.split('/');
  const wanted = pattern.split('/');
  return parts.length === wanted.length && wanted.every((part, index) => part.startsWith(':') || part === parts[index]);
}

function requestId(): string {
  return randomBytes(6).toString('base64url');
}
