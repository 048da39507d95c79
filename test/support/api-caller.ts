// A simulator for a test of its APIs, and a client that asks what it likes and looks at whole answers: status, data, error.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Agent, type Dispatcher, request } from 'undici';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { issueAuthority } from '../../controller-sim/pki/certificate.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../controller-sim/simulator.ts';

const PASSWORD = 'secret1';
const DAY = 86_400_000;

export interface Cause {
  readonly field?: string;
  readonly reason?: string;
  readonly value?: unknown;
  readonly code?: string;
  readonly message?: string;
  readonly data?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly data: unknown;
  readonly code: string | undefined;
  readonly cause: Cause | undefined;
  readonly meta: {
    readonly filterableFields?: readonly string[];
    readonly pagination?: { readonly limit: number; readonly offset: number; readonly totalCount: number };
  };
}

export class ApiCaller {
  readonly simulator: Simulator;
  readonly #agent: Agent;
  /** The session of the administrator. */
  token = '';

  private constructor(simulator: Simulator) {
    this.simulator = simulator;
    // A connection for each request: one that is kept could end when a test moves the clock.
    this.#agent = new Agent({ connect: { ca: simulator.ca }, pipelining: 0 });
  }

  /** Starts a simulator and logs its administrator in. Both end with the caller. */
  static async start(options: SimulatorOptions = {}): Promise<ApiCaller> {
    const simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST, ...options });
    const caller = new ApiCaller(simulator);
    try {
      caller.token = await caller.login(simulator.username);
    } catch (error) {
      await caller.close();
      throw error;
    }
    return caller;
  }

  /** For a simulator that somebody else started and ends. */
  static of(simulator: Simulator, token: string): ApiCaller {
    const caller = new ApiCaller(simulator);
    caller.token = token;
    return caller;
  }

  /** `path` is one of the management API unless it begins with the base of another. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    token = this.token,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> {
    return this.askRaw(method, path, body === undefined ? undefined : JSON.stringify(body), token, headers);
  }

  /** The same with a body that is text. */
  async askRaw(
    method: string,
    path: string,
    body?: string,
    token = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> {
    const { baseUrl } = this.simulator;
    const url = /^\/(?:edge|fabric|oidc)\//.test(path) ? `${baseUrl}${path}` : `${baseUrl}/edge/management/v1${path}`;
    const response = await request(url, {
      method: method as Dispatcher.HttpMethod,
      dispatcher: this.#agent,
      headers: { 'content-type': 'application/json', ...(token !== '' && { 'zt-session': token }), ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.body.text();
    const parsed = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
    const error = parsed.error as { code: string; cause?: Cause } | undefined;
    return {
      status: response.statusCode,
      text,
      data: parsed.data,
      code: error?.code,
      cause: error?.cause,
      meta: (parsed.meta ?? {}) as Answered['meta'],
    };
  }

  /** What is there; throws for a refusal. */
  async get<T = Record<string, unknown>>(path: string, token = this.token): Promise<T> {
    return granted('GET', path, await this.ask('GET', path, undefined, token)).data as T;
  }

  /** Names of what a list holds, in its order. */
  async names(path: string): Promise<string[]> {
    return (await this.get<{ name: string }[]>(path)).map(({ name }) => name);
  }

  /** Answers the id of what was made; throws for a refusal. */
  async create(path: string, body: unknown, token = this.token): Promise<string> {
    return (granted('POST', path, await this.ask('POST', path, body, token)).data as { id: string }).id;
  }

  /** PUT, PATCH or DELETE; throws for a refusal. */
  async change(method: string, path: string, body?: unknown, token = this.token): Promise<void> {
    granted(method, path, await this.ask(method, path, body, token));
  }

  /** Answers the token of the session. */
  async login(username: string, password = PASSWORD): Promise<string> {
    const path = '/edge/client/v1/authenticate?method=password';
    const answer = granted('POST', path, await this.ask('POST', path, { username, password }, ''));
    return (answer.data as { token: string }).token;
  }

  /** An identity with a password, logged in. */
  async person(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<{ id: string; token: string }> {
    const id = await this.create('/identities', { name, type: 'User', isAdmin: false, ...fields });
    await this.create('/authenticators', { identityId: id, method: 'updb', username: name, password: PASSWORD });
    return { id, token: await this.login(name) };
  }

  /** Everybody may dial every service over every router. Answers the id of the service policy; `fields` are some of its own. */
  async openPolicies(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const all = { semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'], edgeRouterRoles: ['#all'] };
    await this.create('/edge-router-policies', { name: 'all', ...all });
    await this.create('/service-edge-router-policies', { name: 'all', ...all });
    return this.create('/service-policies', { name: 'dial', type: 'Dial', ...all, ...fields });
  }

  async close(): Promise<void> {
    await this.#agent.close();
    await this.simulator.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A path with a filter. */
export function filtered(path: string, filter: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}filter=${encodeURIComponent(filter)}`;
}

function granted(method: string, path: string, answer: Answered): Answered {
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer;
}

/** The certificate of a new authority, PEM. */
export function authorityPem(commonName: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const fields = {
    commonName,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    serial: randomBytes(8),
    notBefore: new Date(now - DAY),
    notAfter: new Date(now + DAY),
  };
  return issueAuthority(fields, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), undefined);
}
