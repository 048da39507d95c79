// Logins in progress: the client's request, the user's proofs so far, and the codes that are exchanged for tokens. They
// stay in memory, for ten minutes at most. In a cluster their ids name the controller that has them: others fetch them
// for a request. Anyone may begin a login, so count and bytes are limited, in total and for each source. The oldest
// request without a proof is evicted first: a flood cannot end a login that a user has begun.

import type { IdSource } from '#lib/ids.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Proven } from '../../auth/login-attempt.ts';
import type { ExternalJwtSigner } from '../../state/kinds/external-jwt-signer.ts';

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
  /** The proofs so far: password, cert, ext-jwt, totp, `ejs:ID`. */
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

type NewRequest = Pick<
  AuthRequest,
  'clientId' | 'redirectUri' | 'scope' | 'state' | 'nonce' | 'codeChallenge' | 'remoteAddress' | 'configTypes'
>;

/** A request as other controllers get it: plain data. */
export interface HandedOverRequest extends Omit<AuthRequest, 'amr'> {
  readonly amr: readonly string[];
  readonly code: string | undefined;
}

/** A request, its weight in bytes, and the code that its client received. */
interface PendingLogin {
  readonly request: AuthRequest;
  readonly source: string;
  bytes: number;
  code: string | undefined;
}

/** The requests of one source, oldest first. */
interface Share {
  readonly ids: Set<string>;
  bytes: number;
}

/** Milliseconds until a login expires, as in the reference. */
const LIFETIME = 600_000;
/** Requests and bytes of all sources. More users than this do not log in at the same time. */
const MAX_REQUESTS = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Requests and bytes of one source, which may be a whole company behind one address. */
const MAX_OF_SOURCE = 1_000;
const MAX_BYTES_OF_SOURCE = 8 * 1024 * 1024;
/** Bytes of a request beside its texts. */
const OVERHEAD = 1_024;

export class AuthRequests {
  readonly #clock: Clock;
  readonly #ids: IdSource;
  /** Ends the ids of requests and codes; empty without other controllers. */
  readonly #suffix: string;
  /** By id, oldest first. */
  readonly #requests = new Map<string, PendingLogin>();
  readonly #shares = new Map<string, Share>();
  /** Code to id of the request. */
  readonly #codes = new Map<string, string>();
  #bytes = 0;

  /** `home` is the id of this controller in a cluster. */
  constructor(clock: Clock, ids: IdSource, home?: string) {
    this.#clock = clock;
    this.#ids = ids;
    this.#suffix = home === undefined ? '' : `.${home}`;
  }

  add(given: NewRequest): AuthRequest {
    const request: AuthRequest = {
      ...given,
      id: `${this.#ids.uuid()}${this.#suffix}`,
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
    this.#keep(request, undefined);
    return request;
  }

  /** Whether it has the login with this id or code. */
  has(idOrCode: string): boolean {
    return this.#requests.has(this.#codes.get(idOrCode) ?? idOrCode);
  }

  /** Removes a login that another controller goes on with. Undefined for an unknown id or code. */
  handOver(idOrCode: string): HandedOverRequest | undefined {
    const kept = this.#requests.get(this.#codes.get(idOrCode) ?? idOrCode);
    if (!kept) return undefined;
    this.#remove(kept.request.id);
    return { ...kept.request, amr: [...kept.request.amr], code: kept.code };
  }

  /** Adds a login that another controller had. */
  takeOver({ code, amr, ...request }: HandedOverRequest): AuthRequest {
    const accepted: AuthRequest = { ...request, amr: new Set(amr) };
    this.#keep(accepted, code);
    return accepted;
  }

  #keep(request: AuthRequest, code: string | undefined): void {
    const kept: PendingLogin = { request, source: sourceOf(request.remoteAddress), bytes: 0, code };
    const share = this.#shares.get(kept.source) ?? { ids: new Set(), bytes: 0 };
    this.#shares.set(kept.source, share);
    share.ids.add(request.id);
    this.#requests.set(request.id, kept);
    if (code !== undefined) this.#codes.set(code, request.id);
    this.#weigh(kept);
  }

  get(id: string): AuthRequest | undefined {
    const request = this.#requests.get(id)?.request;
    return request && this.#clock.now() - request.createdAt <= LIFETIME ? request : undefined;
  }

  /** Callers call it after adding texts to a request. */
  changed({ id }: AuthRequest): void {
    const kept = this.#requests.get(id);
    if (kept) this.#weigh(kept);
  }

  /** A code that can be exchanged for tokens once. It replaces the request's previous code. */
  codeFor({ id }: AuthRequest): string {
    const kept = this.#requests.get(id);
    const home = homeOf(id);
    const code = `${this.#ids.secret()}${home === undefined ? '' : `.${home}`}`;
    if (!kept) return code;
    if (kept.code !== undefined) this.#codes.delete(kept.code);
    kept.code = code;
    this.#codes.set(code, id);
    return code;
  }

  /** The request of a code, which remains valid. */
  peek(code: string): AuthRequest | undefined {
    const id = this.#codes.get(code);
    return id === undefined ? undefined : this.get(id);
  }

  /** Removes a code and its request. @returns false if the code was used before */
  consume(code: string): boolean {
    const id = this.#codes.get(code);
    if (id === undefined || !this.#requests.has(id)) return false;
    this.#remove(id);
    return true;
  }

  #weigh(kept: PendingLogin): void {
    const bytes = weightOf(kept.request);
    const share = this.#shares.get(kept.source);
    if (share) share.bytes += bytes - kept.bytes;
    this.#bytes += bytes - kept.bytes;
    kept.bytes = bytes;
    this.#clean(kept);
  }

  /** Removes expired requests, then evicts until the limits hold. `newest` is never evicted. */
  #clean(newest: PendingLogin): void {
    for (const [id, { request }] of this.#requests) {
      if (this.#clock.now() - request.createdAt <= LIFETIME) break;
      this.#remove(id);
    }
    const { source, request } = newest;
    const own = this.#shares.get(source);
    while (own && own.ids.size > 1 && (own.ids.size > MAX_OF_SOURCE || own.bytes > MAX_BYTES_OF_SOURCE))
      this.#evict(own.ids, request.id);
    while (this.#requests.size > 1 && (this.#requests.size > MAX_REQUESTS || this.#bytes > MAX_BYTES))
      this.#evict(this.#largestShare()?.ids ?? this.#requests.keys(), request.id);
  }

  /** The largest share that contains a request without a proof. */
  #largestShare(): Share | undefined {
    let largest: Share | undefined;
    for (const share of this.#shares.values()) {
      if (largest && share.bytes <= largest.bytes) continue;
      if (share.ids.values().some((id) => this.#isUnproven(id))) largest = share;
    }
    return largest;
  }

  /** Removes the oldest of these requests without a proof, else the oldest. */
  #evict(ids: Iterable<string>, newest: string): void {
    let oldest: string | undefined;
    for (const id of ids) {
      if (id === newest) continue;
      oldest ??= id;
      if (!this.#isUnproven(id)) continue;
      this.#remove(id);
      return;
    }
    if (oldest !== undefined) this.#remove(oldest);
  }

  #isUnproven(id: string): boolean {
    return this.#requests.get(id)?.request.proven === undefined;
  }

  #remove(id: string): void {
    const kept = this.#requests.get(id);
    if (!kept) return;
    this.#requests.delete(id);
    if (kept.code !== undefined) this.#codes.delete(kept.code);
    this.#bytes -= kept.bytes;
    const share = this.#shares.get(kept.source);
    if (!share) return;
    share.ids.delete(id);
    share.bytes -= kept.bytes;
    if (share.ids.size === 0) this.#shares.delete(kept.source);
  }
}

/** The controller that has the login with this id or code; undefined if it names none. */
export function homeOf(idOrCode: string): string | undefined {
  const dot = idOrCode.indexOf('.');
  return dot < 0 ? undefined : idOrCode.slice(dot + 1);
}

/** Whether all required proofs were given. */
export function isComplete({ proven, needsTotp, requiredSigner, amr }: AuthRequest): boolean {
  const hasToken = requiredSigner === undefined || amr.has(`ejs:${requiredSigner.id}`);
  return proven !== undefined && (!needsTotp || amr.has('totp')) && hasToken;
}

/** Approximate bytes: two for each character. */
function weightOf(request: AuthRequest): number {
  const { redirectUri, scope, state = '', nonce = '', configTypes, envInfo, sdkInfo, csrPem = '' } = request;
  const facts = JSON.stringify([configTypes, envInfo ?? {}, sdkInfo ?? {}]);
  const texts = [redirectUri, scope, state, nonce, csrPem, facts];
  return OVERHEAD + 2 * texts.reduce((length, text) => length + text.length, 0);
}
