// Routes enrollment: each method has its own path, and one path serves all methods.

import type { Jwks } from '#schemas/api/gen/answers.ts';
import type { ApiRequest, ApiServices, Handlers, Raw } from '../operations/context.ts';
import { signChallenge } from './challenge.ts';
import { type EnrollRequest, enroll, enrollByCertificate } from './enroll.ts';
import { extendRouter } from './router.ts';

export const enrollmentHandlers = {
  enroll: (request: EnrollRequest) => enroll(request, request.query.get('method') ?? undefined),
  enrollOtt: (request: EnrollRequest) => enroll(request, 'ott'),
  enrollOttCa: (request: EnrollRequest) => enroll(request, 'ottca'),
  enrollUpdb: (request: EnrollRequest) => enroll(request, 'updb'),
  enrollErOtt: (request: EnrollRequest) => enroll(request, 'erott'),
  enrollCa: enrollByCertificate,
  enrollToken: (request: EnrollRequest) => enroll(request, 'token'),
  extendRouterEnrollment: extendRouter,
  enrollmentChallenge: signChallenge,
  getEnrollmentJwks: ({ services }: ApiRequest<'authority'>) => keys(services),
} satisfies Partial<Handlers<'client'>>;

/** The keys that sign tokens, as a JWK set. */
function keys({ authority }: Pick<ApiServices, 'authority'>): Raw {
  const set: Jwks = { keys: [authority.publicJwk] };
  return { raw: JSON.stringify(set), contentType: 'application/json' };
}
