// The tokens that the controller signs: for enrollment, for the network, and for sessions of services, which routers verify with the
// key of the data model (reference facts: HTTP behaviour, Enrollment; edge, section 5.1).

import { SignJWT } from 'jose';
import type { Clock } from '#lib/clock.ts';
import type { Authority } from '../pki/authority.ts';

const ALGORITHM = 'ES256';

export interface TokenComponents {
  authority: Authority;
  clock: Clock;
  /** Base URL of the client API, the issuer of all tokens. */
  issuer: string;
  /** `tls:host:port`, for routers. */
  controlAddress: string;
}

export class Tokens {
  readonly #components: TokenComponents;

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
    const claims = { z_t: 't', z_asid: apiSessionId };
    return this.#sign(claims, (jwt) => jwt.setSubject(identityId).setAudience(['openziti']).setJti(apiSessionId));
  }

  /** The token of a session of a service: what a legacy client shows to a router to dial or bind. */
  session(session: {
    id: string;
    serviceId: string;
    identityId: string;
    apiSessionId: string;
    type: 'Dial' | 'Bind';
  }): Promise<string> {
    const claims = {
      z_t: 's',
      z_st: session.type,
      z_iid: session.identityId,
      z_asid: session.apiSessionId,
      z_leg: true,
    };
    return this.#sign(claims, (jwt) => jwt.setSubject(session.serviceId).setAudience(['openziti']).setJti(session.id));
  }

  #sign(claims: Record<string, unknown>, complete: (jwt: SignJWT) => SignJWT): Promise<string> {
    const { authority, clock, issuer } = this.#components;
    const jwt = new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid: authority.keyId, typ: 'JWT' })
      .setIssuer(issuer)
      .setIssuedAt(new Date(clock.now()));
    return complete(jwt).sign(authority.signingKey);
  }
}
