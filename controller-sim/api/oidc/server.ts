// Puts the OIDC API on the HTTP server: reads forms, answers JSON or pages, and says what was wrong the way OAuth does.

import type { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { peerCertificates } from '#lib/certificates.ts';
import { describeError } from '#lib/errors.ts';
import type { ApiServices } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import { AuthRequests } from './auth-requests.ts';
import { BASE, OAuthError, type OidcAnswer, type OidcRequest } from './context.ts';
import { OIDC_ROUTES, type OidcRoute } from './routes.ts';

export function serveOidc(app: FastifyInstance, services: ApiServices): void {
  const requests = new AuthRequests(services.clock, services.state.ids);
  for (const route of OIDC_ROUTES) {
    app.route({
      method: route.method,
      url: `${BASE}${route.path}`,
      handler: async (request, reply) => send(reply, await answer(route, services, requests, request)),
    });
  }
}

async function answer(
  { handle }: OidcRoute,
  services: ApiServices,
  requests: AuthRequests,
  request: FastifyRequest,
): Promise<OidcAnswer> {
  const socket = request.raw.socket as TLSSocket;
  const query = request.url.indexOf('?');
  const oidcRequest: OidcRequest = {
    services,
    requests,
    query: new URLSearchParams(query < 0 ? '' : request.url.slice(query + 1)),
    headers: request.headers,
    body: fieldsOf(request.body),
    contentType: request.headers['content-type'] ?? '',
    certificates: peerCertificates(socket),
    remoteAddress: socket.remoteAddress ?? '',
  };
  try {
    return await handle(oidcRequest);
  } catch (error) {
    return refusal(error, services);
  }
}

/** Of a form or of JSON. A field that comes several times is a list. */
function fieldsOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  if (typeof body !== 'string') return {};
  const form = new URLSearchParams(body);
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const values = form.getAll(name);
      return [name, values.length > 1 ? values : (values[0] ?? '')];
    }),
  );
}

function refusal(error: unknown, services: ApiServices): OidcAnswer {
  if (error instanceof OAuthError)
    return { status: error.status, body: { error: error.code, error_description: error.message } };
  if (error instanceof ApiError) {
    const { code, status, details = {} } = error;
    return { status, body: { code, message: 'message' in details ? details.message : error.message } };
  }
  services.log.error({ error: describeError(error), stack: (error as Error).stack }, 'login failed');
  return { status: 500, body: { error: 'server_error', error_description: 'an unhandled error occurred' } };
}

function send(reply: FastifyReply, { status, headers, body }: OidcAnswer): FastifyReply {
  const isText = typeof body === 'string';
  return reply
    .code(status)
    .headers({ 'content-type': isText ? 'text/html; charset=utf-8' : 'application/json', ...headers })
    .send(isText ? body : JSON.stringify(body));
}
