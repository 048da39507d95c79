// A client subject to posture checks: one dial policy grants its service and demands the checks.

import { Secret, TOTP } from 'otpauth';
import type { VirtualClock } from '#lib/time/clock.ts';
import { ApiClient } from './api-client.ts';

export type Fields = Readonly<Record<string, unknown>>;

interface Query {
  readonly id: string;
  readonly queryType: string;
  readonly isPassing: boolean;
  readonly timeout: number;
  readonly timeoutRemaining: number;
}

interface Group {
  readonly policyId: string;
  readonly policyType: string;
  readonly isPassing: boolean;
  readonly postureQueries: readonly Query[];
}

/** The period of one-time passwords, in milliseconds. */
const STEP = 30_000;

export class PostureClient {
  readonly api: ApiClient;
  readonly clock: VirtualClock;
  readonly service: string;
  readonly policy: string;
  id = '';
  token = '';
  #secret = '';
  /** The time of the last code. */
  #step = 0;

  private constructor(api: ApiClient, service: string, policy: string) {
    this.api = api;
    this.clock = api.clock;
    this.service = service;
    this.policy = policy;
  }

  /** `roles` of the policy may select checks that are created later. */
  static async start(roles: readonly string[], semantic = 'AnyOf'): Promise<PostureClient> {
    const api = await ApiClient.start({ sessionLifetime: 1e9 });
    await api.create('/edge-routers', { name: 'router' });
    const service = await api.create('/services', { name: 'service', encryptionRequired: true });
    const policy = await api.openPolicies({ semantic, postureCheckRoles: roles });
    const client = new PostureClient(api, service, policy);
    client.id = await api.person('user');
    client.token = await api.login('user');
    return client;
  }

  ask(method: string, path: string, body?: unknown) {
    return this.api.ask(method, path, { body, token: this.token });
  }

  dial(type = 'Dial') {
    return this.ask('POST', '/sessions', { serviceId: this.service, type });
  }

  /** Returns the id of a session; throws if the request is rejected. */
  async dialed(): Promise<string> {
    return this.api.create('/sessions', { serviceId: this.service, type: 'Dial' }, this.token);
  }

  async isOpen(session: string): Promise<boolean> {
    return (await this.ask('GET', `/sessions/${session}`)).status === 200;
  }

  async groups(): Promise<readonly Group[]> {
    const service = await this.api.get<{ postureQueries: Group[] }>(`/services/${this.service}`, this.token);
    return service.postureQueries;
  }

  async enrollMfa(): Promise<void> {
    await this.api.create('/current-identity/mfa', {}, this.token);
    const { provisioningUrl } = await this.api.get('/current-identity/mfa', this.token);
    this.#secret = new URL(provisioningUrl).searchParams.get('secret') ?? '';
    await this.pass('/current-identity/mfa/verify');
  }

  /** An unused code. Each can be used once, and the code of the next step is already accepted. */
  code(): string {
    this.#step = Math.max(Math.floor(this.clock.now() / STEP), this.#step + 1);
    return new TOTP({ secret: Secret.fromBase32(this.#secret) }).generate({ timestamp: this.#step * STEP });
  }

  async pass(path = '/authenticate/mfa'): Promise<void> {
    await this.api.change('POST', path, { code: this.code() }, this.token);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api.close();
  }
}
