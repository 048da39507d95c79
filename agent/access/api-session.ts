// Decides whether an SDK client may use its connection: validates the API session of the token in its hello, and its
// certificate (reference fact: edge, section 1.2).

import type { X509Certificate } from 'node:crypto';
import { ProjectError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';
import { isSignedToken } from '#model/session-tokens.ts';
import { validity, verifyChain } from '#pki/certificate-chain.ts';
import { sha1Fingerprint, subjectAltNames } from '#pki/certificates.ts';
import type { DataState_Revocation } from '#wire/gen/edge_control_pb.js';
import { type DataModel, REVOKED_IDENTITY } from './data-model.ts';
import type { LegacySessions } from './legacy-sessions.ts';
import { type AccessClaims, TokenError, type Tokens } from './tokens.ts';

/** An API session in the form that both kinds share. */
export interface ApiSession {
  readonly id: string;
  readonly identityId: string;
  readonly token: string;
  /** SHA-1 of the certificates that its client may present. */
  readonly fingerprints: ReadonlySet<string>;
  /** The controller that pushed a legacy session; undefined for a token session. */
  readonly controllerId: string | undefined;
  /** Claims of the token; undefined for a legacy session. */
  readonly claims: AccessClaims | undefined;
}

/** The client may not use its session. Retriable if this router may not have received its data yet. */
export class SessionRejectedError extends ProjectError {
  constructor(message: string, options: { cause?: unknown; retriable?: boolean } = {}) {
    super('SESSION_REJECTED', message, options);
  }
}

export interface ApiSessionsComponents {
  clock: Clock;
  model: DataModel;
  legacySessions: Pick<LegacySessions, 'get'>;
  tokens: Pick<Tokens, 'access'>;
  /** The network's own authorities. Other authorities cannot vouch for identities. */
  identity: { readonly roots: readonly X509Certificate[] };
}

/** Longest pause in milliseconds between two lookups of a session that no controller has pushed yet. */
const MAX_PAUSE_MS = 1_000;

export class ApiSessions {
  readonly #components: ApiSessionsComponents;

  constructor(components: ApiSessionsComponents) {
    this.#components = components;
  }

  /**
   * The session of a token. Waits up to `patience` milliseconds for its data: a client may connect before this router
   * receives its legacy session, its identity, or the key of a new controller. @throws SessionRejectedError
   */
  async find(token: string, patience: number, signal: AbortSignal): Promise<ApiSession> {
    const { clock } = this.#components;
    const end = clock.monotonic() + patience;
    for (let pause = 1; ; pause = Math.min(MAX_PAUSE_MS, 2 * pause)) {
      try {
        return isSignedToken(token) ? await this.verify(token) : this.#ofLegacy(token);
      } catch (error) {
        const left = end - clock.monotonic();
        if (!(error instanceof SessionRejectedError && error.retriable) || left <= 0) throw error;
        await clock.sleep(Math.min(pause, left), { name: 'api session lookup', signal });
      }
    }
  }

  /** The session of an access token. @throws SessionRejectedError */
  async verify(token: string): Promise<ApiSession> {
    let claims: AccessClaims;
    try {
      claims = await this.#components.tokens.access(token);
    } catch (error) {
      const retriable = error instanceof TokenError && error.retriable;
      throw new SessionRejectedError('the access token is invalid', { cause: error, retriable });
    }
    const listed = Array.isArray(claims.z_cfs) ? claims.z_cfs.filter((each) => typeof each === 'string') : [];
    const session = {
      id: claims.z_asid,
      identityId: claims.sub,
      token,
      fingerprints: new Set(listed.map((each) => each.toLowerCase())),
      controllerId: undefined,
      claims,
    };
    this.#requireValid(session);
    return session;
  }

  /** @throws SessionRejectedError */
  #ofLegacy(token: string): ApiSession {
    const known = this.#components.legacySessions.get(token);
    if (!known) {
      if (token === '') throw new SessionRejectedError('the client presents no API session');
      throw new SessionRejectedError('the API session is unknown to all controllers', { retriable: true });
    }
    const { id, identityId, fingerprints, controllerId } = known;
    const session = { id, identityId, token, fingerprints, controllerId, claims: undefined };
    this.#requireValid(session);
    return session;
  }

  /** @throws SessionRejectedError */
  #requireValid(session: ApiSession): void {
    const ended = this.endOf(session);
    if (ended === undefined) return;
    throw new SessionRejectedError(ended, { retriable: !this.#components.model.identities.has(session.identityId) });
  }

  /** The reason why an earlier session is no longer valid; undefined if it still is. */
  endOf({ id, identityId, token, claims }: ApiSession): string | undefined {
    const { model, legacySessions, clock } = this.#components;
    const identity = model.identities.get(identityId);
    if (!identity) return `identity ${identityId} not found`;
    if (identity.disabled) return `identity ${identityId} is disabled`;
    if (!claims) return legacySessions.get(token) ? undefined : 'the controller removed the API session';
    if (claims.exp * 1000 <= clock.now()) return 'the access token has expired';
    if (model.revocation(id)) return 'the API session is revoked';
    if (claims.jti !== undefined && model.revocation(claims.jti)) return 'the access token is revoked';
    const ofIdentity = model.revocation(identityId);
    if (ofIdentity && revokes(ofIdentity, claims)) return `the tokens of identity ${identityId} are revoked`;
    return undefined;
  }

  /** Checks the certificates that a client presented (leaf first) against its session. @throws SessionRejectedError */
  checkCertificate(session: ApiSession, presented: readonly X509Certificate[]): void {
    const [leaf] = presented;
    if (!leaf) throw new SessionRejectedError('the client presented no certificate');
    const { clock, identity } = this.#components;
    const invalid = validity(leaf, clock.now());
    // Legacy sessions outlive their certificate; for tokens, a claim decides whether the certificate may have expired.
    const mayExpire = session.claims === undefined || session.claims.z_cae === true;
    if (session.fingerprints.has(sha1Fingerprint(leaf))) {
      if (invalid && !mayExpire) throw new SessionRejectedError(invalid);
      return;
    }
    const verdict = verifyChain(presented, identity.roots);
    if (!verdict.ok) throw new SessionRejectedError(`the session does not list the certificate, and ${verdict.reason}`);
    const name = subjectAltNames(leaf).uri.find((uri) => uri.startsWith('spiffe://'));
    const fit = name === undefined ? undefined : spiffeFit(name, session);
    if (!fit)
      throw new SessionRejectedError('the certificate is neither listed in the session nor issued for its identity');
    if (invalid && !(fit === 'identity' && mayExpire)) throw new SessionRejectedError(invalid);
  }
}

/** Whether the revocation of an identity applies to a token. Without a time, it applies to all tokens. */
function revokes({ type, issuedBefore }: DataState_Revocation, { iat = 0 }: AccessClaims): boolean {
  return issuedBefore ? iat <= Number(issuedBefore.seconds) : type === REVOKED_IDENTITY;
}

/** Whether a certificate of the network belongs to the identity or to this session. */
function spiffeFit(uri: string, { id, identityId }: ApiSession): 'identity' | 'session' | undefined {
  const [, , , ...path] = uri.split('/');
  if (path[0] !== 'identity' || path[1] !== identityId) return undefined;
  if (path.length === 2) return 'identity';
  const isOfSession = path[2] === 'apiSession' && path[3] === id;
  return isOfSession && (path.length === 4 || (path.length === 6 && path[4] === 'apiSessionCertificate'))
    ? 'session'
    : undefined;
}
