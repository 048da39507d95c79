// A client of the management, client or fabric API of a controller: this one, or the reference's. It logs in with the
// first request, and again after its session has ended.

import type { Agent, Dispatcher } from 'undici';
import { describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import { checkOptions, notEmpty, type OptionCheck, OptionError } from '#lib/options.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { BASES } from '#schemas/api/bases.ts';
import { COLLECTIONS } from '#schemas/api/gen/collections.ts';
import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import type { ApiClient, ClientApi } from './api-types.ts';

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
    this.field = options.error?.cause?.field;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly cause?: { readonly field?: string; readonly reason?: string; readonly message?: string };
}

interface Envelope {
  readonly data?: unknown;
  readonly meta?: { readonly pagination?: { readonly totalCount: number } };
  readonly error?: ErrorBody;
}

interface Call {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly body?: unknown;
}

const LOGIN = `${BASES.client[0]}/authenticate?method=password`;
/** Milliseconds until the head of an answer, and between two parts of its body. */
const TIMEOUT = 60_000;
/** Milliseconds for a whole answer, however slowly it comes. */
const MAX_ANSWER_MS = 300_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** reference fact: the largest page. */
const PAGE = 500;
/** Entities that a list holds in memory. */
const MAX_LISTED = 100_000;
const UNAUTHORIZED = 401;
/** The index of the data in each answer, and the least one that a request asks for. The reference has neither. */
const DATA_INDEX = 'edgeweave-data-index';
const MIN_DATA_INDEX = 'edgeweave-min-data-index';
const INDEX = /^\d{1,19}$/;

const isMap: OptionCheck = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'It must be an object.';
const CLIENT_CHECKS: Readonly<Record<keyof ClientOptions, OptionCheck>> = {
  baseUrl: (value) => notEmpty(value) ?? (URL.canParse(String(value)) ? undefined : 'It must be https://host:port.'),
  ca: notEmpty,
  username: notEmpty,
  password: notEmpty,
};
const CALL_CHECKS: Readonly<Record<keyof Call, OptionCheck>> = {
  params: isMap,
  query: isMap,
  body: () => undefined, // the controller checks it
};
/** Parameters of every list. */
const LIST_PARAMETERS = ['filter', 'limit', 'offset', 'sort'];

/**
 * Connects on demand. The options may be a simulator. Rejections of its methods are ApiRequestError, and OptionError
 * for unknown parts and parameters.
 * @throws OptionError
 */
export function openClient<Api extends ClientApi>(api: Api, options: ClientOptions): ApiClient<Api> {
  if (!Object.hasOwn(COLLECTIONS, api))
    throw new OptionError(`openClient: unknown API ${api}; ${meantOrKnown(api, Object.keys(COLLECTIONS))}`);
  demandClientOptions(options);
  const caller = new Caller(api, options);
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
  #connection: Promise<Connection> | undefined;
  #operations: ReadonlyMap<string, ApiOperation> | undefined;
  #token: Promise<string> | undefined;
  /** The newest data of all answers: behind one address, the next request may reach another controller. */
  #index = 0n;
  #isClosed = false;
  readonly #clock = new SystemClock();

  constructor(api: ClientApi, options: ClientOptions) {
    this.#api = api;
    this.#options = options;
  }

  async call(id: string, call: Call = {}): Promise<unknown> {
    checkOptions(id, call, CALL_CHECKS);
    return (await this.#ask(id, call)).data;
  }

  /** All pages, or one page with a limit. */
  async list(id: string, query: Call['query'] = {}): Promise<unknown[]> {
    if (query.limit !== undefined) return listIn(id, (await this.#ask(id, { query })).data);
    const items: unknown[] = [];
    for (let offset = Number(query.offset ?? 0); ; offset += PAGE) {
      const { data, meta } = await this.#ask(id, { query: { ...query, limit: PAGE, offset } });
      const page = listIn(id, data);
      for (const item of page) items.push(item);
      if (page.length < PAGE || offset + PAGE >= (meta?.pagination?.totalCount ?? 0)) return items;
      if (items.length >= MAX_LISTED)
        throw new ApiRequestError(`${id}: more than ${MAX_LISTED} entities; narrow the list with a filter or a limit`);
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
    await (await this.#connection)?.agent.destroy();
  }

  async #ask(id: string, { params = {}, query = {}, body }: Call): Promise<Envelope> {
    const { method, path, answer, query: known } = this.#operation(id);
    demandParameters(id, query, [...known.map(({ name }) => name), ...LIST_PARAMETERS]);
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const target = `${BASES[this.#api][0]}${filled}${search.size > 0 ? `?${search}` : ''}`;
    const used = this.token();
    let outcome = await this.#request(method, target, await used, body);
    if (outcome.status === UNAUTHORIZED) {
      if (this.#token === used) this.#token = undefined; // the session has ended
      outcome = await this.#request(method, target, await this.token(), body);
    }
    const { status, text, isJson } = outcome;
    if (status >= 500) this.#index = 0n; // the data may have gone back
    if (!isJson && status < 300) return { data: text };
    const envelope = readEnvelope(text);
    if (status >= 300) throw rejection(id, status, envelope.error);
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
    const { status, text } = await this.#request('POST', LOGIN, undefined, { username, password });
    const { data, error } = readEnvelope(text);
    if (status >= 300) throw rejection('authenticate', status, error);
    const { token } = (data ?? {}) as { readonly token?: unknown };
    if (typeof token !== 'string') throw new ApiRequestError('authenticate: the answer has no session', { status });
    return token;
  }

  async #request(method: Dispatcher.HttpMethod, target: string, token: string | undefined, body: unknown) {
    if (this.#isClosed) throw new ApiRequestError('the client is closed');
    this.#connection ??= connect(this.#options.ca);
    const { agent, request } = await this.#connection;
    const late = () => new TimeoutError(`the answer of ${this.#options.baseUrl}`, MAX_ANSWER_MS);
    const { signal, timer } = this.#clock.deadline('answer of a controller', MAX_ANSWER_MS, late);
    try {
      const answer = await request(`${this.#options.baseUrl}${target}`, {
        method,
        dispatcher: agent,
        signal,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { 'zt-session': token }),
          ...(this.#index > 0n && { [MIN_DATA_INDEX]: String(this.#index) }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      this.#note(String(answer.headers[DATA_INDEX] ?? ''));
      const isJson = String(answer.headers['content-type'] ?? '').includes('json');
      return { status: answer.statusCode, text: await answer.body.text(), isJson };
    } catch (error) {
      const message = `no controller answers at ${this.#options.baseUrl}: ${describeError(error)}`;
      throw new ApiRequestError(message, { cause: error });
    } finally {
      timer.cancel();
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

/** @throws OptionError: the controller ignores unknown parameters */
function demandParameters(id: string, query: object, known: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new OptionError(`${id}: unknown parameter ${unknown}; ${meantOrKnown(unknown, known)}`);
}

interface Connection {
  readonly agent: Agent;
  readonly request: typeof import('undici').request;
}

/** Its code is loaded on demand, so that the simulator starts faster. */
async function connect(ca: string): Promise<Connection> {
  const { Agent, request } = await import('undici');
  const agent = new Agent({
    connect: { ca, timeout: TIMEOUT },
    headersTimeout: TIMEOUT,
    bodyTimeout: TIMEOUT,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  return { agent, request };
}

function readEnvelope(text: string): Envelope {
  try {
    const envelope = (parseJson(text) ?? {}) as Envelope;
    if (typeof envelope !== 'object') return {};
    const { error, ...others } = envelope;
    return typeof error === 'object' && error !== null ? envelope : others;
  } catch {
    return {}; // not JSON: the status tells enough
  }
}

function rejection(id: string, status: number, error: ErrorBody | undefined): ApiRequestError {
  const { field, reason, message = error?.message ?? `status ${status}` } = error?.cause ?? {};
  const why = reason === undefined ? message : field ? `${field}: ${reason}` : reason;
  const name = error === undefined ? '' : ` (${error.code})`;
  return new ApiRequestError(`${id}: ${why}${name}`, { status, ...(error && { error }) });
}
