// Signs the controller's tokens: for enrollment, for the network, and for sessions of services. Routers verify them
// with the key from the data model (reference facts: HTTP behaviour, Enrollment; edge, section 5.1).

import type { JWTPayload, SignJWT } from 'jose';
import { isNestedDeeper } from '#lib/json/json.ts';
import { ownText } from '#lib/text/own-text.ts';
import { realTime } from '#lib/time/advancing-clock.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Authority } from './authority.ts';

export interface TokenComponents {
  authority: Authority;
  clock: Clock;
  /** Base URL of the client API, the issuer of all tokens. */
  issuer: string;
  /** The same of all controllers of the network. */
  issuers(): readonly string[];
  /** `tls:host:port` of all controllers, for routers; this one's first. */
  controlAddresses(): string[];
}

/** reference fact: HTTP behaviour, Access token claims. */
export const TokenKind = Object.freeze({ Access: 'a', Refresh: 'r', Service: 's', Totp: 't' } as const);

/** Claims of access and refresh tokens. Times in seconds. */
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
  /** Fingerprint of the certificate of the login. */
  readonly z_acf?: string;
  /** Whether the auth policy accepts expired certificates. */
  readonly z_cae?: boolean;
  readonly z_authid: string;
  readonly z_ra: string;
  readonly z_ice: boolean;
  readonly z_iccc: boolean;
}

/** An identity's right to dial or bind a service. */
export interface ServiceSession {
  readonly serviceId: string;
  readonly identityId: string;
  readonly apiSessionId: string;
  readonly type: 'Dial' | 'Bind';
}

/** Loaded with the first token, so that the simulator starts faster. */
function jose(): Promise<typeof import('jose')> {
  return import('jose');
}

/** Limits on cached verified signatures, by count and characters: clients choose the size of tokens. */
const MAX_VERIFIED = 10_000;
const MAX_VERIFIED_LENGTH = 16 * 1024 * 1024;
/** Milliseconds in which all clients get the same token of the network. */
const REUSE = 1_000;

export class Tokens {
  readonly #components: TokenComponents;
  readonly #verified = new Map<string, AccessClaims>();
  #verifiedLength = 0;
  #network: { readonly signedAt: number; readonly token: Promise<string> } | undefined;

  constructor(components: TokenComponents) {
    this.#components = components;
  }

  /**
   * The one-time token of an enrollment. `method` is `ott`, `erott`, …; `expiresAt` in RFC 3339. Its holder compares
   * the token's expiry with the real time, which is later if a test has set an earlier one.
   */
  enrollment(enrollment: { method: string; subject: string; token: string; expiresAt: string }): Promise<string> {
    const { clock } = this.#components;
    const behind = Math.max(0, realTime(clock) - clock.now());
    const claims = { em: enrollment.method, ctrls: this.#components.controlAddresses() };
    return this.#sign(claims, (jwt) =>
      jwt
        .setSubject(enrollment.subject)
        .setAudience([''])
        .setJti(enrollment.token)
        .setExpirationTime(new Date(Date.parse(enrollment.expiresAt) + behind)),
    );
  }

  /**
   * Identifies the network to clients that enroll with another proof. Strangers may ask for it, and a signature needs
   * six times the work of another request: one serves all of them for a second. `id` is that of a new one.
   */
  network(id: string): Promise<string> {
    const now = this.#components.clock.monotonic();
    if (!this.#network || now - this.#network.signedAt >= REUSE)
      this.#network = { signedAt: now, token: this.#enroller('network', `${this.#components.issuer}/`, id) };
    return this.#network.token;
  }

  /** Identifies an authority to clients with a certificate of it. It never expires. */
  authority(id: string): Promise<string> {
    return this.#enroller('ca', id, id);
  }

  /**
   * A token without a secret, which any number of clients may have. reference fact: its issuer ends with a slash, it
   * has an audience, and `ctrls` is null.
   */
  #enroller(method: string, subject: string, id: string): Promise<string> {
    return this.#sign({ em: method, ctrls: null }, (jwt) =>
      jwt.setIssuer(`${this.#components.issuer}/`).setSubject(subject).setAudience(['openziti-enroller']).setJti(id),
    );
  }

  /** Proves that a one-time password was given in an API session. */
  totp(apiSessionId: string, identityId: string): Promise<string> {
    const claims = { z_t: TokenKind.Totp, z_asid: apiSessionId };
    return this.#sign(claims, (jwt) => jwt.setSubject(identityId).setAudience(['openziti']).setJti(apiSessionId));
  }

  /** The token of a session of a service: clients present it to routers to dial or bind. */
  session(
    session: ServiceSession & {
      readonly id: string;
      /** The API session is stored. */
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

  /** The content of a session token if the session is not stored; undefined for other tokens. */
  async verifySession(token: string): Promise<ServiceSession | undefined> {
    const { z_t, z_leg, z_st, z_iid, z_asid, sub } = (await this.verify(token)) ?? {};
    if (z_t !== TokenKind.Service || z_leg !== false || (z_st !== 'Dial' && z_st !== 'Bind')) return undefined;
    if (typeof sub !== 'string' || typeof z_iid !== 'string' || typeof z_asid !== 'string') return undefined;
    return { serviceId: sub, identityId: z_iid, apiSessionId: z_asid, type: z_st };
  }

  /** A token of the OIDC API; `claims` are complete. */
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

  /** Whether a token with this issuer is of the OIDC API of any controller of the network. */
  isOidcIssuer(issuer: string | undefined): boolean {
    return this.#components.issuers().some((each) => issuer === `${each}/oidc`);
  }

  /** The claims of a valid token of this network's controllers; undefined for any other. */
  async verify(token: string, options: { ignoreExpiry?: boolean } = {}): Promise<JWTPayload | undefined> {
    const { authority, clock } = this.#components;
    const { jwtVerify } = await jose();
    try {
      const { payload } = await jwtVerify(token, authority.serverCertificate.publicKey, {
        algorithms: [authority.tokenAlgorithm],
        issuer: this.#components.issuers().flatMap((issuer) => [issuer, `${issuer}/oidc`]),
        currentDate: new Date(options.ignoreExpiry ? 0 : clock.now()),
        ...(options.ignoreExpiry && { clockTolerance: Number.MAX_SAFE_INTEGER }),
      });
      return isNestedDeeper(payload) ? undefined : payload;
    } catch {
      return undefined; // from another issuer, malformed, or expired
    }
  }

  /** The claims of an access token. The signature is verified once, the expiry each time. */
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
    if (this.#verified.size >= MAX_VERIFIED || this.#verifiedLength + token.length > MAX_VERIFIED_LENGTH) {
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
