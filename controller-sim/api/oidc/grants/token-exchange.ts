// The grant `token-exchange` (RFC 8693): another token of the same session.

import { TokenKind } from '../../../pki/tokens.ts';
import { type GrantRequest, OAuthError, type OidcAnswer, text } from '../context.ts';
import {
  ACCESS_LIFETIME,
  ok,
  publishSession,
  REFRESH_LIFETIME,
  sessionClaims,
  sign,
  signId,
} from '../issued-tokens.ts';
import { rebind, requireCertificate, requireSession, verified } from '../live-session.ts';
import { required } from '../parameters.ts';

const TYPE = 'urn:ietf:params:oauth:token-type:';
const EXCHANGED: ReadonlySet<string> = new Set(
  ['access_token', 'refresh_token', 'id_token'].map((type) => TYPE + type),
);

export async function byExchange(request: GrantRequest): Promise<OidcAnswer> {
  const { services } = request;
  const subjectType = text(request, 'subject_token_type');
  const kind = subjectType === `${TYPE}refresh_token` ? TokenKind.Refresh : TokenKind.Access;
  if (subjectType !== `${TYPE}access_token` && subjectType !== `${TYPE}refresh_token`)
    throw new OAuthError('invalid_request', 'the subject_token_type is not supported');
  const subject = await verified(services, required(request, 'subject_token'), kind);
  const invalid = 'the subject_token is not valid';
  if (!subject) throw new OAuthError('invalid_grant', invalid);
  const identity = requireSession(services, subject, invalid);
  requireCertificate(request, subject);
  const wanted = text(request, 'requested_token_type') || `${TYPE}refresh_token`; // reference fact: this default
  if (!EXCHANGED.has(wanted)) throw new OAuthError('invalid_request', 'the requested_token_type is not supported');
  const bound = await rebind(request, identity, subject);
  requireSession(services, subject, invalid); // it may have ended meanwhile
  const claims = { ...sessionClaims(subject, identity), z_cfs: bound.fingerprints };
  publishSession(request, claims, 'exchanged');
  const sessionCert = bound.certificate && { session_cert: bound.certificate };
  const common = { issued_token_type: wanted, token_type: 'Bearer', ...sessionCert };
  switch (wanted) {
    case `${TYPE}access_token`: {
      const access_token = await sign(services, claims, TokenKind.Access, ACCESS_LIFETIME);
      return ok({ access_token, ...common, expires_in: ACCESS_LIFETIME - 1 });
    }
    case `${TYPE}refresh_token`: {
      const refresh = await sign(services, claims, TokenKind.Refresh, REFRESH_LIFETIME);
      const access_token = await sign(services, claims, TokenKind.Access, ACCESS_LIFETIME);
      return ok({ access_token, refresh_token: refresh, ...common, expires_in: ACCESS_LIFETIME - 1 });
    }
    default: {
      const access_token = await signId(services, claims, undefined);
      return ok({ access_token, ...common, token_type: 'N_A', expires_in: ACCESS_LIFETIME - 1 });
    }
  }
}
