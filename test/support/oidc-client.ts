// A client of the OIDC API, as SDKs are: the code flow with PKCE, without a browser, then tokens for tokens.

import { createHash, randomBytes } from 'node:crypto';
import { type Agent, request } from 'undici';

const REDIRECT = 'http://localhost:8080/auth/callback';
const TYPE = 'urn:ietf:params:oauth:token-type:';

export interface OidcAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export class OidcClient {
  readonly #url: string;
  readonly #agent: Agent;

  constructor(baseUrl: string, agent: Agent) {
    this.#url = `${baseUrl}/oidc`;
    this.#agent = agent;
  }

  /** Logs in by password; answers what the token endpoint says. */
  async login(username: string, password: string): Promise<OidcAnswer> {
    const verifier = randomBytes(32).toString('base64url');
    const parameters = new URLSearchParams({
      client_id: 'native',
      response_type: 'code',
      scope: 'openid offline_access',
      redirect_uri: REDIRECT,
      state: 's',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const id = (await this.#follow(`/authorize?${parameters}`)).searchParams.get('authRequestID') ?? '';
    await request(`${this.#url}/login/password?id=${id}`, {
      method: 'POST',
      dispatcher: this.#agent,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const code = (await this.#follow(`/authorize/callback?id=${id}`)).searchParams.get('code') ?? '';
    return this.#token({
      grant_type: 'authorization_code',
      client_id: 'native',
      code,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    });
  }

  /** A token of another type for a token, with the name of the client where SDKs put it. */
  exchange(client: string, token: string, from: string, to: string): Promise<OidcAnswer> {
    const fields = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: TYPE + from,
      requested_token_type: TYPE + to,
    };
    return this.#token(fields, { authorization: `Basic ${Buffer.from(`${client}:`).toString('base64')}` });
  }

  async revoke(token: string): Promise<void> {
    await this.#post('/revoke', { client_id: 'native', token });
  }

  #token(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<OidcAnswer> {
    return this.#post('/oauth/token', fields, headers);
  }

  async #post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<OidcAnswer> {
    const { statusCode, body } = await request(this.#url + path, {
      method: 'POST',
      dispatcher: this.#agent,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(fields).toString(),
    });
    const text = await body.text();
    return { status: statusCode, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
  }

  /** Where a redirection leads. */
  async #follow(path: string): Promise<URL> {
    const { headers, body } = await request(this.#url + path, { dispatcher: this.#agent });
    await body.dump();
    return new URL(String(headers.location), this.#url);
  }
}
