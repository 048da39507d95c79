// Applies the tap's faults to requests: after the body was read, so that the journal has it, and before the handler.
// Requests to the lab itself and preflights are never affected.
//
//   delay ─► status: answered here │ close: no answer │ truncate: the handler answers, half of it is sent

import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { ClosedError } from '#lib/errors.ts';
import { BASES } from '#schemas/api/bases.ts';
import type { ClientStream } from '#wire/connection/tls-port.ts';
import { presentedCertificates } from '../../auth/presented.ts';
import { type SessionComponents, sessionOf } from '../../auth/session-of.ts';
import { API_ERRORS, ApiError } from '../../errors/errors.ts';
import { BASE as OIDC_BASE } from '../oidc/context.ts';
import type { ApiServices } from '../operations/context.ts';
import type { InterferingAnswer, ReadRequest, RequestInterference } from '../operations/request-tap.ts';
import { type Sent, wrapAnswer, wrapError } from './envelope.ts';
import { errorOf, hasAnswer, isError } from './interfering-answer.ts';
import { pathOf, tidy } from './paths.ts';
import { noteError, type RequestJournal } from './request-journal.ts';

/** Requests that wait at the same time; each keeps its body. */
const MAX_DELAYED = 1_000;
const SERVER_ERROR = 500;
const OK = 200;

export interface FaultComponents {
  readonly services: SessionComponents & Pick<ApiServices, 'tap' | 'wireClock' | 'random'>;
  readonly journal: Pick<RequestJournal, 'end'>;
  send(request: FastifyRequest, reply: FastifyReply, sent: Sent): void;
}

export class RequestFaults {
  readonly #components: FaultComponents;
  readonly #truncated = new WeakSet<FastifyReply>();
  #delayed = 0;

  constructor(components: FaultComponents) {
    this.#components = components;
  }

  /** Its hooks follow those of the journal. */
  addTo(app: FastifyInstance): void {
    app.addHook('preHandler', this.#preHandler);
    app.addHook('onSend', (_request, reply, payload, done) => {
      // Without `done` fastify does not send the rest.
      if (this.#truncated.has(reply)) sendHalf(reply, payload);
      else done(null, payload);
    });
  }

  readonly #preHandler = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    if (!this.#components.services.tap.isActive || isOfLab(request)) {
      done();
      return;
    }
    this.#apply(request, reply).then(
      (goesOn) => goesOn && done(),
      (error: Error) => done(error),
    );
  };

  /** Returns false if the request is answered or over. Rejects with ApiError if too many requests wait. */
  async #apply(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { services, journal } = this.#components;
    const asked = await this.#faultyRequest(request);
    const fault = services.tap.faultOf(asked);
    if (!fault) return true;
    const { delay, close, truncate } = fault.answer;
    if (request.record) {
      request.record.fault = fault.id;
      request.record.setIdentity(asked.identity ?? (await this.#callerOf(request))); // no handler does it
    }
    if (delay !== undefined && !(await this.#wait(request, reply, delay))) {
      reply.hijack();
      journal.end(request, null);
      return false;
    }
    if (close) {
      reply.hijack();
      journal.end(request, null);
      request.raw.socket.destroy();
      return false;
    }
    if (hasAnswer(fault.answer)) {
      this.#answer(request, reply, fault);
      return false;
    }
    if (truncate) {
      this.#truncated.add(reply);
      delete request.raw.headers['accept-encoding']; // half of a compressed answer would be a random part of it
    }
    return true;
  }

  async #faultyRequest(request: FastifyRequest): Promise<ReadRequest> {
    const { services } = this.#components;
    const { method, url, routeOptions } = request;
    const operation = routeOptions.config?.operation;
    const identity = services.tap.needsIdentity ? await this.#callerOf(request) : undefined;
    return { method, path: tidy(pathOf(url)), operation: operation?.id, identity };
  }

  /** Undefined without a valid session. */
  async #callerOf({ raw }: FastifyRequest): Promise<ReadRequest['identity']> {
    const { services } = this.#components;
    const { headers, socket } = raw;
    try {
      const { certificates } = presentedCertificates(services, socket as ClientStream, headers);
      const remoteAddress = socket.remoteAddress ?? '';
      return (await sessionOf({ services, headers, remoteAddress, certificates }))?.identity;
    } catch (error) {
      if (error instanceof ApiError) return undefined; // the steps of the request will answer it
      throw error;
    }
  }

  /** Returns false if the client went away, or the simulator closed. */
  async #wait(request: FastifyRequest, { raw }: FastifyReply, delay: number): Promise<boolean> {
    if (raw.destroyed) return false;
    if (this.#delayed >= MAX_DELAYED) throw new ApiError('RATE_LIMITED');
    request.raw.resume(); // ends the time limit for its body, if it has none
    const gone = new AbortController();
    const onClose = () => gone.abort(new ClosedError('the connection'));
    raw.once('close', onClose);
    this.#delayed += 1;
    try {
      await this.#components.services.wireClock.sleep(delay, { name: 'fault delay', signal: gone.signal });
      return true;
    } catch {
      return false; // `onClose` aborted it
    } finally {
      this.#delayed -= 1;
      raw.off('close', onClose);
    }
  }

  #answer(request: FastifyRequest, reply: FastifyReply, { id, answer }: RequestInterference): void {
    const { headers = {} } = answer;
    const sent = isError(answer) ? this.#error(request, id, answer) : given(answer);
    const { 'content-type': contentType = sent.contentType, ...others } = headers;
    this.#components.send(request, reply, { ...sent, contentType, headers: others });
  }

  #error(request: FastifyRequest, id: string, answer: InterferingAnswer): Sent {
    const { code, status } = errorOf(answer);
    const { random } = this.#components.services;
    const message = `the fault ${id} of the lab answers`;
    noteError(request.record, { code, details: { message, data: undefined } });
    return pathOf(request.url).startsWith(`${OIDC_BASE}/`)
      ? oauthError(status, message)
      : wrapError({ code, status, message: API_ERRORS[code][1], details: { code: 'UNHANDLED', message } }, random);
  }
}

/** A text as it is, anything else as JSON; without a body the envelope of an answer without data. */
function given({ status = OK, body }: InterferingAnswer): Sent {
  if (body === undefined) return wrapAnswer({ data: {} }, status);
  if (typeof body === 'string') return { status, contentType: 'text/plain; charset=utf-8', body };
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

function oauthError(status: number, message: string): Sent {
  const error = status >= SERVER_ERROR ? 'server_error' : 'invalid_request';
  const body = JSON.stringify({ error, error_description: message });
  return { status, contentType: 'application/json', body };
}

function isOfLab({ routeOptions, url }: FastifyRequest): boolean {
  const { operation, isStaticPage } = routeOptions.config ?? {};
  return isStaticPage || operation?.api === 'lab' || tidy(pathOf(url)).startsWith(`${BASES.lab[0]}/`);
}

/** A file of the console is a stream: its answer ends after the headers. */
function sendHalf(reply: FastifyReply, payload: unknown): void {
  const { raw } = reply;
  const isStream = typeof payload === 'object' && payload !== null && !Buffer.isBuffer(payload);
  const body = isStream ? Buffer.alloc(0) : Buffer.from((payload ?? '') as string | Buffer);
  const length = isStream ? reply.getHeader('content-length') : body.length;
  reply.hijack();
  const headers = { ...reply.getHeaders(), ...(length !== undefined && { 'content-length': length }) };
  raw.writeHead(reply.statusCode, headers as OutgoingHttpHeaders);
  raw.flushHeaders();
  raw.write(body.subarray(0, Math.floor(body.length / 2)));
  raw.socket?.destroySoon();
}
