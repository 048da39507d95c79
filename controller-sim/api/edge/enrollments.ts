// Enrollments that are open.

import { removeEnrollment } from '../../entities/enrollment.ts';
import { field } from '../http/list.ts';
import { base, reference } from '../http/references.ts';
import type { Resource } from '../http/resource.ts';
import { refuseOverAdmins, seesEnrollmentTokens } from '../http/rights.ts';
import { NEVER } from '../http/show.ts';

/** What needs more than a permission. */
export const OF_ADMINS = 'manage enrollments of admins';

export const enrollments: Resource<'enrollment'> = {
  kind: 'enrollment',
  names: { one: 'Enrollment', many: 'Enrollments' },
  symbols: (_context, request) => ({
    token: { get: (enrollment) => (seesEnrollmentTokens(request, enrollment) ? enrollment.token : undefined) },
    identity: field('identityId'),
    edgeRouter: { get: ({ method, routerId }) => (method === 'erott' ? routerId : null) },
    transitRouter: { get: ({ method, routerId }) => (method === 'trott' ? routerId : null) },
    caId: field('caId'),
  }),
  remove: (transaction, enrollment, request) => {
    refuseOverAdmins(request, enrollment.identityId, OF_ADMINS);
    removeEnrollment(transaction, enrollment);
  },
  show: (enrollment, { state: { tables } }, request) => {
    const isShown = seesEnrollmentTokens(request, enrollment);
    const { method, token, jwt, expiresAt, identityId, routerId, caId, username } = enrollment;
    const router = routerId === null ? undefined : tables.router.get(routerId);
    return {
      ...base('enrollment', enrollment),
      createdAt: NEVER,
      updatedAt: NEVER,
      method,
      token: isShown ? token : '',
      jwt: isShown ? jwt : '',
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
