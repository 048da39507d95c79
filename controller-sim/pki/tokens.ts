// The tokens that the controller signs: for enrollment, for the network, and for sessions of services, which routers verify with the
// key of the data model (reference facts: HTTP behaviour, Enrollment; edge, section 5.1).

import type { JWTPayload, SignJWT } from 'jose';
import type { Clock } from '#lib/clock.ts';
import { isNestedDeeper } from '#lib/json.ts';
import { ownText } from '#lib/own-text.ts';
import type { Authority } from './authority.ts';

export interface TokenComponents {
  authority: Authority;
  clock: Clock;
  /** Base URL of the client API, the issuer of all tokens. */
  issuer: string;
  /** `tls:host:port`, for routers. */
  controlAddress: string;
}

/** reference fact: HTTP behaviour, Access token claims. */
export const TokenKind = Object.freeze({ Access: 'a', Refresh: 'r', Service: 's', Totp: 't' } as const);

/** What an access token and a refresh token say. Times in seconds. */
export interface AccessClaims extends JWTPayload {
  readonly sub: string;
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly auth_time: number;
  readonly client_id: string;
  readonly amr: readonly string[];
  readonly scope: string;
  readonly z_t: string;
  readonly z_asid: string;
  readonly z_ct: readonly string[];
  readonly z_cfs: readonly string[];
  /** The fingerprint of the certificate that logged in. */
  readonly z_acf?: string;
  /** Whether the auth policy accepts expired certificates. */
  readonly z_cae?: boolean;
  readonly z_authid: string;
  readonly z_ra: string;
  readonly z_ice: boolean;
  readonly z_iccc: boolean;
}

/** The right of an identity to dial or bind a service. */
export interface ServiceSession {
  readonly serviceId: string;
  readonly identityId: string;
  readonly apiSessionId: string;
  readonly type: 'Dial' | 'Bind';
}

/** Loaded with the first token: a simulator that starts makes none. */
function jose(): Promise<typeof import('jose')> {
  return import('jose');
}

/** Tokens whose signature is cached as verified, and their characters: clients decide how much stands in a token. */
const MOST_VERIFIED = 10_000;
const MOST_VERIFIED_LENGTH = 16 * 1024 * 1024;

export class Tokens {
  readonly #components: TokenComponents;
  readonly #verified = new Map<string, AccessClaims>();
  #verifiedLength = 0;

  constructor(components: TokenComponents) {
    this.#components = components;
  }

  /** The one-time token of an enrollment. `method` is `ott`, `erott`, …; `expiresAt` in RFC 3339. */
  enrollment(enrollment: { method: string; subject: string; token: string; expiresAt: string }): Promise<string> {
    const claims = { em: enrollment.method, ctrls: [this.#components.controlAddress] };
    return this.#sign(claims, (jwt) =>
      jwt
        .setSubject(enrollment.subject)
        .setAudience([''])
        .setJti(enrollment.token)
        .setExpirationTime(new Date(enrollment.expiresAt)),
    );
  }

  /** Names the network to who wants to enroll with another proof. */
  network(id: string): Promise<string> {
    return this.#sign({ em: 'network' }, (jwt) =>
      jwt.setSubject(this.#components.issuer).setAudience('openziti-enroller').setJti(id),
    );
  }

  /** Names an authority to clients that have a certificate of it. It never expires. */
  authority(id: string): Promise<string> {
    return this.#sign({ em: 'ca' }, (jwt) => jwt.setSubject(id).setAudience(['']).setJti(id));
  }

  /** Proves that a one-time password was given in an API session. */
  totp(apiSessionId: string, identityId: string): Promise<string> {
    const claims = { z_t: TokenKind.Totp, z_asid: apiSessionId };
    return this.#sign(claims, (jwt) => jwt.setSubject(identityId).setAudience(['openziti']).setJti(apiSessionId));
  }

  /** The token of a session of a service: what a client shows to a router to dial or bind. */
  session(
    session: ServiceSession & {
      readonly id: string;
      /** Of an API session that is kept. */
      readonly isLegacy: boolean;
    },
  ): Promise<string> {
    const claims = {
      z_t: TokenKind.Service,
      z_st: session.type,
      z_iid: session.identityId,
      z_asid: session.apiSessionId,
      z_leg: session.isLegacy,
    };
    return this.#sign(claims, (jwt) => jwt.setSubject(session.serviceId).setAudience(['openziti']).setJti(session.id));
  }

  /** What such a token says when it is all that there is of the session; undefined for any other. */
  async verifySession(token: string): Promise<ServiceSession | undefined> {
    const { z_t, z_leg, z_st, z_iid, z_asid, sub } = (await this.verify(token)) ?? {};
    if (z_t !== TokenKind.Service || z_leg !== false || (z_st !== 'Dial' && z_st !== 'Bind')) return undefined;
    if (typeof sub !== 'string' || typeof z_iid !== 'string' || typeof z_asid !== 'string') return undefined;
    return { serviceId: sub, identityId: z_iid, apiSessionId: z_asid, type: z_st };
  }

  /** A token of the OIDC API; `claims` are all of it. */
  async oidc(claims: JWTPayload): Promise<string> {
    const { authority } = this.#components;
    const { SignJWT } = await jose();
    return new SignJWT(claims)
      .setProtectedHeader({ alg: authority.tokenAlgorithm, kid: authority.keyId, typ: 'JWT' })
      .sign(authority.signingKey);
  }

  /** Issuer of the tokens of the OIDC API. */
  get oidcIssuer(): string {
    return `${this.#components.issuer}/oidc`;
  }

  /** The claims of a token of ours that is valid now; undefined for any other. */
  async verify(token: string, options: { ignoreExpiry?: boolean } = {}): Promise<JWTPayload | undefined> {
    const { authority, clock, issuer } = this.#components;
    const { jwtVerify } = await jose();
    try {
      const { payload } = await jwtVerify(token, authority.serverCertificate.publicKey, {
        algorithms: [authority.tokenAlgorithm],
        issuer: [issuer, this.oidcIssuer],
        currentDate: new Date(options.ignoreExpiry ? 0 : clock.now()),
        ...(options.ignoreExpiry && { clockTolerance: Number.MAX_SAFE_INTEGER }),
      });
      return isNestedDeeper(payload) ? undefined : payload;
    } catch {
      return undefined; // not ours, not whole, or too old: it proves nothing
    }
  }

  /** The claims of an access token. A signature is looked at once, the time every time. */
  async verifyAccess(token: string): Promise<AccessClaims | undefined> {
    const known = this.#verified.get(token);
    const now = this.#components.clock.now() / 1000;
    if (known) return known.exp > now ? known : undefined;
    const claims = await this.verify(token);
    if (claims?.z_t !== TokenKind.Access || typeof claims.sub !== 'string' || typeof claims.exp !== 'number')
      return undefined;
    this.#keep(ownText(token), claims as AccessClaims);
    return claims as AccessClaims;
  }

  #keep(token: string, claims: AccessClaims): void {
    if (this.#verified.size >= MOST_VERIFIED || this.#verifiedLength + token.length > MOST_VERIFIED_LENGTH) {
      this.#verified.clear();
      this.#verifiedLength = 0;
    }
    if (!this.#verified.has(token)) this.#verifiedLength += token.length;
    this.#verified.set(token, claims);
  }

  async #sign(claims: Record<string, unknown>, complete: (jwt: SignJWT) => SignJWT): Promise<string> {
    const { authority, clock, issuer } = this.#components;
    const { SignJWT } = await jose();
    const jwt = new SignJWT(claims)
      .setProtectedHeader({ alg: authority.tokenAlgorithm, kid: authority.keyId, typ: 'JWT' })
      .setIssuer(issuer)
      .setIssuedAt(new Date(clock.now()));
    return complete(jwt).sign(authority.signingKey);
  }
}
