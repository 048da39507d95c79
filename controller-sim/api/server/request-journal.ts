// Records each request through the tap: begins with its headers, and ends with its answer, before the answer is
// sent, so that a client that has its answer finds the entry. Requests to the lab itself are not recorded.

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiOperation } from '#schemas/api/operations.ts';
import { type ApiError, LoginError } from '../../errors/errors.ts';
import type { ApiServices } from '../operations/context.ts';
import type { RequestRecord } from '../operations/request-tap.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Missing for paths outside of the table of operations. */
    operation?: ApiOperation;
    /** A file of the dashboard: neither recorded nor subject to faults. */
    isStaticPage?: boolean;
  }
  interface FastifyRequest {
    /** Undefined for requests that are not recorded. */
    record: RequestRecord | undefined;
  }
}

/** Error answers of the OIDC API are small; others are not read. */
const MAX_ERROR_BYTES = 4_096;

type JournalComponents = Pick<ApiServices, 'tap' | 'clock' | 'wireClock'>;

export class RequestJournal {
  readonly #services: JournalComponents;

  constructor(services: JournalComponents) {
    this.#services = services;
  }

  /** Adds its hooks, which must precede those that may answer a request. */
  addTo(app: FastifyInstance): void {
    app.decorateRequest('record', undefined);
    app.addHook('onRequest', (request, _reply, done) => {
      this.begin(request);
      done();
    });
    // The client went away, or a fault took its answer.
    app.addHook('onRequestAbort', (request, done) => {
      this.end(request, null);
      done();
    });
    app.addHook('onSend', (request, reply, payload, done) => {
      this.#end(request, reply, payload);
      done(null, payload);
    });
  }

  /** Begins the record of a request whose hooks do not run. */
  begin(request: FastifyRequest): void {
    const { raw, routeOptions, is404 } = request;
    const operation = routeOptions.config?.operation;
    if (operation?.api === 'lab' || routeOptions.config?.isStaticPage) return;
    request.record = this.recordOf(raw, operation, !is404 && routeOptions.url !== undefined);
  }

  /** The record of a request that has just arrived; `isKnown`: its path is served. */
  recordOf({ method = '', url = '', headers, socket }: IncomingMessage, operation?: ApiOperation, isKnown = false) {
    const { clock, wireClock } = this.#services;
    return this.#services.tap.begin({
      method,
      url,
      source: socket.remoteAddress ?? '',
      bodyLength: Number(headers['content-length'] ?? 0),
      contentType: headers['content-type'] ?? '',
      headers,
      operation,
      isKnown,
      time: clock.now(),
      begun: wireClock.monotonic(),
    });
  }

  /** Ends the record of a request, unless it has ended. `status` is null without an answer. */
  end({ record, body }: FastifyRequest, status: number | null): void {
    if (!record || record.isOver) return;
    record.setBody(body);
    this.finish(record, status);
  }

  finish(record: RequestRecord, status: number | null): void {
    if (record.isOver) return;
    record.end(status, this.#services.wireClock.monotonic());
  }

  #end(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const { record } = request;
    if (!record || record.isOver) return;
    const size = sizeOf(payload, reply);
    record.bytes ??= size;
    const { statusCode } = reply;
    if (statusCode >= 400 && !record.hasError && typeof payload === 'string' && payload.length <= MAX_ERROR_BYTES)
      noteOAuthError(record, payload);
    this.end(request, statusCode);
  }
}

/** The error that the API answers, with the reason of a rejected login, which the answer does not have. */
export function noteError(record: RequestRecord | undefined, error: Pick<ApiError, 'code' | 'details'>): void {
  record?.setError(error.code, error instanceof LoginError ? error.reason : reasonOf(error.details));
}

function reasonOf(details: ApiError['details']): string | undefined {
  if (!details) return undefined;
  return 'field' in details ? `${details.field}: ${details.reason}` : details.message;
}

/** `{error, error_description}` of the OIDC API, or its `{code, message}`. */
function noteOAuthError(record: RequestRecord, payload: string): void {
  if (!payload.startsWith('{')) return;
  const { error, error_description, code, message } = JSON.parse(payload) as Readonly<Record<string, unknown>>;
  const name = error ?? code;
  const reason = error_description ?? message;
  if (typeof name === 'string') record.setError(name, typeof reason === 'string' ? reason : undefined);
}

/** Undefined for a stream. */
function sizeOf(payload: unknown, reply: FastifyReply): number | undefined {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  if (Buffer.isBuffer(payload)) return payload.length;
  if (payload === undefined || payload === null) return 0;
  const length = reply.getHeader('content-length');
  return length === undefined ? undefined : Number(length);
}
