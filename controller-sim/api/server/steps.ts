// The steps of every request, in order: find the session, check access, record its use, validate query and body, call
// the handler. Each step throws ApiError to reject.

import { mediaType } from '#http/content-negotiation.ts';
import type { OperationId } from '#schemas/api/gen/operation-types.ts';
import { birthOf } from '../../auth/birth.ts';
import { sessionChallenge } from '../../auth/challenges.ts';
import { type Overtaken, requireCurrent, withNewest } from '../../auth/current-data.ts';
import { isPartial } from '../../auth/partial-session.ts';
import { mayCall } from '../../auth/permissions.ts';
import { type SessionComponents, sessionOf } from '../../auth/session-of.ts';
import { headerTokens } from '../../auth/tokens/bearer-tokens.ts';
import { isJson } from '../../entities/body.ts';
import { ApiError, type ApiErrorCode, invalid, unsupported } from '../../errors/errors.ts';
import { type Origin, withOrigin } from '../../state/origin.ts';
import { validateBody } from '../bodies/validate.ts';
import type { Answer, ApiRequest, FullRequest, Handler } from '../operations/context.ts';
import { checkNames } from './unknown-names.ts';

const STEPS: readonly ((request: FullRequest) => Promise<void> | void)[] = [
  findSession,
  checkAccess,
  noteActivity,
  checkAccept,
  checkQuery,
  checkHeaders,
  checkBody,
  checkNames,
];

/** The beginning of the paths of enrollments. */
const ENROLLMENT = '/enroll';
/** Types of bodies that are lists. */
const LISTS: ReadonlySet<string> = new Set(['postureResponses', 'serviceConfigsAssignList']);
const DEMANDED_HEADERS: ReadonlyMap<OperationId, string> = new Map([['enrollToken', 'Authorization']]);

/** reference fact: requests without any credentials get this cause; invalid tokens get none. */
const ANONYMOUS = { code: 'UNHANDLED', message: 'unauthenticated for invalid credentials' } as const;

/**
 * The index of the data, in each answer; and the least one, in requests of a client that knows it from another answer.
 */
export const DATA_INDEX = 'edgeweave-data-index';
const MIN_DATA_INDEX = 'edgeweave-min-data-index';
const INDEX = /^\d{1,19}$/;
const FOR_UNKNOWN: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'UNAUTHORIZED',
  'INVALID_ENROLLMENT_TOKEN',
  'INVALID_AUTH',
] satisfies ApiErrorCode[]);

const OVERTAKEN: Overtaken<FullRequest, ApiError> = {
  isUnknown: (error, request): error is ApiError =>
    error instanceof ApiError && FOR_UNKNOWN.has(error.code) && hasReference(request),
  birthOf: (request) => birthOf(headerTokens(request)),
  // A token that is older than the data has ended; what the lab names belongs to one controller.
  mayBeWrong: ({ code }, { operation, session }, isBehind) =>
    operation.api !== 'lab' && (code !== 'UNAUTHORIZED' || (session === undefined && isBehind)),
};

export async function perform(request: FullRequest, handler: Handler): Promise<Answer> {
  const min = request.headers[MIN_DATA_INDEX];
  if (min !== undefined) await waitFor(String(min), request);
  return withNewest(request, OVERTAKEN, () => performOnce(request, handler));
}

/** Requests without an id, a token or a body name nothing that another controller could know. */
function hasReference({ headers, params, body }: ApiRequest<never>): boolean {
  return !isAnonymous(headers) || body !== undefined || Object.keys(params).length > 0;
}

async function waitFor(text: string, { services: { state } }: ApiRequest<'state'>): Promise<void> {
  if (!INDEX.test(text)) throw invalid(MIN_DATA_INDEX, `${MIN_DATA_INDEX} in header must be a whole number`, text);
  if ((await state.others?.reach(BigInt(text))) !== false) return;
  const message = `the changes up to ${state.index} are here, not up to ${text} (header ${MIN_DATA_INDEX})`;
  throw new ApiError('DATA_NOT_REACHED', { code: 'UNHANDLED', message });
}

async function performOnce(request: FullRequest, handler: Handler): Promise<Answer> {
  // An attempt before may have set them.
  Object.assign(request, { session: undefined, identity: undefined, challenge: undefined, isValid: false });
  for (const step of STEPS) {
    const wait = step(request);
    if (wait) await wait;
  }
  request.isValid = true;
  // The step before has validated the body against the type for which the handler is declared.
  const checked = request as FullRequest<never>;
  if (request.operation.method === 'GET') return handler(checked);
  return withOrigin(originOf(request), () => handler(checked));
}

function originOf({ operation, identity, headers, remoteAddress }: ApiRequest<never>): Origin {
  return {
    author: identity ? { type: 'identity', id: identity.id, name: identity.name } : { type: 'unattributed' },
    source: {
      type: 'rest',
      auth: 'edge',
      localAddr: headers.host === undefined ? '' : String(headers.host),
      remoteAddr: remoteAddress,
      method: operation.method,
    },
  };
}

/** Public operations ignore invalid tokens. */
async function findSession(request: ApiRequest<keyof SessionComponents | 'labToken'>): Promise<void> {
  if (request.operation.access === 'none' || hasLabToken(request)) return;
  const found = await sessionOf(request);
  if (!found) return;
  await requireCurrent(request.services.state);
  request.session = found.session;
  request.identity = found.identity;
  request.challenge = found.challenge;
}

function checkAccess(request: ApiRequest<'labToken' | 'tokens'>): Promise<void> | void {
  const { operation, identity, session, challenge } = request;
  const { access } = operation;
  if (access === 'none' || hasLabToken(request)) return;
  if (!identity || !session) return rejectStranger(request);
  if (access !== 'partial' && isPartial(session)) throw new ApiError('UNAUTHORIZED', undefined, challenge);
  if (!mayCall(identity, access)) throw new ApiError('UNAUTHORIZED');
}

/** The lab token replaces a session, except for operations on the session itself. */
function hasLabToken(request: ApiRequest<'labToken'>): boolean {
  const { operation, services } = request;
  const { labToken } = services;
  if (operation.api !== 'lab' || operation.access === 'partial' || !labToken) return false;
  return headerTokens(request).some((token) => labToken.matches(token));
}

async function rejectStranger(request: ApiRequest<'tokens'>): Promise<void> {
  const cause = isAnonymous(request.headers) ? ANONYMOUS : undefined;
  throw new ApiError('UNAUTHORIZED', cause, await sessionChallenge(request));
}

function isAnonymous(headers: FullRequest['headers']): boolean {
  return !headers['zt-session'] && !headers.authorization;
}

/** Requests with a body are answered regardless of `accept`; see `isOfUnacceptedType`. */
function checkAccept({ operation, headers, body }: ApiRequest<never>): void {
  // reference fact: enrollments with a certificate request in PEM are not, and have an error of their own.
  const isPem = typeof body === 'string' && operation.path.startsWith(ENROLLMENT);
  if ((body !== undefined && !isPem) || acceptsAnswer(operation, headers)) return;
  if (isPem) throw new ApiError('UNSUPPORTED_MEDIA');
  const offered = [...new Set([...operation.answer.forms, 'application/json'])].join(' ');
  const reason = `unsupported media type requested, only [${offered}] are available`;
  throw new ApiError('NOT_ACCEPTABLE', { field: 'Accept', reason, value: String(headers.accept) });
}

/**
 * reference fact: an answer of a handler that the client does not accept has an empty content type, if its request had
 * a body.
 */
export function isOfUnacceptedType({ operation, headers, body }: ApiRequest<never>): boolean {
  return body !== undefined && !acceptsAnswer(operation, headers);
}

/**
 * reference fact: clients that accept JSON get other types too, where an operation has only these, and the document of
 * an API is sent to all.
 */
function acceptsAnswer({ answer }: FullRequest['operation'], { accept }: FullRequest['headers']): boolean {
  const isDocument = answer.kind === 'bare' && answer.type === 'document';
  return isDocument || mediaType(accept, ['application/json', ...answer.forms]) !== undefined;
}

function checkQuery({ operation, query }: ApiRequest<never>): void {
  for (const { name, required } of operation.query)
    if (required && !query.has(name)) throw invalid(name, `${name} in query is required`, '[]');
}

function checkHeaders({ operation, headers }: ApiRequest<never>): void {
  const name = DEMANDED_HEADERS.get(operation.id);
  if (name !== undefined && !headers[name.toLowerCase()]) throw invalid(name, `${name} in header is required`, '');
}

/** Handlers check text bodies themselves; most operations accept none. */
function checkBody(request: ApiRequest<never>): Promise<void> | void {
  const { operation, headers } = request;
  if (!operation.body) return;
  // reference fact: a null is an object without fields.
  if (request.body === null && !LISTS.has(operation.body.type)) request.body = {};
  const { body } = request;
  const contentType = headers['content-type'] ?? '';
  if (typeof body === 'string' && !isJson(String(contentType))) {
    if (operation.bodyForms.length > 0) return;
    throw unsupported(String(contentType));
  }
  const { type, optional } = operation.body;
  if (body === undefined && optional) return;
  if (body === undefined) throw invalid(operation.body.name, `${operation.body.name} in body is required`, '');
  return validateBody(type, body);
}

function noteActivity({ session, services }: ApiRequest<'activity'>): void {
  if (session) services.activity.note(session);
}
