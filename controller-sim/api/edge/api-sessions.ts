// API sessions, and the certificates that controllers issued for them.

import type {
  ApiSessionDetail,
  AuthQueryDetail,
  CurrentApiSessionCertificateDetail,
} from '#schemas/api/gen/answers.ts';
import { endApiSession } from '../../entities/api-session.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import { base, reference } from '../answers/references.ts';
import type { ApiRequest, ApiServices, Handlers } from '../operations/context.ts';
import { field, flagField } from '../operations/list.ts';
import { detail, type Listed, list, type Removable, remove } from '../operations/resource.ts';
import { seesTokensOf } from '../operations/rights.ts';

/** reference fact: HTTP entities, section 2. */
const MFA_QUERY = {
  typeId: 'MFA',
  provider: 'ziti',
  httpMethod: 'POST',
  httpUrl: './authenticate/mfa',
  minLength: 4,
  maxLength: 6,
  format: 'alphaNumeric',
  scopes: null,
} as const;

/** Only callers that may see a token can filter by it: a filter on parts of the text would reveal the rest. */
const apiSessionSymbols = (_services: unknown, request: ApiRequest<never>): Symbols<ApiSession> => ({
  ipAddress: field('ipAddress'),
  token: { get: ({ identityId, token }) => (seesTokensOf(request, identityId) ? token : undefined) },
  identity: field('identityId'),
  authenticator: field('authenticatorId'),
  lastActivityAt: { type: 'datetime', get: ({ lastActivityAt }) => new Date(lastActivityAt) },
  mfaRequired: flagField('isMfaRequired'),
  mfaComplete: flagField('isMfaComplete'),
  improperClientCertChain: flagField('improperClientCertChain'),
});

export const apiSessions: Removable<'apiSession', ApiSessionDetail, 'state' | 'activity'> = {
  kind: 'apiSession',
  symbols: apiSessionSymbols,
  remove: (transaction, { id }) => endApiSession(transaction, id),
  show: (session, context, request): ApiSessionDetail => ({
    ...showApiSession(session, context),
    ...(!seesTokensOf(request, session.identityId) && { token: '' }),
  }),
};

/** Includes the token: only for the owner of the session. */
export function showApiSession(
  session: ApiSession,
  context: Pick<ApiServices, 'state' | 'activity'>,
): ApiSessionDetail {
  const { token, identityId, authenticatorId, configTypes, ipAddress, lastActivityAt } = session;
  const { isMfaRequired, isMfaComplete, isCertExtendable, improperClientCertChain } = session;
  const { authenticator: authenticators, identity } = context.state.tables;
  const authenticator = authenticators.get(authenticatorId);
  return {
    ...base('apiSession', session),
    token,
    identityId,
    identity: reference('identity', identity.get(identityId)),
    authenticatorId,
    configTypes,
    ipAddress,
    lastActivityAt,
    cachedLastActivityAt: new Date(context.activity.lastOf(session)).toISOString(),
    isMfaRequired,
    isMfaComplete,
    authQueries: authQueries(session, context),
    isCertExtendable,
    ...(authenticator?.isExtendRequested && { isCertExtendRequested: true }),
    ...(authenticator?.isKeyRollRequested && { isCertKeyRollRequested: true }),
    ...(improperClientCertChain && { improperClientCertChain }),
  };
}

/** Proofs that the session still lacks. */
function authQueries(session: ApiSession, { state }: Pick<ApiServices, 'state'>): AuthQueryDetail[] {
  const signer =
    session.requiredSignerId === null ? undefined : state.tables.externalJwtSigner.get(session.requiredSignerId);
  const external = signer && {
    typeId: 'EXT-JWT' as const,
    provider: 'url' as const,
    id: signer.id,
    scopes: signer.scopes,
    clientId: signer.clientId,
    httpUrl: signer.externalAuthUrl,
  };
  return [...(session.isMfaRequired && !session.isMfaComplete ? [MFA_QUERY] : []), ...(external ? [external] : [])];
}

export const sessionCertificates: Listed<'apiSessionCertificate', CurrentApiSessionCertificateDetail, never> = {
  kind: 'apiSessionCertificate',
  symbols: { apiSession: field('apiSessionId'), fingerprint: field('fingerprint'), subject: field('subject') },
  show: (certificate): CurrentApiSessionCertificateDetail => {
    const { certPem, fingerprint, subject, validFrom, validTo } = certificate;
    const fields = base('apiSessionCertificate', certificate);
    return { ...fields, certificate: certPem, fingerprint, subject, validFrom, validTo };
  },
};

export const apiSessionHandlers = {
  listAPISessions: list(apiSessions),
  detailAPISessions: detail(apiSessions),
  deleteAPISessions: remove(apiSessions),
} satisfies Partial<Handlers<'management'>>;
