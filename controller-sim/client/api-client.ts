// The typed client of the management, client or fabric API of a controller: this one, or the reference's. Its methods
// reject if the controller rejects a request.

import { ProjectError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { checkOptions, notEmpty, type OptionCheck, OptionError } from '#lib/options.ts';
import type { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import type { Clock } from '#lib/time/clock.ts';
import { BASES } from '#schemas/api/bases.ts';
import { COLLECTIONS } from '#schemas/api/gen/collections.ts';
import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { connectionProblem, type Envelope, type ErrorBody, errorIn, readEnvelope, tokenIn } from './api-answer.ts';
import { AnswersTooLargeError, type ApiAnswer, ApiCaller, answerBudget } from './api-caller.ts';
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
  requireClientOptions(options);
  const caller = new TypedCaller(api, options, parts);
  const collections = Object.entries(COLLECTIONS[api]).map(([name, ids]) => [name, collectionOf(caller, ids)]);
  return Object.assign(Object.fromEntries(collections), {
    call: (id: string, call?: Call) => caller.call(id, call),
    token: () => caller.token(),
    close: () => caller.close(),
    [Symbol.asyncDispose]: () => caller.close(),
  });
}

/** Other fields are permitted: callers pass a simulator. @throws OptionError */
function requireClientOptions(options: ClientOptions): void {
  for (const name of ['baseUrl', 'ca', 'username', 'password'] as const) {
    const value = options[name];
    const problem = name === 'password' && value === undefined ? undefined : CLIENT_CHECKS[name](value);
    if (problem !== undefined) throw new OptionError(`openClient: the option ${name} is invalid. ${problem}`);
  }
}

function collectionOf(caller: TypedCaller, ids: Readonly<Record<string, string>>): object {
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

class TypedCaller {
  readonly #api: ClientApi;
  readonly #options: ClientOptions;
  readonly #budget: BufferBudget | undefined;
  readonly #caller: ApiCaller;
  #operations: ReadonlyMap<string, ApiOperation> | undefined;
  #isClosed = false;

  constructor(api: ClientApi, options: ClientOptions, { budget, clock }: ClientParts) {
    this.#api = api;
    this.#options = options;
    this.#budget = budget;
    const { baseUrl, ca } = options;
    const login = () => this.#login();
    this.#caller = new ApiCaller({ baseUrl, trust: { ca }, clock, login, followsData: true });
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

  token(): Promise<string> {
    return this.#caller.token() as Promise<string>; // it logs in
  }

  /** Requests that have no answer yet are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#caller.destroy();
  }

  #newBudget(): BufferBudget {
    return this.#budget ?? answerBudget();
  }

  async #ask(id: string, { params = {}, query = {}, body }: Call, budget: BufferBudget): Promise<Envelope> {
    const { method, path, answer, query: known } = this.#operation(id);
    requireParameters(id, query, [...known.map(({ name }) => name), ...LIST_PARAMETERS]);
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const target = `${BASES[this.#api][0]}${filled}${search.size > 0 ? `?${search}` : ''}`;
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const { status, headers, text } = await this.#answer(id, (caller) =>
      caller.ask({ method, path: target, body: sent, budget }),
    );
    const isJson = String(headers['content-type'] ?? '').includes('json');
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
    const login = { method: 'POST', path: LOGIN, body: { username, password }, budget: this.#newBudget() };
    const { status, text } = await this.#answer(AUTHENTICATE, (caller) => caller.send(login));
    const envelope = readEnvelope(text);
    if (status >= 300) throw rejection(AUTHENTICATE, status, errorIn(envelope));
    const token = tokenIn(envelope);
    if (token === undefined) throw new ApiRequestError(`${AUTHENTICATE}: the answer has no session`, { status });
    return token;
  }

  /** Rejects with ApiRequestError if no answer comes. */
  async #answer(id: string, send: (caller: ApiCaller) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    if (this.#isClosed) throw new ApiRequestError('the client is closed');
    try {
      return await send(this.#caller);
    } catch (error) {
      if (error instanceof ApiRequestError) throw error; // of the login
      const { baseUrl } = this.#options;
      const message =
        error instanceof AnswersTooLargeError
          ? `${id}: ${baseUrl} cannot be read: ${error.message}`
          : `no controller answers at ${baseUrl}: ${connectionProblem(error)} (${id})`;
      throw new ApiRequestError(message, { cause: error });
    }
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
function requireParameters(id: string, query: object, known: readonly string[]): void {
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
