// Open enrollments. Administrators create, refresh and delete them.

import type { CreateLocation, EnrollmentDetail } from '#schemas/api/gen/answers.ts';
import type { EnrollmentCreate, EnrollmentRefresh } from '#schemas/api/gen/bodies.ts';
import { isAdmin } from '../../auth/permissions.ts';
import { dateOf } from '../../entities/body.ts';
import { existing } from '../../entities/common.ts';
import {
  addEnrollment,
  prepareEnrollment,
  rejectOpenEnrollment,
  removeEnrollment,
  replaceToken,
  signEnrollment,
} from '../../entities/enrollment.ts';
import { invalid, invalidField, notFound, withoutCause } from '../../errors/errors.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import { base, created, reference } from '../answers/references.ts';
import { NEVER } from '../answers/show.ts';
import type { ApiRequest, Data, EnrollmentUse, Handlers } from '../operations/context.ts';
import { field } from '../operations/list.ts';
import { find, list, type Removable, remove } from '../operations/resource.ts';
import { hasPowerOver, requirePowerOver, seesEnrollmentTokens } from '../operations/rights.ts';

/** Enrollments of administrators: permissions are not sufficient for them. */
export const OF_ADMINS = 'manage enrollments of admins';

export const enrollments: Removable<'enrollment', EnrollmentDetail, 'state'> = {
  kind: 'enrollment',
  symbols: (_context, request) => ({
    token: { get: (enrollment) => (seesEnrollmentTokens(request, enrollment) ? enrollment.token : undefined) },
    identity: field('identityId'),
    edgeRouter: { get: ({ method, routerId }) => (method === 'erott' ? routerId : null) },
    transitRouter: { get: ({ method, routerId }) => (method === 'trott' ? routerId : null) },
    caId: field('caId'),
  }),
  remove: (transaction, enrollment, request) => {
    requirePowerOver(request, enrollment.identityId, OF_ADMINS);
    removeEnrollment(transaction, enrollment);
  },
  show: (enrollment, { state: { tables } }, request): EnrollmentDetail => {
    const isVisible = seesEnrollmentTokens(request, enrollment);
    const { method, token, jwt, expiresAt, identityId, routerId, caId, username } = enrollment;
    const router = routerId === null ? undefined : tables.router.get(routerId);
    return {
      ...base('enrollment', enrollment),
      createdAt: NEVER,
      updatedAt: NEVER,
      method,
      token: isVisible ? token : '',
      jwt: isVisible ? jwt : '',
      expiresAt,
      ...(username !== null && { username }),
      ...(caId !== null && { caId }),
      ...(identityId !== null && { identityId, identity: reference('identity', tables.identity.get(identityId)) }),
      ...(method === 'erott' && { edgeRouterId: routerId, edgeRouter: reference('router', router) }),
      ...(method === 'trott' && {
        transitRouterId: routerId,
        transitRouter: reference('router', router, 'transit-routers'),
      }),
    };
  },
};

export const enrollmentHandlers = {
  listEnrollments: list(enrollments, (request) => {
    const { enrollment } = request.services.state.tables;
    if (isAdmin(request.identity as Identity)) return enrollment;
    return [...enrollment.values()].filter(({ identityId }) => hasPowerOver(request, identityId));
  }),
  detailEnrollment: detail,
  deleteEnrollment: remove(enrollments),
  createEnrollment,
  refreshEnrollment,
} satisfies Partial<Handlers<'management'>>;

/** Contains the enrollment token. */
function detail(request: ApiRequest<'state'>): Data<EnrollmentDetail> {
  const enrollment = find(request, 'enrollment');
  requirePowerOver(request, enrollment.identityId, OF_ADMINS);
  return { data: enrollments.show(enrollment, request.services, request) };
}

async function createEnrollment(request: ApiRequest<EnrollmentUse, EnrollmentCreate>): Promise<Data<CreateLocation>> {
  const { state, clock } = request.services;
  const { identityId, method } = request.body;
  const expires = dateOf(request.body.expiresAt);
  if (!state.tables.identity.has(identityId)) throw invalidField('identityId', 'identity not found', identityId);
  requirePowerOver(request, identityId, OF_ADMINS);
  if (expires.getTime() <= clock.now())
    throw invalidField('expiresAt', 'expiresAt must be in the future', expires.toISOString());
  const caId = request.body.caId ?? '';
  if (method === 'ottca' && !state.tables.ca.has(caId)) throw invalidField('caId', 'ca not found', caId);
  if (caId !== '' && !state.tables.ca.has(caId)) throw notFound('ca', caId);
  const username = request.body.username ?? '';
  if (method === 'updb' && username === '') throw invalidField('username', 'username not provided', username);
  const enrollment = await prepareEnrollment(request.services, {
    identityId,
    method,
    expires,
    ...(caId !== '' && { caId }),
    ...(method === 'updb' && { username }),
  });
  await state.change((transaction) => {
    existing(transaction, 'identity', identityId);
    requirePowerOver(request, identityId, OF_ADMINS);
    rejectOpenEnrollment(transaction, identityId, method);
    addEnrollment(transaction, enrollment);
  });
  return { data: created('enrollments', enrollment.signed.id) };
}

/** Issues a new token for the same enrollment and invalidates the old one. */
async function refreshEnrollment(request: ApiRequest<EnrollmentUse, EnrollmentRefresh>): Promise<Data<CreateLocation>> {
  const { state } = request.services;
  const { id, method, identityId, routerId } = withoutCause(() => find(request, 'enrollment'));
  requirePowerOver(request, identityId, OF_ADMINS);
  const expires = newExpiry(request);
  const signed = await signEnrollment(request.services, method, identityId ?? routerId ?? '', expires);
  await state.change((transaction) => {
    requirePowerOver(request, identityId, OF_ADMINS);
    replaceToken(transaction, existing(transaction, 'enrollment', id), signed);
  });
  return { data: created('enrollments', id) };
}

/** When an enrollment is to expire: `expiresAt` of the body. Throws ApiError unless that is in the future. */
export function newExpiry({ services, body }: ApiRequest<'clock', EnrollmentRefresh>): Date {
  const expires = dateOf(body.expiresAt);
  if (expires.getTime() <= services.clock.now())
    throw invalid('expiresAt', 'must be after the current date and time', expires.toISOString());
  return expires;
}
