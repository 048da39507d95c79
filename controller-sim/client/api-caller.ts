// Sends requests to the APIs of a controller, this one or the reference's, and resolves with each answer, also with a
// rejection. It logs in with the first request that has a session, and again after its session has ended. The typed
// client, the commands, the test bed and the tests are made of it.

import type { HttpClient, HttpTrust } from '#http/http-client.ts';
import { ProjectError } from '#lib/errors.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import type { Clock } from '#lib/time/clock.ts';

export interface CallerOptions {
  /** `https://host:port`. */
  readonly baseUrl: string;
  /** The authorities of the controller, and the client's own certificate. */
  readonly trust: HttpTrust;
  /** Default: the real time. */
  readonly clock?: Clock | undefined;
  /** Resolves with the token of a new session. Without it, or a token, requests have no session. */
  readonly login?: () => Promise<string>;
  /** One that does not expire. */
  readonly token?: string | undefined;
  /** Whether requests ask for data at least as new as in the answers before: the next may reach another controller. */
  readonly followsData?: boolean;
}

export interface ApiCall {
  readonly method: string;
  /** From the base path of the API, with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, other values as JSON. */
  readonly body?: unknown;
  /** Content type of the body; by default JSON, and none without a body. */
  readonly type?: string | undefined;
  /** For several answers that are kept together; by default each answer has its own. */
  readonly budget?: BufferBudget | undefined;
  /** Connections to use instead of those of the caller. */
  readonly over?: HttpClient | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
}

/** Milliseconds to connect, until the head of an answer, and between two parts of its body. */
const TIMEOUT = 60_000;
/** Milliseconds for a whole answer, however slowly it comes. */
const MAX_ANSWER_MS = 300_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
export const CALLER_BOUNDS = { step: TIMEOUT, whole: MAX_ANSWER_MS, bytes: MAX_ANSWER_BYTES };
/** Bytes of memory of the answers that one caller keeps: all pages of a list, all lists of a network. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;
/** Bytes of a parsed value besides its text; `[],` has three bytes of text. */
const VALUE_BYTES = 32;
const OPEN_LIST = 0x5b;
const OPEN_MAP = 0x7b;
const COMMA = 0x2c;
const UNAUTHORIZED = 401;
const JSON_TYPE = 'application/json';
/** The index of the data in each answer, and the least one that a request asks for. The reference has neither. */
const DATA_INDEX = 'edgeweave-data-index';
const MIN_DATA_INDEX = 'edgeweave-min-data-index';
const INDEX = /^\d{1,19}$/;

/** The answers take more memory than their caller may use. */
export class AnswersTooLargeError extends ProjectError {
  constructor() {
    super('ANSWERS_TOO_LARGE', `its answers take more than ${MAX_KEPT_BYTES / 1024 / 1024} MiB`);
  }
}

/** Memory for the answers that one caller keeps. Answers that are read at the same time share it. */
export function answerBudget(): BufferBudget {
  return new BufferBudget(MAX_KEPT_BYTES);
}

export class ApiCaller {
  readonly #options: CallerOptions;
  /** The token of the session; undefined before a login. */
  session: string | undefined;
  #connections: Promise<HttpClient> | undefined;
  #login: Promise<string> | undefined;
  /** The newest data of all answers. */
  #index = 0n;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.session = options.token;
  }

  /** With the session, and once more with a new one if that has ended. Rejects like `send`, and like the login. */
  async ask(call: ApiCall): Promise<ApiAnswer> {
    const used = await this.token();
    const answer = await this.send(call, used);
    if (answer.status !== UNAUTHORIZED || !this.#options.login) return answer;
    if (this.session === used) this.session = undefined;
    return this.send(call, await this.token());
  }

  /** The token of the session. Concurrent requests share one login. */
  async token(): Promise<string | undefined> {
    const { login } = this.#options;
    if (this.session !== undefined || !login) return this.session;
    this.#login ??= this.#begin(login);
    return this.#login;
  }

  async #begin(login: () => Promise<string>): Promise<string> {
    try {
      this.session = await login();
      return this.session;
    } finally {
      this.#login = undefined;
    }
  }

  /**
   * Without the session; `token` is that of another one. Rejects with AnswersTooLargeError, TimeoutError or the error
   * of the connection.
   */
  async send(call: ApiCall, token?: string): Promise<ApiAnswer> {
    const { method, path, body, type = body === undefined ? undefined : JSON_TYPE, budget = answerBudget() } = call;
    const { baseUrl } = this.#options;
    const client = call.over ?? (await this.#client());
    const answer = await client.send(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(type !== undefined && type !== '' && { 'content-type': type }),
        ...(token !== undefined && { 'zt-session': token }),
        ...(this.#index > 0n && { [MIN_DATA_INDEX]: String(this.#index) }),
        ...call.headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      what: 'the answer',
      accept: (part) => take(budget, part.length),
    });
    const text = answer.bytes.toString();
    take(budget, valuesIn(text) * VALUE_BYTES);
    if (this.#options.followsData) this.#note(answer.status, String(answer.headers[DATA_INDEX] ?? ''));
    return { ...answer, text };
  }

  #client(): Promise<HttpClient> {
    this.#connections ??= this.#connect();
    return this.#connections;
  }

  async #connect(): Promise<HttpClient> {
    const { HttpClient } = await import('#http/http-client.ts'); // programs that call no API start without it
    const { trust, clock } = this.#options;
    return new HttpClient({ limits: CALLER_BOUNDS, trust, ...(clock && { clock }) });
  }

  /** Waits for requests in progress. */
  async close(): Promise<void> {
    await (await this.#connections)?.close();
  }

  /** Requests in progress are rejected. */
  async destroy(): Promise<void> {
    await (await this.#connections)?.destroy();
  }

  #note(status: number, index: string): void {
    if (INDEX.test(index) && BigInt(index) > this.#index) this.#index = BigInt(index);
    if (status >= 500) this.#index = 0n; // the data may have gone back
  }
}

/** @throws AnswersTooLargeError */
function take(budget: BufferBudget, bytes: number): true {
  budget.add(bytes);
  if (budget.free < 0) throw new AnswersTooLargeError();
  return true;
}

/** At least the values of a JSON text: commas within strings count too. */
function valuesIn(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === COMMA || code === OPEN_LIST || code === OPEN_MAP) count++;
  }
  return count;
}
