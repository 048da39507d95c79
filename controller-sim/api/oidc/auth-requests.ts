// Logins that are under way: what a client asked for, what its user has shown, and the codes that tokens are given for. In memory, for
// ten minutes at most.

import type { Clock } from '#lib/clock.ts';
import type { IdSource } from '#lib/ids.ts';
import type { Proven } from '../../auth/authenticate.ts';
import type { ExternalJwtSigner } from '../../state/types.ts';

export interface AuthRequest {
  readonly id: string;
  readonly createdAt: number;
  readonly apiSessionId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string | undefined;
  readonly nonce: string | undefined;
  readonly codeChallenge: string;
  readonly remoteAddress: string;
  /** Ids, or `all`. */
  configTypes: readonly string[];
  /** What has been shown so far: password, cert, ext-jwt, totp, `ejs:ID`. */
  readonly amr: Set<string>;
  proven: Proven | undefined;
  authTime: number;
  needsTotp: boolean;
  requiredSigner: ExternalJwtSigner | undefined;
  fingerprints: readonly string[];
  envInfo: Readonly<Record<string, string>> | undefined;
  sdkInfo: Readonly<Record<string, string>> | undefined;
  /** For a certificate that is bound to the session. */
  csrPem: string | undefined;
}

/** reference fact: a login that takes longer has been given up. */
const LIFETIME = 600_000;
const MOST = 10_000;

export class AuthRequests {
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #requests = new Map<string, AuthRequest>();
  /** Code to id of the request. */
  readonly #codes = new Map<string, string>();

  constructor(clock: Clock, ids: IdSource) {
    this.#clock = clock;
    this.#ids = ids;
  }

  add(
    asked: Pick<
      AuthRequest,
      'clientId' | 'redirectUri' | 'scope' | 'state' | 'nonce' | 'codeChallenge' | 'remoteAddress' | 'configTypes'
    >,
  ): AuthRequest {
    this.#clean();
    const request: AuthRequest = {
      ...asked,
      id: this.#ids.uuid(),
      createdAt: this.#clock.now(),
      apiSessionId: this.#ids.uuid(),
      amr: new Set(),
      proven: undefined,
      authTime: 0,
      needsTotp: false,
      requiredSigner: undefined,
      fingerprints: [],
      envInfo: undefined,
      sdkInfo: undefined,
      csrPem: undefined,
    };
    this.#requests.set(request.id, request);
    return request;
  }

  get(id: string): AuthRequest | undefined {
    const request = this.#requests.get(id);
    return request && this.#clock.now() - request.createdAt <= LIFETIME ? request : undefined;
  }

  /** A code for which tokens are given once. */
  codeFor({ id }: AuthRequest): string {
    const code = this.#ids.secret();
    this.#codes.set(code, id);
    return code;
  }

  /** The request of a code, which stays valid. */
  peek(code: string): AuthRequest | undefined {
    const id = this.#codes.get(code);
    return id === undefined ? undefined : this.get(id);
  }

  /** Uses a code and its request up. @returns false if another caller was faster */
  take(code: string): boolean {
    const id = this.#codes.get(code);
    this.#codes.delete(code);
    return id !== undefined && this.#requests.delete(id);
  }

  /** What has been given up goes; when there are too many still, the oldest. */
  #clean(): void {
    for (const [id, { createdAt }] of this.#requests) {
      if (this.#clock.now() - createdAt <= LIFETIME && this.#requests.size < MOST) break;
      this.#requests.delete(id);
    }
    if (this.#codes.size < MOST) return;
    for (const [code, id] of this.#codes) if (!this.#requests.has(id)) this.#codes.delete(code);
  }
}

/** Everything that the auth policy wants has been shown. */
export function isComplete({ proven, needsTotp, requiredSigner, amr }: AuthRequest): boolean {
  const hasToken = requiredSigner === undefined || amr.has(`ejs:${requiredSigner.id}`);
  return proven !== undefined && (!needsTotp || amr.has('totp')) && hasToken;
}
