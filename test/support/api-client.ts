// A simulator with a clock of the test's own, and clients of its APIs over the real port: administrators, people with passwords, devices with
// certificates. Everything goes when the test ends.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Agent, type Dispatcher, request } from 'undici';
import { VirtualClock } from '#lib/clock.ts';
import { createCsr } from '../../agent/identity/csr.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../controller-sim/simulator.ts';
import { type Authority, type Issued, issue } from './certificates.ts';

export const PASSWORD = 'a long secret';
const ADMIN = { username: 'admin', password: PASSWORD };

export interface AskOptions {
  /** Of an API session. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object becomes JSON; text is sent as it is. */
  readonly body?: unknown;
  readonly type?: string;
  /** Whose connection; one without a certificate when left out. */
  readonly as?: Agent;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Data = any;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly bytes: Buffer;
  readonly data: Data;
  /** Of an error. */
  readonly code: string | undefined;
  readonly cause: Data;
}

export class ApiClient {
  readonly simulator: Simulator;
  readonly clock: VirtualClock;
  readonly #agents: Agent[] = [];
  readonly #plain: Agent;
  #admin = '';

  /** Of a simulator that another owner closes. */
  constructor(simulator: Simulator, clock = new VirtualClock()) {
    this.simulator = simulator;
    this.clock = clock;
    this.#plain = this.connect();
  }

  /** The clock begins now: TLS clients look at the real one. */
  static async start(options: SimulatorOptions & { clock?: VirtualClock } = {}): Promise<ApiClient> {
    const { clock = new VirtualClock(Date.now()) } = options;
    const simulator = await startSimulator({ ...ADMIN, passwordCost: TEST_COST, ...options, clock });
    return new ApiClient(simulator, clock);
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await this.simulator.close();
  }

  /** A connection of its own for each request: a clock that jumps ends connections that wait for another. */
  connect(client?: Issued): Agent {
    const { ca } = this.simulator;
    const own = client && { cert: client.pem, key: client.key.export({ type: 'pkcs8', format: 'pem' }).toString() };
    const agent = new Agent({ connect: { ca, ...own }, pipelining: 0 });
    this.#agents.push(agent);
    return agent;
  }

  /** `path` is below the base of the client API, or begins with another base. */
  async ask(method: Dispatcher.HttpMethod, path: string, options: AskOptions = {}): Promise<ApiAnswer> {
    const { token, headers, body, type = 'application/json', as = this.#plain } = options;
    const base = /^\/(?:edge|oidc)\//.test(path) ? this.simulator.baseUrl : this.simulator.clientUrl;
    const response = await request(`${base}${path}`, {
      method,
      dispatcher: as,
      headers: {
        ...(body !== undefined && { 'content-type': type }),
        ...(token !== undefined && { 'zt-session': token }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const text = bytes.toString();
    const json = text.startsWith('{') ? JSON.parse(text) : {};
    const { code, cause } = json.error ?? {};
    return { status: response.statusCode, headers: response.headers, text, bytes, data: json.data, code, cause };
  }

  /** As an administrator in the management API. */
  async manage(method: Dispatcher.HttpMethod, path: string, body?: unknown, type?: string): Promise<ApiAnswer> {
    const send = () =>
      this.ask(method, `/edge/management/v1${path}`, {
        token: this.#admin,
        ...(body !== undefined && { body }),
        ...(type && { type }),
      });
    const answer = await send();
    if (answer.status !== 401) return answer;
    this.#admin = await this.login(ADMIN.username, ADMIN.password);
    return send();
  }

  /** Answers the id. */
  async create(collection: string, body: unknown): Promise<string> {
    const { status, data, text } = await this.manage('POST', `/${collection}`, body);
    if (status !== 201) throw new Error(`${collection}: ${status} ${text}`);
    return data.id;
  }

  /** An identity with the password of all tests. Answers its id. */
  async person(name: string, fields: object = {}): Promise<string> {
    const identityId = await this.create('identities', { name, type: 'User', isAdmin: false, ...fields });
    await this.create('authenticators', { identityId, method: 'updb', username: name, password: PASSWORD });
    return identityId;
  }

  /** An identity that has enrolled for a certificate of the network. */
  async device(name: string, fields: object = {}): Promise<Issued & { readonly identityId: string }> {
    const body = { name, type: 'Device', isAdmin: false, enrollment: { ott: true }, ...fields };
    const identityId = await this.create('identities', body);
    const { key, csr } = newRequest(name);
    const { data } = await this.manage('GET', `/identities/${identityId}`);
    const path = `/enroll?method=ott&token=${data.enrollment.ott.token}`;
    const { status, text } = await this.ask('POST', path, { body: csr, type: 'application/x-pem-file' });
    if (status !== 200) throw new Error(`enrollment of ${name}: ${status} ${text}`);
    return { identityId, pem: text, key };
  }

  /** Another authority that may do everything, verified unless told otherwise. Answers its id. */
  async addAuthority(name: string, authority: Authority, fields: object = {}, isVerified = true): Promise<string> {
    const flags = { isAuthEnabled: true, isAutoCaEnrollmentEnabled: true, isOttCaEnrollmentEnabled: true };
    const certPem = authority.certificate.toString('pem');
    const id = await this.create('cas', { name, certPem, identityRoles: [], ...flags, ...fields });
    if (isVerified) {
      const { status, text } = await this.verifyAuthority(id, authority);
      if (status !== 200) throw new Error(`verification of ${name}: ${status} ${text}`);
    }
    return id;
  }

  async verifyAuthority(id: string, authority: Authority): Promise<ApiAnswer> {
    const { data } = await this.manage('GET', `/cas/${id}`);
    const { pem } = await issue(authority, data.verificationToken);
    return this.manage('POST', `/cas/${id}/verify`, pem, 'text/plain');
  }

  /** An auth policy that differs from the most liberal one by these leaves. */
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
    return this.create('auth-policies', {
      name,
      primary: {
        cert: { allowed: true, allowExpiredCerts: true, ...different.cert },
        extJwt: { allowed: true, allowedSigners: [], ...different.extJwt },
        updb: { ...updb, ...different.updb },
      },
      secondary: { requireTotp: false, ...different.secondary },
    });
  }

  tryLogin(username: string, password = PASSWORD, path = '/authenticate'): Promise<ApiAnswer> {
    return this.ask('POST', `${path}?method=password`, { body: { username, password } });
  }

  /** Answers the token. Throws for a login that is refused. */
  async login(username: string, password = PASSWORD): Promise<string> {
    const { status, data, text } = await this.tryLogin(username, password);
    if (status !== 200) throw new Error(`login of ${username}: ${status} ${text}`);
    return data.token;
  }

  /** Whether a session counts. */
  async isOpen(token: string): Promise<boolean> {
    const { status } = await this.ask('GET', '/current-api-session', { token });
    if (status !== 200 && status !== 401) throw new Error(`current API session: ${status}`);
    return status === 200;
  }

  loginWith(as: Agent, method = 'cert'): Promise<ApiAnswer> {
    return this.ask('POST', `/authenticate?method=${method}`, { body: {}, as });
  }
}

/** A certificate request and its key. */
export function newRequest(name: string): { key: KeyObject; csr: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key: privateKey, csr: createCsr(name, { sans: { dns: [], ip: [], uri: [], email: [] } }, privateKey) };
}
