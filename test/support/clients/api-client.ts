// A simulator with a virtual clock, and clients of its APIs over the real port: the administrator, users with
// passwords, devices with certificates, anonymous clients. Rejections are answers, too. Everything is closed when the
// test ends.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { HttpClient } from '#http/http-client.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { createCsr } from '../../../agent/identity/csr.ts';
import { type SimulatorOptions, startSimulator } from '../../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../../controller-sim/auth/passwords.ts';
import { type ApiAnswer as Answer, ApiCaller } from '../../../controller-sim/client/api-caller.ts';
import type { Simulator } from '../../../controller-sim/interface/simulator.ts';
import { atItsPort } from '../networks/fixed-ports.ts';
import { type Authority, type Issued, issue } from './certificates.ts';
import { certificateOf, httpClient } from './http.ts';

/** The password of every user. */
export const PASSWORD = 'a long secret';
export const JSON_TYPE = 'application/json';
/**
 * Other paths are relative to the base of the management API for the administrator, and of the client API for everyone
 * else.
 */
const WITH_BASE = /^\/(?:edge|fabric|lab|oidc|zac|assets)(?:\/|$)/;

export interface AskOptions {
  /** An API session token. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, text as it is. */
  readonly body?: unknown;
  /** Content type of the body, by default JSON; '' sends none. Without a body it is sent only if given. */
  readonly type?: string;
  /** The client's connections; by default those without a certificate. */
  readonly as?: HttpClient;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;

export interface ApiAnswer extends Answer {
  readonly data: Data;
  readonly meta: Data;
  /** The code of an error. */
  readonly code: string | undefined;
  readonly cause: Data;
}

export class ApiClient {
  readonly simulator: Simulator;
  readonly clock: VirtualClock;
  readonly #caller: ApiCaller;
  readonly #clients: HttpClient[] = [];
  /**
   * Connections without a certificate. They are used only at one moment of the clock: a clock that jumps closes idle
   * connections.
   */
  #plain: { readonly client: HttpClient; readonly moment: number } | undefined;
  #isOwner = false;

  /** Uses a simulator that its owner closes. */
  constructor(simulator: Simulator, clock = new VirtualClock()) {
    this.simulator = simulator;
    this.clock = clock;
    const { baseUrl, ca } = simulator;
    const login = () => this.login(this.simulator.username, this.simulator.password);
    this.#caller = new ApiCaller({ baseUrl, trust: { ca }, login });
  }

  /** The administrator's session: opened on demand, and again after it has ended. */
  get token(): string {
    return this.#caller.session ?? '';
  }

  set token(token: string) {
    this.#caller.session = token;
  }

  /** The clock starts at the current time, because TLS clients use the real time. */
  static async start(options: SimulatorOptions & { clock?: VirtualClock } = {}): Promise<ApiClient> {
    const { clock = new VirtualClock(Date.now()) } = options;
    const started = { password: PASSWORD, passwordCost: TEST_COST, ...options, clock };
    const simulator = await startSimulator(await atItsPort(started));
    const api = new ApiClient(simulator, clock);
    api.#isOwner = true;
    return api;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients, this.#plain?.client].map((client) => client?.close()));
    if (this.#isOwner) await this.simulator.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Opens a connection for each request, because a clock that jumps closes idle ones; with `pipelining` 1 connections
   * are reused.
   */
  connect(issued?: Issued, pipelining = 0): HttpClient {
    const client = httpClient({ ca: this.simulator.ca, ...(issued && certificateOf(issued)) }, { pipelining });
    this.#clients.push(client);
    return client;
  }

  #plainClient(): HttpClient {
    const moment = this.clock.monotonic();
    if (this.#plain?.moment !== moment) {
      if (this.#plain) this.#clients.push(this.#plain.client);
      this.#plain = { client: httpClient({ ca: this.simulator.ca }), moment };
    }
    return this.#plain.client;
  }

  /** Sends a request of the client in the options, to the client API. */
  async ask(method: string, path: string, options: AskOptions = {}): Promise<ApiAnswer> {
    const { token, as = this.#plainClient(), ...call } = options;
    const full = WITH_BASE.test(path) ? path : `/edge/client/v1${path}`;
    return read(await this.#caller.send({ method, path: full, over: as, ...call }, token));
  }

  /**
   * Sends a request of the administrator, to the management API. It has a content type even without a body, as from
   * some clients.
   */
  async manage(method: string, path: string, body?: unknown, type = JSON_TYPE): Promise<ApiAnswer> {
    const full = WITH_BASE.test(path) ? path : `/edge/management/v1${path}`;
    return read(await this.#caller.ask({ method, path: full, body, type, over: this.#plainClient() }));
  }

  /**
   * Sends a GET of the administrator or the token's owner. This method and the next ones throw if the request is
   * rejected.
   */
  async get<T = Data>(path: string, token?: string): Promise<T> {
    return this.#demand('GET', path, undefined, token);
  }

  /** The names in a list, in its order. */
  async names(path: string, token?: string): Promise<string[]> {
    return (await this.get<{ name: string }[]>(path, token)).map(({ name }) => name);
  }

  /** Returns the id of the new entity. */
  async create(path: string, body: unknown, token?: string): Promise<string> {
    return (await this.#demand('POST', path, body, token)).id;
  }

  /** Sends PUT, PATCH, DELETE and similar requests. */
  async change(method: string, path: string, body?: unknown, token?: string): Promise<void> {
    await this.#demand(method, path, body, token);
  }

  async #demand(method: string, path: string, body: unknown, token: string | undefined): Promise<Data> {
    const request = token === undefined ? this.manage(method, path, body) : this.ask(method, path, { body, token });
    return granted(`${method} ${path}`, await request).data;
  }

  /** Adds an identity with the common password. Returns its id. */
  async person(name: string, fields: object = {}): Promise<string> {
    const identityId = await this.create('/identities', { name, type: 'User', isAdmin: false, ...fields });
    await this.create('/authenticators', { identityId, method: 'updb', username: name, password: PASSWORD });
    return identityId;
  }

  /** Adds an identity and enrolls it for a certificate of the network. */
  async device(name: string, fields: object = {}): Promise<Issued & { readonly identityId: string }> {
    const body = { name, type: 'Device', isAdmin: false, enrollment: { ott: true }, ...fields };
    const identityId = await this.create('/identities', body);
    const { key, csr } = newRequest(name);
    const { enrollment } = await this.get(`/identities/${identityId}`);
    const path = `/enroll?method=ott&token=${enrollment.ott.token}`;
    const answer = await this.ask('POST', path, { body: csr, type: 'application/x-pem-file' });
    return { identityId, pem: granted(`enrollment of ${name}`, answer).data.cert, key };
  }

  /** Adds a third-party authority with all rights, verified by default. Returns its id. */
  async addAuthority(name: string, authority: Authority, fields: object = {}, isVerified = true): Promise<string> {
    const flags = { isAuthEnabled: true, isAutoCaEnrollmentEnabled: true, isOttCaEnrollmentEnabled: true };
    const certPem = authority.certificate.toString('pem');
    const id = await this.create('/cas', { name, certPem, identityRoles: [], ...flags, ...fields });
    if (isVerified) granted(`verification of ${name}`, await this.verifyAuthority(id, authority));
    return id;
  }

  async verifyAuthority(id: string, authority: Authority): Promise<ApiAnswer> {
    const { pem } = await issue(authority, (await this.get(`/cas/${id}`)).verificationToken);
    return this.manage('POST', `/cas/${id}/verify`, pem, 'text/plain');
  }

  /** Adds an auth policy that differs from the most permissive one in these fields. */
  authPolicy(name: string, different: { cert?: object; extJwt?: object; updb?: object; secondary?: object }) {
    const updb = {
      allowed: true,
      minPasswordLength: 5,
      maxAttempts: 0,
      lockoutDurationMinutes: 0,
      requireMixedCase: false,
      requireNumberChar: false,
      requireSpecialChar: false,
    };
    return this.create('/auth-policies', {
      name,
      primary: {
        cert: { allowed: true, allowExpiredCerts: true, ...different.cert },
        extJwt: { allowed: true, allowedSigners: [], ...different.extJwt },
        updb: { ...updb, ...different.updb },
      },
      secondary: { requireTotp: false, ...different.secondary },
    });
  }

  /**
   * Every identity may dial every service over every router. Returns the id of the service policy; `fields` are added
   * to it.
   */
  async openPolicies(fields: object = {}): Promise<string> {
    const all = { semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'], edgeRouterRoles: ['#all'] };
    await this.create('/edge-router-policies', { name: 'all', ...all });
    await this.create('/service-edge-router-policies', { name: 'all', ...all });
    return this.create('/service-policies', { name: 'dial', type: 'Dial', ...all, ...fields });
  }

  /** Returns the token of the session. */
  async login(username: string, password?: string): Promise<string> {
    return granted(`login of ${username}`, await this.tryLogin(username, password)).data.token;
  }

  /** This method and the next ones return rejections. */
  tryLogin(username: string, password = PASSWORD, path = '/authenticate'): Promise<ApiAnswer> {
    return this.ask('POST', `${path}?method=password`, { body: { username, password } });
  }

  loginWith(as: HttpClient): Promise<ApiAnswer> {
    return this.ask('POST', '/authenticate?method=cert', { body: {}, as });
  }

  /** Whether a session is valid. */
  async isOpen(token: string): Promise<boolean> {
    const { status } = await this.ask('GET', '/current-api-session', { token });
    if (status !== 200 && status !== 401) throw new Error(`current API session: ${status}`);
    return status === 200;
  }
}

function read(answer: Answer): ApiAnswer {
  const { data, meta, error } = answer.text.startsWith('{') ? JSON.parse(answer.text) : ({} as Data);
  const { code, cause } = error ?? {};
  return { ...answer, data, meta, code, cause };
}

function granted(what: string, answer: ApiAnswer): ApiAnswer {
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text}`);
  return answer;
}

/** A path with a filter. */
export function filtered(path: string, filter: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}filter=${encodeURIComponent(filter)}`;
}

/** A certificate request and its key. */
export function newRequest(name: string): { key: KeyObject; csr: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key: privateKey, csr: createCsr(name, { sans: { dns: [], ip: [], uri: [], email: [] } }, privateKey) };
}
