// Authenticators, and what administrators want of their owners.

import { deleteAuthenticator, requestExtension } from '../../entities/authenticator.ts';
import { Body } from '../../entities/body.ts';
import { isCertificateOf } from '../../entities/ca.ts';
import { existing } from '../../entities/common.ts';
import { addEnrollment, prepareEnrollment, refuseOpenEnrollment } from '../../entities/enrollment.ts';
import { invalid } from '../../errors/errors.ts';
import { authenticators } from '../edge/authenticators.ts';
import type { Answer, ApiRequest, Handlers } from '../http/context.ts';
import { created } from '../http/references.ts';
import { crud, find } from '../http/resource.ts';

export const authenticatorHandlers: Handlers = {
  ...crud(authenticators),
  reEnrollAuthenticator: reEnroll,
  requestExtendAuthenticator: requestExtend,
};

/** Replaces the authenticator by an enrollment of its kind, which keeps the user name. */
async function reEnroll(request: ApiRequest): Promise<Answer> {
  const { state, clock } = request.services;
  const authenticator = find(request, 'authenticator');
  const { identityId } = authenticator;
  const expires = new Body(request.body, 'create').date('expiresAt') as Date;
  if (expires.getTime() <= clock.now())
    throw invalid('expiresAt', 'must be after the current date and time', expires.toISOString());
  const ca = [...state.tables.ca.values()].find((each) => isCertificateOf(authenticator, each));
  const method = authenticator.method === 'updb' ? 'updb' : ca ? 'ottca' : 'ott';
  const enrollment = await prepareEnrollment(request.services, {
    identityId,
    method,
    expires,
    ...(ca && { caId: ca.id }),
    ...(authenticator.username !== null && { username: authenticator.username }),
  });
  await state.change((transaction) => {
    const current = existing(transaction, 'authenticator', authenticator.id);
    refuseOpenEnrollment(transaction, identityId, method);
    deleteAuthenticator(transaction, current);
    addEnrollment(transaction, enrollment);
  });
  return { data: created('enrollments', enrollment.signed.id) };
}

async function requestExtend(request: ApiRequest): Promise<Answer> {
  const { id } = find(request, 'authenticator');
  const rollKeys = new Body(request.body, 'create').flag('rollKeys') ?? false;
  await request.services.state.change((transaction) => requestExtension(transaction, id, rollKeys));
  return { data: {} };
}
