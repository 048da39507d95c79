// The HTTP client of both programs; only this file makes agents of undici. Servers may be broken or hostile: each
// answer has limits on the time to connect, to its head, between two parts of its body, and as a whole, and on its
// bytes. Certificates are verified, whatever the environment says. Programs that may never send a request import this
// file when they send the first one: the code of undici is large.

import type { LookupFunction, Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, interceptors, request } from 'undici';
import { asError, InvariantError, ProjectError, TimeoutError } from '#lib/errors.ts';
import { type Clock, SystemClock } from '#lib/time/clock.ts';

export type HttpTrust = Pick<
  ConnectionOptions,
  'allowPartialTrustChain' | 'ca' | 'cert' | 'checkServerIdentity' | 'key' | 'rejectUnauthorized' | 'secureContext'
>;

export interface HttpLimits {
  /** Milliseconds to connect, to the head of an answer, and between two parts of its body; 0: the whole is enough. */
  readonly step: number;
  /** Milliseconds for a whole answer, however slowly it comes. Without it, each request has a signal that ends it. */
  readonly whole?: number;
  /** Bytes of the body of an answer. */
  readonly bytes: number;
}

export interface HttpClientOptions {
  readonly limits: HttpLimits;
  /** For the time of a whole answer. Default: the real time. */
  readonly clock?: Clock;
  /** Whom it trusts, and its own certificate. A function is called for the first TLS connection. */
  readonly trust?: HttpTrust | (() => HttpTrust);
  readonly lookup?: LookupFunction;
  /** Opens the TCP connection below TLS, for example through a proxy; with undefined it is a direct one. */
  readonly openSocket?: () => Promise<Socket | undefined>;
  readonly localAddress?: string;
  /** Connections to one server; default: as many as requests at the same time. */
  readonly connections?: number;
  /** Requests at the same time on one connection; default: 1. 0: each has a connection of its own. */
  readonly pipelining?: number;
  /** Redirects that a request follows; default: none. */
  readonly redirects?: number;
}

export interface HttpRequest {
  /** Default: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  /** Name of the answer in the error of the time limit; default: `its answer`. */
  readonly what?: string;
  /** Whether the body of an answer is read; by default it is. */
  readonly readsBody?: (status: number) => boolean;
  /** Sees each part of the body; false ends the reading. */
  readonly accept?: (part: Buffer) => boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** The default of the one depends on the environment, that of the other on the options of Node. */
const VERIFIED = { rejectUnauthorized: true, minVersion: 'TLSv1.2' } as const;
/** Bytes of the memory for a body at first. */
const FIRST_BYTES = 16 * 1024;

/** The body of an answer has more bytes than the client reads. */
class AnswerTooLargeError extends ProjectError {
  constructor(bytes: number) {
    super('ANSWER_TOO_LARGE', `the answer is larger than ${bytes} bytes`);
  }
}

export class HttpClient {
  readonly #agent: Agent;
  readonly #dispatcher: Dispatcher;
  readonly #limits: HttpLimits;
  readonly #clock: Clock;

  constructor(options: HttpClientOptions) {
    const { limits, clock = new SystemClock(), localAddress, connections, pipelining = 1, redirects = 0 } = options;
    this.#limits = limits;
    this.#clock = clock;
    this.#agent = new Agent({
      connect: connectorOf(options),
      headersTimeout: limits.step,
      bodyTimeout: limits.step,
      pipelining,
      ...(localAddress !== undefined && { localAddress }),
      ...(connections !== undefined && { connections }),
    });
    const follow = interceptors.redirect({ maxRedirections: redirects });
    this.#dispatcher = redirects > 0 ? this.#agent.compose(follow) : this.#agent;
  }

  /** Rejects with TimeoutError, AnswerTooLargeError, the reason of the signal, or the error of the connection. */
  async send(url: string | URL, sent: HttpRequest = {}): Promise<HttpAnswer> {
    const { method = 'GET', headers = {}, body, signal, what = 'its answer' } = sent;
    const { whole } = this.#limits;
    const late = () => new TimeoutError(what, whole ?? 0);
    const limit = whole === undefined ? undefined : this.#clock.deadline('HTTP answer', whole, late);
    const ends = [limit?.signal, signal].filter((each) => each !== undefined);
    if (ends.length === 0) throw new InvariantError('the request has no time limit');
    try {
      const answer = await request(url, {
        dispatcher: this.#dispatcher,
        method: method as Dispatcher.HttpMethod,
        headers,
        ...(body !== undefined && { body }),
        signal: AbortSignal.any(ends),
      });
      const { statusCode: status, headers: received } = answer;
      return { status, headers: received, bytes: await this.#read(answer, sent) };
    } finally {
      limit?.timer.cancel();
    }
  }

  async #read({ statusCode, body }: Dispatcher.ResponseData, { readsBody, accept }: HttpRequest): Promise<Buffer> {
    if (readsBody?.(statusCode) === false) {
      body.on('error', () => undefined).destroy();
      return Buffer.of();
    }
    let bytes = Buffer.allocUnsafe(FIRST_BYTES);
    let length = 0;
    for await (const part of body as AsyncIterable<Buffer>) {
      if (accept?.(part) === false) break;
      const end = length + part.length;
      if (end > this.#limits.bytes) throw new AnswerTooLargeError(this.#limits.bytes);
      // Copied: an answer of millions of parts would take a hundred times its bytes.
      if (end > bytes.length) bytes = Buffer.concat([bytes], Math.max(end, 2 * bytes.length));
      part.copy(bytes, length);
      length = end;
    }
    return bytes.subarray(0, length);
  }

  /** Waits for requests in progress. */
  close(): Promise<void> {
    return this.#agent.close();
  }

  /** Requests in progress are rejected. */
  destroy(): Promise<void> {
    return this.#agent.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }
}

function connectorOf({ limits, trust, lookup, openSocket }: HttpClientOptions): buildConnector.connector {
  const common = { timeout: limits.step, ...(lookup && { lookup }) };
  const connectPlain = buildConnector(common);
  let connectTls: buildConnector.connector | undefined;
  return (target, callback) => {
    if (target.protocol !== 'https:') return connectPlain(target, callback);
    connectTls ??= buildConnector({ ...common, ...VERIFIED, ...(typeof trust === 'function' ? trust() : trust) });
    const connect = connectTls;
    if (!openSocket) return connect(target, callback);
    openSocket().then(
      (httpSocket) => connect({ ...target, ...(httpSocket && { httpSocket }) }, callback),
      (error: unknown) => callback(asError(error), null),
    );
  };
}
