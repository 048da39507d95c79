// The session of an earlier token: it must still be valid, and its client must hold the certificate of the session.

import { leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import { holdsCertificate } from '../../auth/proof-of-possession.ts';
import { isDisabled } from '../../entities/identity.ts';
import { ApiError } from '../../errors/errors.ts';
import { readCsr } from '../../pki/csr.ts';
import type { AccessClaims } from '../../pki/tokens.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { ApiServices } from '../operations/context.ts';
import { OAuthError, type OidcRequest, text } from './context.ts';

export async function verified(
  services: Pick<ApiServices, 'tokens'>,
  given: string,
  kind: string,
): Promise<AccessClaims | undefined> {
  const claims = await services.tokens.verify(given);
  return claims?.z_t === kind && services.tokens.isOidcIssuer(claims.iss) ? (claims as AccessClaims) : undefined;
}

/** The active identity of a session that was not revoked; `why` is the error if it was. */
export function requireSession(
  services: Pick<ApiServices, 'state' | 'clock' | 'revocations'>,
  claims: AccessClaims,
  why: string,
): Identity {
  if (services.revocations.isRevoked(claims)) throw new OAuthError('invalid_grant', why);
  return requireIdentity(services, claims.sub);
}

export function requireIdentity({ state, clock }: Pick<ApiServices, 'state' | 'clock'>, id: string): Identity {
  const identity = state.tables.identity.get(id);
  if (!identity || isDisabled(identity, clock.now()))
    throw new OAuthError('invalid_grant', 'the identity is not active');
  return identity;
}

/** Issues a certificate for the time of the session if the client sent a CSR: the tokens are bound to it. */
export async function bind(
  { authority, state }: Pick<ApiServices, 'authority' | 'state'>,
  { id }: Identity,
  apiSessionId: string,
  csrPem: string | undefined,
  fingerprints: readonly string[],
): Promise<{ fingerprints: readonly string[]; certificate: string | undefined }> {
  if (csrPem === undefined) return { fingerprints, certificate: undefined };
  try {
    const csr = await readCsr(csrPem);
    const certificate = authority.signIdentity(csr, id, { apiSessionId, id: state.ids.long() });
    return { fingerprints: [...fingerprints, sha1Fingerprint(leafOf(certificate))], certificate };
  } catch (error) {
    if (error instanceof ApiError) throw new OAuthError('invalid_request', `invalid CSR: ${error.message}`);
    throw error;
  }
}

/**
 * A session that is bound to certificates may replace its session certificate. A bearer session is never bound later,
 * because a thief could do it.
 */
export function rebind({ body, services }: OidcRequest<'state' | 'authority'>, identity: Identity, old: AccessClaims) {
  const csrPem = old.z_cfs.length > 0 ? text({ body }, 'csr_pem') || undefined : undefined;
  const kept = csrPem === undefined ? old.z_cfs : old.z_acf === undefined ? [] : [old.z_acf];
  return bind(services, identity, old.z_asid, csrPem, kept);
}

export function requireCertificate(request: OidcRequest<'clock'>, claims: AccessClaims): void {
  if (!holdsCertificate(request, claims))
    throw new OAuthError('invalid_grant', 'the token is bound to a certificate that the client does not present');
}
