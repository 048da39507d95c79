// Requests from web pages of other origins, and OPTIONS: preflights, and the methods of a path for other clients. There
// are no cookies, so a foreign page cannot act in a user's name.

import type { FastifyReply, FastifyRequest } from 'fastify';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'zt-session, expires-at, expiration-seconds, www-authenticate, auth-request-id, totp-required',
};
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers':
    'accept, authorization, content-type, zt-session, session-token, mfa-validation-code, x-requested-with',
  'access-control-max-age': '600',
};

/** Lets a page of another origin read the answer. */
export function allowOrigins(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.origin !== undefined) reply.headers(CORS);
}

/** Answers OPTIONS for a path with the methods `allowed`. */
export function answerOptions(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  const isPreflight = request.headers['access-control-request-method'] !== undefined;
  reply.headers({ allow: [...allowed, 'OPTIONS'].join(', '), ...(isPreflight && { ...CORS, ...PREFLIGHT }) });
  return reply.code(200).send();
}
