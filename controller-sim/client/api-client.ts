// A client of the management, client or fabric API of a controller: this one, or the reference's. It logs in with the
// first request, and again after its session has ended.

import type { Dispatcher } from 'undici';
import { ProjectError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { checkOptions, notEmpty, type OptionCheck, OptionError } from '#lib/options.ts';
import type { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import { type Clock, SystemClock } from '#lib/time/clock.ts';
import { BASES } from '#schemas/api/bases.ts';
import { COLLECTIONS } from '#schemas/api/gen/collections.ts';
import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import type { ApiClient, ClientApi } from './api-types.ts';
import {
  AnswersTooLargeError,
  answerBudget,
  ControllerHttp,
  connectionProblem,
  type Envelope,
  type ErrorBody,
  errorIn,
  readEnvelope,
} from './controller-http.ts';

export interface ClientOptions {
  /** `https://host:port`. */
  readonly baseUrl: string;
  /** The authorities of the controller, as PEM. */
  readonly ca: string;
  readonly username: string;
  /** Undefined if it is not known: the first request is then rejected. */
  readonly password: string | undefined;
}

/** The controller rejects a request, or does not answer. */
export class ApiRequestError extends ProjectError {
  /** Status of the answer; 0 without one. */
  readonly status: number;
  /** The code of the API, such as `COULD_NOT_VALIDATE`; empty without an answer. */
  readonly apiCode: string;
  /** The field that is wrong, if the API names one. */
  readonly field: string | undefined;

  constructor(message: string, options: { status?: number; error?: ErrorBody; cause?: unknown } = {}) {
    super('API_REQUEST', message, { cause: options.cause });
    this.status = options.status ?? 0;
    this.apiCode = options.error?.code ?? '';
    this.field = options.error?.field;
  }
}

interface Call {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly body?: unknown;
}

const AUTHENTICATE = 'authenticate';
const LOGIN = `${BASES.client[0]}/authenticate?method=password`;
/** reference fact: the largest page. */
const PAGE = 500;
/** Entities of a list. */
const MAX_LISTED = 100_000;
const UNAUTHORIZED = 401;
/** The index of the data in each answer, and the least one that a request asks for. The reference has neither. */
const DATA_INDEX = 'edgeweave-data-index';
const MIN_DATA_INDEX = 'edgeweave-min-data-index';
const INDEX = /^\d{1,19}$/;

interface Requested {
  readonly method: Dispatcher.HttpMethod;
  readonly target: string;
  readonly token?: string;
  readonly body?: unknown;
  readonly budget: BufferBudget;
}

const object: OptionCheck = (value) => (isMap(value) ? undefined : 'It must be an object.');
const CLIENT_CHECKS: Readonly<Record<keyof ClientOptions, OptionCheck>> = {
  baseUrl: (value) => notEmpty(value) ?? (URL.canParse(String(value)) ? undefined : 'It must be https://host:port.'),
  ca: notEmpty,
  username: notEmpty,
  password: notEmpty,
};
const CALL_CHECKS: Readonly<Record<keyof Call, OptionCheck>> = {
  params: object,
  query: object,
  body: () => undefined, // the controller checks it
};
/** Parameters of every list. */
const LIST_PARAMETERS = ['filter', 'limit', 'offset', 'sort'];

interface ClientParts {
  /** For all answers together, if the caller keeps them all; by default each list and each other answer has its own. */
  readonly budget?: BufferBudget;
  readonly clock?: Clock;
}

/**
 * Connects on demand. The options may be a simulator. Rejections of its methods are ApiRequestError, and OptionError
 * for unknown parts and parameters.
 * @throws OptionError
 */
export function openClient<Api extends ClientApi>(api: Api, options: ClientOptions): ApiClient<Api> {
  return openClientWith({}, api, options);
}

/** As `openClient`, with parts that only this program chooses. @throws OptionError */
export function openClientWith<Api extends ClientApi>(
  parts: ClientParts,
  api: Api,
  options: ClientOptions,
): ApiClient<Api> {
  if (!Object.hasOwn(COLLECTIONS, api))
    throw new OptionError(`openClient: unknown API ${api}; ${meantOrKnown(api, Object.keys(COLLECTIONS))}`);
  demandClientOptions(options);
  const caller = new Caller(api, options, parts);
  const collections = Object.entries(COLLECTIONS[api]).map(([name, ids]) => [name, collectionOf(caller, ids)]);
  return Object.assign(Object.fromEntries(collections), {
    call: (id: string, call?: Call) => caller.call(id, call),
    token: () => caller.token(),
    close: () => caller.close(),
    [Symbol.asyncDispose]: () => caller.close(),
  });
}

/** Other fields are permitted: callers pass a simulator. @throws OptionError */
function demandClientOptions(options: ClientOptions): void {
  for (const name of ['baseUrl', 'ca', 'username', 'password'] as const) {
    const value = options[name];
    const problem = name === 'password' && value === undefined ? undefined : CLIENT_CHECKS[name](value);
    if (problem !== undefined) throw new OptionError(`openClient: the option ${name} is invalid. ${problem}`);
  }
}

function collectionOf(caller: Caller, ids: Readonly<Record<string, string>>): object {
  const { list = '', create = '', get = '', update = '', patch = '', delete: remove = '' } = ids;
  const methods: Readonly<Record<string, unknown>> = {
    list: (query?: Call['query']) => caller.list(list, query),
    create: (body: unknown) => caller.call(create, { body }),
    get: (id: string) => caller.call(get, { params: { id } }),
    update: (id: string, body: unknown) => caller.call(update, { params: { id }, body }),
    patch: (id: string, body: unknown) => caller.call(patch, { params: { id }, body }),
    delete: (id: string) => caller.call(remove, { params: { id } }),
  };
  return Object.fromEntries(Object.keys(ids).map((verb) => [verb, methods[verb]]));
}

class Caller {
  readonly #api: ClientApi;
  readonly #options: ClientOptions;
  readonly #clock: Clock;
  readonly #budget: BufferBudget | undefined;
  #http: Promise<ControllerHttp> | undefined;
  #operations: ReadonlyMap<string, ApiOperation> | undefined;
  #token: Promise<string> | undefined;
  /** The newest data of all answers: behind one address, the next request may reach another controller. */
  #index = 0n;
  #isClosed = false;

  constructor(api: ClientApi, options: ClientOptions, { budget, clock = new SystemClock() }: ClientParts) {
    this.#api = api;
    this.#options = options;
    this.#budget = budget;
    this.#clock = clock;
  }

  async call(id: string, call: Call = {}): Promise<unknown> {
    checkOptions(id, call, CALL_CHECKS);
    return (await this.#ask(id, call, this.#newBudget())).data;
  }

  /** All pages, or one page with a limit. */
  async list(id: string, query: Call['query'] = {}): Promise<unknown[]> {
    const budget = this.#newBudget();
    if (query.limit !== undefined) return listIn(id, (await this.#ask(id, { query }, budget)).data);
    const items: unknown[] = [];
    let previous: unknown;
    for (let offset = Number(query.offset ?? 0); ; offset += PAGE) {
      const { data, meta } = await this.#ask(id, { query: { ...query, limit: PAGE, offset } }, budget);
      const page = listIn(id, data);
      const first = idOf(page[0]);
      if (first !== undefined && first === previous)
        throw new ApiRequestError(`${id}: the controller repeats a page at offset ${offset}`);
      previous = first;
      for (const item of page) items.push(item);
      if (items.length > MAX_LISTED)
        throw new ApiRequestError(`${id}: more than ${MAX_LISTED} entities; narrow the list with a filter or a limit`);
      const total = Number(meta?.pagination?.totalCount ?? 0);
      if (page.length < PAGE || !(offset + PAGE < total)) return items;
    }
  }

  /** Concurrent requests share one login. */
  token(): Promise<string> {
    if (this.#token) return this.#token;
    const login = this.#login();
    this.#token = login;
    login.catch(() => {
      if (this.#token === login) this.#token = undefined;
    });
    return login;
  }

  /** Requests that have no answer yet are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#http)?.destroy();
  }

  #newBudget(): BufferBudget {
    return this.#budget ?? answerBudget();
  }

  async #ask(id: string, { params = {}, query = {}, body }: Call, budget: BufferBudget): Promise<Envelope> {
    const { method, path, answer, query: known } = this.#operation(id);
    demandParameters(id, query, [...known.map(({ name }) => name), ...LIST_PARAMETERS]);
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const target = `${BASES[this.#api][0]}${filled}${search.size > 0 ? `?${search}` : ''}`;
    const used = this.token();
    let outcome = await this.#request(id, { method, target, token: await used, body, budget });
    if (outcome.status === UNAUTHORIZED) {
      if (this.#token === used) this.#token = undefined; // the session has ended
      outcome = await this.#request(id, { method, target, token: await this.token(), body, budget });
    }
    const { status, text, isJson } = outcome;
    if (status >= 500) this.#index = 0n; // the data may have gone back
    if (!isJson && status < 300) return { data: text };
    const envelope = readEnvelope(text);
    if (status >= 300) throw rejection(id, status, errorIn(envelope));
    if (answer.kind === 'bare') return { data: envelope };
    return answer.kind === 'none' ? { ...envelope, data: undefined } : envelope;
  }

  #operation(id: string): ApiOperation {
    this.#operations ??= new Map(
      readOperations().flatMap((each) => (each.api === this.#api ? [[each.id as string, each] as const] : [])),
    );
    const operation = this.#operations.get(id);
    if (!operation) throw new ApiRequestError(`the ${this.#api} API has no operation ${id}`);
    return operation;
  }

  async #login(): Promise<string> {
    const { username, password } = this.#options;
    if (password === undefined)
      throw new ApiRequestError(
        `the password of ${username} is not known: existing data keeps it; give it with \`password\``,
      );
    const login = { method: 'POST', target: LOGIN, body: { username, password }, budget: this.#newBudget() } as const;
    const { status, text } = await this.#request(AUTHENTICATE, login);
    const envelope = readEnvelope(text);
    if (status >= 300) throw rejection(AUTHENTICATE, status, errorIn(envelope));
    const { data } = envelope;
    const { token } = (data ?? {}) as { readonly token?: unknown };
    if (typeof token !== 'string') throw new ApiRequestError(`${AUTHENTICATE}: the answer has no session`, { status });
    return token;
  }

  async #request(id: string, { method, target, token, body, budget }: Requested) {
    if (this.#isClosed) throw new ApiRequestError('the client is closed');
    const { baseUrl, ca } = this.#options;
    this.#http ??= ControllerHttp.open(ca, this.#clock);
    const http = await this.#http;
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { 'zt-session': token }),
      ...(this.#index > 0n && { [MIN_DATA_INDEX]: String(this.#index) }),
    };
    const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    try {
      const { status, headers, text } = await http.send(`${baseUrl}${target}`, request, budget);
      this.#note(String(headers[DATA_INDEX] ?? ''));
      return { status, text, isJson: String(headers['content-type'] ?? '').includes('json') };
    } catch (error) {
      const message =
        error instanceof AnswersTooLargeError
          ? `${id}: ${baseUrl} cannot be read: ${error.message}`
          : `no controller answers at ${baseUrl}: ${connectionProblem(error)} (${id})`;
      throw new ApiRequestError(message, { cause: error });
    }
  }

  #note(index: string): void {
    if (INDEX.test(index) && BigInt(index) > this.#index) this.#index = BigInt(index);
  }
}

/** The items of a page. @throws ApiRequestError for an answer without a list */
function listIn(id: string, data: unknown): unknown[] {
  if (Array.isArray(data)) return data;
  throw new ApiRequestError(`${id}: the answer has no list`);
}

function idOf(item: unknown): string | undefined {
  const { id } = (item ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
}

/** @throws OptionError: the controller ignores unknown parameters */
function demandParameters(id: string, query: object, known: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new OptionError(`${id}: unknown parameter ${unknown}; ${meantOrKnown(unknown, known)}`);
}

function rejection(id: string, status: number, error: ErrorBody | undefined): ApiRequestError {
  const name = error?.code ? ` (${error.code})` : '';
  return new ApiRequestError(`${id}: ${error?.reason || `status ${status}`}${name}`, {
    status,
    ...(error && { error }),
  });
}
