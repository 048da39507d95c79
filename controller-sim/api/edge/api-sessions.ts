// API sessions, and the certificates that controllers issued for them.

import { endApiSession } from '../../entities/api-session.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { ApiSession } from '../../state/types.ts';
import type { ApiRequest, ApiServices, Handlers } from '../http/context.ts';
import { field, flagField } from '../http/list.ts';
import { base, reference } from '../http/references.ts';
import { crud, type Listed, type Resource } from '../http/resource.ts';
import { seesTokensOf } from '../http/rights.ts';

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
};

/** Only callers that may see a token can filter by it: a filter on parts of the text would reveal the rest. */
const apiSessionSymbols = (_context: ApiServices, request: ApiRequest): Symbols<ApiSession> => ({
  ipAddress: field('ipAddress'),
  token: { get: ({ identityId, token }) => (seesTokensOf(request, identityId) ? token : undefined) },
  identity: field('identityId'),
  authenticator: field('authenticatorId'),
  lastActivityAt: { type: 'datetime', get: ({ lastActivityAt }) => new Date(lastActivityAt) },
  mfaRequired: flagField('isMfaRequired'),
  mfaComplete: flagField('isMfaComplete'),
  improperClientCertChain: flagField('improperClientCertChain'),
});

export const apiSessions: Resource<'apiSession'> = {
  kind: 'apiSession',
  names: { one: 'APISessions', many: 'APISessions' },
  symbols: apiSessionSymbols,
  remove: (transaction, { id }) => endApiSession(transaction, id),
  show: (session, context, request) => ({
    ...showApiSession(session, context),
    ...(!seesTokensOf(request, session.identityId) && { token: '' }),
  }),
};

/** Includes the token: only for the owner of the session. */
export function showApiSession(session: ApiSession, context: ApiServices): Record<string, unknown> {
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
function authQueries(session: ApiSession, { state }: ApiServices): Record<string, unknown>[] {
  const signer = session.requiredSignerId && state.tables.externalJwtSigner.get(session.requiredSignerId);
  return [
    ...(session.isMfaRequired && !session.isMfaComplete ? [MFA_QUERY] : []),
    ...(signer
      ? [
          {
            typeId: 'EXT-JWT',
            provider: 'url',
            id: signer.id,
            scopes: signer.scopes,
            clientId: signer.clientId,
            httpUrl: signer.externalAuthUrl,
          },
        ]
      : []),
  ];
}

export const sessionCertificates: Listed<'apiSessionCertificate'> = {
  kind: 'apiSessionCertificate',
  symbols: { apiSession: field('apiSessionId'), fingerprint: field('fingerprint'), subject: field('subject') },
  show: (certificate) => {
    const { certPem, fingerprint, subject, validFrom, validTo } = certificate;
    const fields = base('apiSessionCertificate', certificate);
    return { ...fields, certificate: certPem, fingerprint, subject, validFrom, validTo };
  },
};

export const apiSessionHandlers: Handlers = crud(apiSessions);
