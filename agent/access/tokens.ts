// Verifies tokens that controllers of the network signed, with the keys of the router data model: access tokens,
// service session tokens, and proofs of a one-time password (reference fact: edge, sections 1.2 and 5.1).

import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { describeError, ProjectError } from '#lib/errors.ts';
import { isNestedDeeper } from '#lib/json/json.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  type DataState_PublicKey,
  DataState_PublicKey_Format,
  DataState_PublicKey_Usage,
} from '#wire/gen/edge_control_pb.js';
import type { DataModel } from './data-model.ts';

/** Claim `z_t`. */
export const TokenKind = Object.freeze({ Access: 'a', Service: 's', Totp: 't' } as const);
export type TokenKind = (typeof TokenKind)[keyof typeof TokenKind];

/** An access token. Times in seconds. */
export interface AccessClaims extends JWTPayload {
  readonly sub: string;
  readonly exp: number;
  readonly z_asid: string;
}

/** The right to dial or bind a service. `sub` is the service id. */
export interface ServiceClaims extends JWTPayload {
  readonly sub: string;
  readonly z_asid: string;
  readonly z_st: 'Dial' | 'Bind';
}

/** Retriable if its key may still arrive with the data model. */
export class TokenError extends ProjectError {
  constructor(message: string, options: { cause?: unknown; retriable?: boolean } = {}) {
    super('TOKEN', message, options);
  }
}

export interface TokensComponents {
  clock: Clock;
  model: DataModel;
}

const AUDIENCES = ['openziti', 'native'];
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA'];
/** Characters. A token of the reference has fewer than two thousand. */
const MAX_TOKEN_LENGTH = 16_384;
/**
 * Seconds that a controller's clock may be ahead of this router's. Its tokens are valid from the time of their issue.
 */
const CLOCK_TOLERANCE = 60;

/** Loaded for the first token: a router without SDK clients does not need it. */
function jose(): Promise<typeof import('jose')> {
  return import('jose');
}

export class Tokens {
  readonly #components: TokensComponents;
  readonly #keys = new WeakMap<DataState_PublicKey, KeyObject>();

  constructor(components: TokensComponents) {
    this.#components = components;
  }

  /** @throws TokenError, also for an expired token */
  async access(token: string): Promise<AccessClaims> {
    const claims = await this.#verify(token, TokenKind.Access);
    if (typeof claims.exp !== 'number') throw new TokenError('the access token has no expiry time');
    return claims as AccessClaims;
  }

  /**
   * @throws TokenError
   * @param apiSessionId The session that must have requested the token.
   */
  async service(token: string, apiSessionId: string): Promise<ServiceClaims> {
    const claims = await this.#verify(token, TokenKind.Service);
    if (claims.z_asid !== apiSessionId) throw new TokenError('the service token belongs to another API session');
    if (claims.z_st !== 'Dial' && claims.z_st !== 'Bind')
      throw new TokenError(`the service token has type '${String(claims.z_st)}', expected Dial or Bind`);
    return claims as ServiceClaims;
  }

  /**
   * The time when the one-time password was entered, in milliseconds. A time in the future counts as now, as for
   * events: it would outlive its time limit. @throws TokenError
   */
  async totp(token: string, apiSessionId: string): Promise<number> {
    const claims = await this.#verify(token, TokenKind.Totp);
    if (claims.z_asid !== apiSessionId) throw new TokenError('the TOTP token belongs to another API session');
    if (typeof claims.iat !== 'number') throw new TokenError('the TOTP token has no issue time');
    return Math.min(claims.iat * 1000, this.#components.clock.now());
  }

  async #verify(token: string, kind: TokenKind): Promise<JWTPayload & { sub: string; z_asid: string }> {
    if (token.length > MAX_TOKEN_LENGTH) throw new TokenError(`the token is too long: ${token.length} characters`);
    const { jwtVerify } = await jose();
    const { clock } = this.#components;
    let payload: JWTPayload;
    try {
      const options = {
        algorithms: ALGORITHMS,
        audience: AUDIENCES,
        currentDate: new Date(clock.now()),
        clockTolerance: CLOCK_TOLERANCE,
      };
      ({ payload } = await jwtVerify(token, (header: { kid?: string }) => this.#key(header.kid), options));
      // The tolerance applies to the begin of the validity only.
      if (payload.exp !== undefined && payload.exp * 1000 <= clock.now()) throw new TokenError('it has expired');
    } catch (error) {
      const retriable = error instanceof TokenError && error.retriable;
      throw new TokenError(`the token is invalid: ${describeError(error)}`, { cause: error, retriable });
    }
    if (isNestedDeeper(payload)) throw new TokenError('the token is nested too deeply');
    if (payload.z_t !== kind) throw new TokenError(`the token has type '${String(payload.z_t)}', expected '${kind}'`);
    if (typeof payload.sub !== 'string' || typeof payload.z_asid !== 'string')
      throw new TokenError('the token has no subject or no API session');
    return payload as JWTPayload & { sub: string; z_asid: string };
  }

  #key(kid: string | undefined): KeyObject {
    const key = this.#components.model.publicKeys.get(kid ?? '');
    if (!key?.usages.includes(DataState_PublicKey_Usage.JWTVALIDATION))
      throw new TokenError(`unknown signing key ${kid ?? '(missing)'}: it belongs to no controller of the network`, {
        retriable: kid !== undefined,
      });
    const known = this.#keys.get(key);
    if (known) return known;
    const made = keyOf(key);
    this.#keys.set(key, made);
    return made;
  }
}

function keyOf({ data, format }: DataState_PublicKey): KeyObject {
  const bytes = Buffer.from(data);
  if (format === DataState_PublicKey_Format.X509_CERT_DER) return new X509Certificate(bytes).publicKey;
  return createPublicKey({ key: bytes, format: 'der', type: 'spki' });
}
