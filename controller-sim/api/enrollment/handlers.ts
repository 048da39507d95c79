// Routes enrollment: each method has its own path, and one path serves all methods.

import type { Jwks } from '#schemas/api/gen/answers.ts';
import type { ApiRequest, ApiServices, Handlers, Raw } from '../operations/context.ts';
import { signChallenge } from './challenge.ts';
import { enroll, enrollByCertificate } from './enroll.ts';
import type { EnrollmentBody } from './enrollment-body.ts';
import { extendRouter } from './router.ts';

export const enrollmentHandlers = {
  enroll: (request: ApiRequest<EnrollmentBody>) => enroll(request, request.query.get('method') ?? undefined),
  enrollOtt: (request: ApiRequest<EnrollmentBody>) => enroll(request, 'ott'),
  enrollOttCa: (request: ApiRequest<EnrollmentBody>) => enroll(request, 'ottca'),
  enrollUpdb: (request: ApiRequest<EnrollmentBody>) => enroll(request, 'updb'),
  enrollErOtt: (request: ApiRequest<EnrollmentBody>) => enroll(request, 'erott'),
  enrollCa: enrollByCertificate,
  enrollToken: (request: ApiRequest<EnrollmentBody>) => enroll(request, 'token'),
  extendRouterEnrollment: extendRouter,
  enrollmentChallenge: signChallenge,
  getEnrollmentJwks: ({ services }: ApiRequest) => keys(services),
} satisfies Partial<Handlers<'client'>>;

/** The keys that sign tokens, as a JWK set. */
function keys({ authority }: Pick<ApiServices, 'authority'>): Raw {
  const set: Jwks = { keys: [authority.publicJwk] };
  return { raw: JSON.stringify(set), contentType: 'application/json' };
}
