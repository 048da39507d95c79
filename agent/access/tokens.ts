// Tokens that the controllers of the network signed, verified with the keys of the router data model: access tokens, tokens of service
// sessions, and proofs of a one-time password (reference fact: edge, sections 1.2 and 5.1).

import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { Clock } from '#lib/clock.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import { isNestedDeeper } from '#lib/json.ts';
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

/** The right to dial or bind a service. `sub` is the id of the service. */
export interface ServiceClaims extends JWTPayload {
  readonly sub: string;
  readonly z_asid: string;
  readonly z_st: 'Dial' | 'Bind';
}

export class TokenError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('TOKEN', message, options);
  }
}

export interface TokensComponents {
  clock: Clock;
  model: DataModel;
}

const AUDIENCES = ['openziti', 'native'];
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA'];
/** Characters. A token of the reference has less than two thousand. */
const LONGEST_TOKEN = 16_384;

/** Loaded with the first token: a router without SDK clients needs none of it. */
function jose(): Promise<typeof import('jose')> {
  return import('jose');
}

/** Tokens and the random texts of legacy sessions differ in how they begin. */
export function isSignedToken(token: string): boolean {
  return token.startsWith('ey');
}

export class Tokens {
  readonly #components: TokensComponents;
  readonly #keys = new WeakMap<DataState_PublicKey, KeyObject>();

  constructor(components: TokensComponents) {
    this.#components = components;
  }

  /** Throws TokenError, also for an expired token. */
  async access(token: string): Promise<AccessClaims> {
    const claims = await this.#verify(token, TokenKind.Access);
    if (typeof claims.exp !== 'number') throw new TokenError('the access token has no time of expiry');
    return claims as AccessClaims;
  }

  /** Throws TokenError. `apiSessionId` is the session that must have asked for it. */
  async service(token: string, apiSessionId: string): Promise<ServiceClaims> {
    const claims = await this.#verify(token, TokenKind.Service);
    if (claims.z_asid !== apiSessionId) throw new TokenError('the service token belongs to another API session');
    if (claims.z_st !== 'Dial' && claims.z_st !== 'Bind')
      throw new TokenError(`the service token is for '${String(claims.z_st)}', neither Dial nor Bind`);
    return claims as ServiceClaims;
  }

  /** When a one-time password was given, in milliseconds. Throws TokenError. */
  async totp(token: string, apiSessionId: string): Promise<number> {
    const claims = await this.#verify(token, TokenKind.Totp);
    if (claims.z_asid !== apiSessionId) throw new TokenError('the TOTP token belongs to another API session');
    if (typeof claims.iat !== 'number') throw new TokenError('the TOTP token does not say when it was issued');
    return claims.iat * 1000;
  }

  async #verify(token: string, kind: TokenKind): Promise<JWTPayload & { sub: string; z_asid: string }> {
    if (token.length > LONGEST_TOKEN) throw new TokenError(`the token has ${token.length} characters`);
    const { jwtVerify } = await jose();
    const { clock } = this.#components;
    let payload: JWTPayload;
    try {
      const options = { algorithms: ALGORITHMS, audience: AUDIENCES, currentDate: new Date(clock.now()) };
      ({ payload } = await jwtVerify(token, (header: { kid?: string }) => this.#key(header.kid), options));
    } catch (error) {
      throw new TokenError(`the token is not valid: ${describeError(error)}`, { cause: error });
    }
    if (isNestedDeeper(payload)) throw new TokenError('the token is nested too deeply');
    if (payload.z_t !== kind) throw new TokenError(`the token has type '${String(payload.z_t)}', expected '${kind}'`);
    if (typeof payload.sub !== 'string' || typeof payload.z_asid !== 'string')
      throw new TokenError('the token names no subject or no API session');
    return payload as JWTPayload & { sub: string; z_asid: string };
  }

  #key(kid: string | undefined): KeyObject {
    const key = this.#components.model.publicKeys.get(kid ?? '');
    if (!key?.usages.includes(DataState_PublicKey_Usage.JWTVALIDATION))
      throw new TokenError(`no controller of the network signs tokens with the key ${kid ?? '(none named)'}`);
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
