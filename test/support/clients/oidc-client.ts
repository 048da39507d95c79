// A client of the OIDC API, like an SDK: the code flow with PKCE, without a browser, then token exchanges.

import type { HttpClient } from '#http/http-client.ts';
import type { ApiClient } from './api-client.ts';
import { codeFlow } from './code-flow.ts';

const TYPE = 'urn:ietf:params:oauth:token-type:';

export interface OidcAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export class OidcClient {
  readonly #as: HttpClient | undefined;
  readonly #at: (step: number) => ApiClient;
  #steps = 0;

  /** `as` is a connection with a certificate; `at` chooses the controller for each request, as a load balancer does. */
  constructor(api: ApiClient, as?: HttpClient, at: (step: number) => ApiClient = () => api) {
    this.#as = as;
    this.#at = at;
  }

  /** Logs in with a password and exchanges the code for tokens. `fields` are added to the login. */
  async login(username: string, password: string, fields: object = {}): Promise<OidcAnswer> {
    return this.redeem(await this.code(username, password, fields));
  }

  /** Logs in with a password. @returns the code, and the other fields for the token endpoint */
  async code(username: string, password: string, fields: object = {}): Promise<Record<string, string>> {
    const { parameters, redemption } = codeFlow();
    const id = (await this.#follow(`/authorize?${parameters}`)).searchParams.get('authRequestID') ?? '';
    await this.#next.ask('POST', `/oidc/login/password?id=${id}`, { body: { username, password, ...fields } });
    const code = (await this.#follow(`/authorize/callback?id=${id}`)).searchParams.get('code') ?? '';
    return redemption(code);
  }

  /** Sends a request to the token endpoint. */
  redeem(fields: Record<string, string>): Promise<OidcAnswer> {
    return this.#token(fields);
  }

  /** Exchanges a token for another type, with the client id in the header that SDKs use. */
  exchange(client: string, token: string, from: string, to: string): Promise<OidcAnswer> {
    const fields = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: TYPE + from,
      requested_token_type: TYPE + to,
    };
    return this.#token(fields, { authorization: `Basic ${Buffer.from(`${client}:`).toString('base64')}` });
  }

  refresh(token: string, fields: Record<string, string> = {}): Promise<OidcAnswer> {
    return this.#token({ grant_type: 'refresh_token', client_id: 'native', refresh_token: token, ...fields });
  }

  async revoke(token: string): Promise<void> {
    await this.#post('/revoke', { client_id: 'native', token });
  }

  get #next(): ApiClient {
    return this.#at(this.#steps++);
  }

  #token(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<OidcAnswer> {
    return this.#post('/oauth/token', fields, headers);
  }

  async #post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<OidcAnswer> {
    const type = 'application/x-www-form-urlencoded';
    const body = new URLSearchParams(fields).toString();
    const as = this.#as && { as: this.#as };
    const { status, text } = await this.#next.ask('POST', `/oidc${path}`, { type, headers, body, ...as });
    return { status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
  }

  /** The target of a redirect. */
  async #follow(path: string): Promise<URL> {
    const api = this.#next;
    const { headers } = await api.ask('GET', `/oidc${path}`);
    return new URL(String(headers.location), api.simulator.baseUrl);
  }
}
