// What decides who gets in: auth policies, other authorities, other issuers, posture checks, sessions, revocations.

import { revocationOf } from '../../auth/revocations.ts';
import { verifyCa } from '../../entities/ca.ts';
import { existing } from '../../entities/common.ts';
import type { Answer, ApiRequest, Handlers } from '../../request/context.ts';
import { ApiError, invalid, withoutCause } from '../../request/errors.ts';
import { field } from '../list.ts';
import { base } from '../references.ts';
import { crud, find, type Resource } from '../resource.ts';
import { apiSessions } from '../resources/api-sessions.ts';
import { authPolicies } from '../resources/auth-policies.ts';
import { cas } from '../resources/cas.ts';
import { externalJwtSigners } from '../resources/external-jwt-signers.ts';
import { postureChecks } from '../resources/posture-checks.ts';
import { sessions } from '../resources/sessions.ts';

/** Ids of tokens and of their sessions. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const revocations: Resource<'revocation'> = {
  kind: 'revocation',
  names: { one: 'Revocation', many: 'Revocations' },
  symbols: {
    type: field('type'),
    expiresAt: { type: 'datetime', get: ({ expiresAt }) => new Date(expiresAt) },
    issuedBefore: { type: 'datetime', get: () => null },
  },
  newId: (_services, body) => body.text('id') ?? '',
  create: (transaction, id, body) => {
    const type = body.text('type') as 'JTI' | 'IDENTITY' | 'API_SESSION';
    if (type === 'IDENTITY') withoutCause(() => existing(transaction, 'identity', id));
    else if (!UUID.test(id)) throw invalid('id', 'must be a valid UUID v4', id);
    transaction.put('revocation', revocationOf(transaction, id, type, body.map('tags')));
  },
  show: (revocation) => ({
    ...base('revocation', revocation),
    type: revocation.type,
    expiresAt: revocation.expiresAt,
  }),
};

export const accessHandlers: Handlers = {
  ...crud(authPolicies),
  ...crud(cas),
  ...crud(externalJwtSigners),
  ...crud(postureChecks),
  ...crud(apiSessions),
  ...crud(sessions),
  ...crud(revocations),
  getCaJwt: caToken,
  verifyCa: verify,
  detailSessionRoutePath: routePath,
};

/** What names the network and the authority to clients that enroll with a certificate of it; it stays the same. */
async function caToken(request: ApiRequest): Promise<Answer> {
  const { id } = withoutCause(() => find(request, 'ca'));
  return { raw: await request.services.tokens.authority(id), contentType: 'application/jwt' };
}

async function verify(request: ApiRequest): Promise<Answer> {
  const { id } = withoutCause(() => find(request, 'ca'));
  if (typeof request.body !== 'string') {
    const message = 'the body has to be a certificate in PEM form, sent as text/plain';
    throw new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message });
  }
  const pem = request.body;
  await request.services.state.change((transaction) => verifyCa(transaction, existing(transaction, 'ca', id), pem));
  return { data: {} };
}

/** The routers of the circuits that run for the identity to the service. */
function routePath(request: ApiRequest): Answer {
  const { identityId, serviceId } = find(request, 'session');
  const circuits = request.services.network.circuits
    .values()
    .filter((circuit) => circuit.serviceId === serviceId && circuit.clientId === identityId);
  return { data: { routePath: [...new Set(circuits.flatMap(({ path }) => path.routers))] } };
}
