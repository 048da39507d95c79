// Routes enrollment: each method has its own path, and one path serves all methods.

import type { Answer, ApiServices, Handlers } from '../http/context.ts';
import { signChallenge } from './challenge.ts';
import { enroll, enrollByCertificate } from './enroll.ts';
import { extendRouter } from './router.ts';

export const enrollmentHandlers: Handlers = {
  enroll: (request) => enroll(request, request.query.get('method') ?? undefined),
  enrollOtt: (request) => enroll(request, 'ott'),
  enrollOttCa: (request) => enroll(request, 'ottca'),
  enrollUpdb: (request) => enroll(request, 'updb'),
  enrollErOtt: (request) => enroll(request, 'erott'),
  enrollCa: enrollByCertificate,
  enrollToken: (request) => enroll(request, 'token'),
  extendRouterEnrollment: extendRouter,
  enrollmentChallenge: signChallenge,
  getEnrollmentJwks: ({ services }) => keys(services),
};

/** The keys that sign tokens, as a JWK set. */
function keys({ authority }: ApiServices): Answer {
  return { raw: JSON.stringify({ keys: [authority.publicJwk] }), contentType: 'application/json' };
}
