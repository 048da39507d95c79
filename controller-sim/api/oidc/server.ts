// Serves the OIDC API over HTTP: parses forms, answers with JSON or pages, and formats errors as OAuth does.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ClosedError, describeError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { ownText } from '#lib/text/own-text.ts';
import { isOidcProof } from '#schemas/api/proofs.ts';
import type { ClientStream } from '#wire/connection/tls-port.ts';
import { birthOf } from '../../auth/birth.ts';
import { type Overtaken, requireCurrent, withNewest } from '../../auth/current-data.ts';
import { presentedCertificates } from '../../auth/presented.ts';
import { headerTokens } from '../../auth/tokens/bearer-tokens.ts';
import { ApiError, LoginError } from '../../errors/errors.ts';
import { BusyError } from '../../state/state.ts';
import { StoreWriteError } from '../../state/store/store.ts';
import type { ApiServices } from '../operations/context.ts';
import { AuthRequests } from './auth-requests.ts';
import { BASE, type FullOidcRequest, OAuthError, type OidcAnswer, type OidcServices, text } from './context.ts';
import { serveLogins, withFetchedLogin } from './fetched-logins.ts';
import { OIDC_ROUTES, type OidcRoute } from './routes.ts';

/** Bytes of a body; certificate requests and tokens are the largest fields. */
const MAX_BODY_BYTES = 64 * 1024;
/** Fields in a form. */
const MAX_FIELDS = 100;

export function serveOidc(app: FastifyInstance, services: OidcServices): void {
  const { isEnabled } = services.cluster;
  const home = isEnabled ? services.controllerId : undefined;
  const requests = new AuthRequests(services.clock, services.state.ids, home);
  if (isEnabled) serveLogins(services, requests);
  for (const { method, path, handle } of OIDC_ROUTES) {
    const proves = isOidcProof(method, BASE + path);
    app.route({
      method,
      url: `${BASE}${path}`,
      bodyLimit: MAX_BODY_BYTES,
      exposeHeadRoute: method === 'GET',
      handler: async (request, reply) => {
        const answered = await answer({ handle, proves }, services, requests, request);
        const { problem } = answered;
        if (problem) request.record?.setError(problem.code, problem.reason);
        if (proves && answered.status < 300) services.io.unauthenticatedCpu.authenticated(request.raw.socket);
        return send(reply, answered);
      },
    });
  }
}

interface Served extends Pick<OidcRoute, 'handle'> {
  /** Only clients with valid credentials get a positive answer, so current data must judge them. */
  readonly proves: boolean;
}

async function answer(
  { handle, proves }: Served,
  services: OidcServices,
  requests: AuthRequests,
  request: FastifyRequest,
): Promise<OidcAnswer> {
  try {
    const asked = oidcRequestOf(services, requests, request);
    if (proves) await requireCurrent(services.state);
    return await withFetchedLogin(asked, () => withNewest(asked, OVERTAKEN, () => handle(asked)));
  } catch (error) {
    return rejection(error, services);
  }
}

/** An OAuth error rejects a token, an ApiError a login, whose identity or signer may be new. */
const OVERTAKEN: Overtaken<FullOidcRequest, ApiError | OAuthError> = {
  isUnknown: (error): error is ApiError | OAuthError =>
    (error instanceof ApiError && (error.code === 'INVALID_AUTH' || error.code === 'UNAUTHORIZED')) ||
    (error instanceof OAuthError && (error.code === 'invalid_grant' || error.code === 'access_denied')),
  birthOf: (request) => {
    const given = ['refresh_token', 'subject_token', 'token'].map((name) => text(request, name));
    return birthOf([...headerTokens(request), ...given]);
  },
  mayBeWrong: (error, _request, isBehind) => error instanceof ApiError || isBehind,
};

function oidcRequestOf(services: OidcServices, requests: AuthRequests, request: FastifyRequest): FullOidcRequest {
  const socket = request.raw.socket as ClientStream;
  const query = request.url.indexOf('?');
  return {
    services,
    requests,
    query: new URLSearchParams(query < 0 ? '' : request.url.slice(query + 1)),
    headers: request.headers,
    body: fieldsOf(request.body),
    contentType: request.headers['content-type'] ?? '',
    ...presentedCertificates(services, socket, request.headers),
    remoteAddress: socket.remoteAddress ?? '',
  };
}

/**
 * The fields of a form or of JSON. A field that occurs several times becomes a list. Throws OAuthError for too many.
 */
function fieldsOf(body: unknown): Record<string, unknown> {
  if (isMap(body)) return body;
  if (typeof body !== 'string') return {};
  const form = new URLSearchParams(body);
  if (form.size > MAX_FIELDS) throw new OAuthError('invalid_request', `the form has more than ${MAX_FIELDS} fields`);
  const fields = new Map<string, string | string[]>();
  for (const [name, given] of form) {
    const before = fields.get(name);
    const value = ownText(given); // the login keeps some of these texts; it must not retain the whole form
    fields.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(fields);
}

function rejection(error: unknown, services: Pick<ApiServices, 'log'>): OidcAnswer {
  if (error instanceof OAuthError)
    return { status: error.status, body: { error: error.code, error_description: error.message } };
  if (error instanceof ApiError) {
    const { code, status, details = {}, challenge } = error;
    if (code === 'DATA_NOT_REACHED' && 'message' in details)
      return { status, body: { error: 'temporarily_unavailable', error_description: details.message } };
    const headers = challenge === undefined ? {} : { 'www-authenticate': challenge };
    const body = { code, message: 'message' in details ? details.message : error.message };
    return { status, headers, body, ...(error instanceof LoginError && { problem: error }) };
  }
  if (error instanceof BusyError)
    return { status: 429, body: { error: 'temporarily_unavailable', error_description: error.message } };
  if (error instanceof StoreWriteError)
    services.log[error.isLogged ? 'debug' : 'error']({ error: describeError(error) }, 'a change could not be stored');
  if (error instanceof StoreWriteError || error instanceof ClosedError)
    return { status: 503, body: { error: 'temporarily_unavailable', error_description: error.message } };
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
