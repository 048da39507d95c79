// Identities and their operations.

import { describeError } from '#lib/errors.ts';
import { DurationError, parseDuration } from '#lib/time/duration.ts';
import type {
  FailedServiceRequestList,
  IdentityDetail,
  IdentityEnrollments,
  PostureData,
  TraceDetail,
} from '#schemas/api/gen/answers.ts';
import type { DisableParams, TraceSpec } from '#schemas/api/gen/bodies.ts';
import { isAdmin } from '../../auth/permissions.ts';
import type { Body } from '../../entities/body.ts';
import { existing } from '../../entities/common.ts';
import { addEnrollment, type IdentityEnrollment, prepareEnrollment } from '../../entities/enrollment.ts';
import {
  createIdentity,
  deleteIdentity,
  disableIdentity,
  enableIdentity,
  type IdentityBody,
  isDisabled,
  updateIdentity,
} from '../../entities/identity.ts';
import { ApiError, invalid } from '../../errors/errors.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { Enrollment } from '../../state/kinds/enrollment.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import { showInterfaces } from '../answers/interfaces.ts';
import { toJson } from '../answers/json-cache.ts';
import { base, reference } from '../answers/references.ts';
import { NEVER, nullWhenEmpty } from '../answers/show.ts';
import type { ApiRequest, ApiServices, Data, Done, EnrollmentUse, Handlers } from '../operations/context.ts';
import { field, fieldSet, flagField } from '../operations/list.ts';
import { create, detail, find, list, patch, type Resource, remove, update } from '../operations/resource.ts';
import { notAllowed, requirePowerOver, seesEnrollmentTokens } from '../operations/rights.ts';
import { showPostureData } from './posture.ts';

export const IDENTITY_SYMBOLS: Symbols<Identity> = {
  name: field('name'),
  type: field('type'),
  externalId: field('externalId'),
  authPolicyId: field('authPolicyId'),
  isAdmin: flagField('isAdmin'),
  isDefaultAdmin: flagField('isDefaultAdmin'),
  roleAttributes: fieldSet('roleAttributes'),
};

export const identities: Resource<
  'identity',
  IdentityDetail,
  IdentityBody,
  'network' | 'identityJson' | EnrollmentUse,
  IdentityEnrollment | undefined
> = {
  kind: 'identity',
  symbols: IDENTITY_SYMBOLS,
  newId: ({ state }) => state.ids.short(),
  prepare: async (request, id, body) => {
    if (body.mode !== 'create') return undefined;
    checkRights(request, undefined, body);
    const { ott, ottca: caId, updb: username } = body.given.enrollment ?? {};
    if (ott === true) return prepareEnrollment(request.services, { identityId: id, method: 'ott' });
    if (caId && !request.services.state.tables.ca.has(caId))
      throw new ApiError('NOT_FOUND', { field: 'caId', reason: 'ca not found', value: caId });
    if (caId) return prepareEnrollment(request.services, { identityId: id, method: 'ottca', caId });
    if (username) return prepareEnrollment(request.services, { identityId: id, method: 'updb', username });
    return undefined;
  },
  create: (transaction, id, body, enrollment) => {
    createIdentity(transaction, id, body);
    if (enrollment) addEnrollment(transaction, enrollment);
  },
  update: (transaction, identity, body, request) => {
    checkRights(request, identity, body);
    updateIdentity(transaction, identity, body);
  },
  remove: (transaction, identity, request) => {
    checkRights(request, identity, undefined);
    deleteIdentity(transaction, identity);
  },
  show: (identity, context, request) =>
    seesEnrollmentTokens(request, { identityId: identity.id })
      ? showIdentity(identity, context)
      : withoutProofs(identity, context),
  json: identityJson,
};

/** Permissions alone never suffice to create, change or delete administrators, or to grant permissions. */
function checkRights(
  request: ApiRequest<'state'>,
  target: Identity | undefined,
  body: Body<IdentityBody> | undefined,
): void {
  const { identity: caller } = request;
  if (!caller || isAdmin(caller)) return;
  requirePowerOver(request, target?.id ?? null, 'change or delete admins');
  // reference fact: a PUT sets every field, including those that only administrators may change.
  if (body?.mode === 'update') throw notAllowed('replace identities: change single fields with PATCH');
  if (body?.given.isAdmin === true) throw notAllowed('make admins');
  const given = body?.given.permissions;
  if (given && JSON.stringify(given) !== JSON.stringify(target?.permissions ?? []))
    throw notAllowed('give permissions');
}

type IdentityComponents = Pick<ApiServices, 'state' | 'clock' | 'network'>;

/** Answers that change with time alone are not cached. */
function identityJson(
  identity: Identity,
  context: IdentityComponents & Pick<ApiServices, 'identityJson'>,
  request: ApiRequest<'state'>,
): Buffer {
  if (!seesEnrollmentTokens(request, { identityId: identity.id })) return toJson(withoutProofs(identity, context));
  const show = () => showIdentity(identity, context);
  return identity.disabledUntil === null ? context.identityJson.jsonOf(identity.id, show) : toJson(show());
}

/** Omits enrollments: only callers that may open enrollments see their tokens. */
function withoutProofs(identity: Identity, context: IdentityComponents): IdentityDetail {
  return { ...showIdentity(identity, context), enrollment: {} };
}

export function showIdentity(identity: Identity, context: IdentityComponents): IdentityDetail {
  const { tables } = context.state;
  const { serviceConfigs: _overrides, isSystem: _system, type, disabledAt, disabledUntil, ...rest } = identity;
  const own = tables.authenticator.referring('identityId', identity.id);
  const cert = own.find(({ method }) => method === 'cert');
  const updb = own.find(({ method }) => method === 'updb');
  const disabled = isDisabled(identity, context.clock.now());
  return {
    ...rest,
    ...base('identity', identity),
    permissions: nullWhenEmpty(identity.permissions ?? []),
    typeId: type,
    type: { _links: { self: { href: `./identity-types/${type}` } }, entity: 'identity-types', id: type, name: type },
    authPolicy: reference('authPolicy', tables.authPolicy.get(identity.authPolicyId)),
    authenticators: {
      ...(cert && { cert: { id: cert.id, fingerprint: cert.fingerprint } }),
      ...(updb && { updb: { id: updb.id, username: updb.username } }),
    },
    enrollment: openEnrollments(identity, context),
    // A tunneler's identity has the id of its router.
    interfaces: showInterfaces(type === 'Router' ? tables.router.get(identity.id)?.interfaces : undefined),
    isMfaEnabled: tables.mfa.referring('identityId', identity.id).some(({ isVerified }) => isVerified),
    hasApiSession: tables.apiSession.refersTo('identityId', identity.id),
    ...routerConnection(identity, context),
    disabled,
    ...(disabled && disabledAt !== null && { disabledAt }),
    ...(disabled && disabledUntil !== null && { disabledUntil }),
  };
}

function openEnrollments({ id }: Identity, { state: { tables } }: Pick<ApiServices, 'state'>): IdentityEnrollments {
  const byMethod: { -readonly [Method in keyof IdentityEnrollments]: IdentityEnrollments[Method] } = {};
  for (const enrollment of tables.enrollment.referring('identityId', id)) {
    const { method, caId } = enrollment;
    if (method === 'erott' || method === 'trott') continue; // of routers
    const ca = caId === null ? undefined : tables.ca.get(caId);
    byMethod[method] = { ...proof(enrollment), ...(method === 'ottca' && { caId, ca: reference('ca', ca) }) };
  }
  return byMethod;
}

function proof({ id, jwt, token, expiresAt }: Enrollment) {
  return { id, jwt, token, expiresAt };
}

/** A tunneler identity is online when its router is; routers report SDK identities. */
function routerConnection(
  { id, type }: Identity,
  context: Pick<ApiServices, 'network'>,
): Pick<IdentityDetail, 'hasEdgeRouterConnection' | 'edgeRouterConnectionStatus'> {
  const isOnline = type === 'Router' ? context.network.status(id).isOnline : context.network.isConnected(id);
  return { hasEdgeRouterConnection: isOnline, edgeRouterConnectionStatus: isOnline ? 'online' : 'offline' };
}

const MINUTE = 60_000;

export const identityHandlers = {
  listIdentities: list(identities),
  createIdentity: create(identities),
  detailIdentity: detail(identities),
  updateIdentity: update(identities),
  patchIdentity: patch(identities),
  deleteIdentity: remove(identities),
  disableIdentity: disable,
  enableIdentity: enable,
  updateIdentityTracing: trace,
  removeIdentityMfa: removeMfa,
  getIdentityPostureData: (request: ApiRequest<'posture' | 'state'>): Data<PostureData> => ({
    data: showPostureData(find(request, 'identity'), request.services),
  }),
  getIdentityFailedServiceRequests: (request: ApiRequest<'posture' | 'state'>): Data<FailedServiceRequestList> => ({
    data: request.services.posture.failedRequests.of(find(request, 'identity').id),
  }),
} satisfies Partial<Handlers<'management'>>;

async function disable(request: ApiRequest<'state' | 'clock', DisableParams>): Promise<Done> {
  const { state, clock } = request.services;
  const minutes = request.body.durationMinutes ?? 0;
  const until = minutes > 0 ? clock.now() + minutes * MINUTE : undefined;
  const { id } = find(request, 'identity');
  await state.change((transaction) => {
    requirePowerOver(request, id, 'disable admins');
    disableIdentity(transaction, existing(transaction, 'identity', id), until);
  });
  return { data: {} };
}

async function enable(request: ApiRequest<'state'>): Promise<Done> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) => {
    requirePowerOver(request, id, 'enable admins');
    enableIdentity(transaction, existing(transaction, 'identity', id));
  });
  return { data: {} };
}

function trace(request: ApiRequest<'network' | 'state', TraceSpec>): Data<TraceDetail> {
  const identity = find(request, 'identity');
  const { body } = request;
  const { traces } = request.services.network;
  if (!body.enabled) {
    traces.end(identity.id);
    return { data: { until: NEVER } };
  }
  const duration = readDuration(body.duration ?? '');
  return { data: traces.begin(identity.id, { duration, traceId: body.traceId ?? '' }) };
}

function readDuration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    const mistake = error instanceof DurationError ? error.mistake : describeError(error);
    throw invalid('duration', `time: ${mistake}`, text);
  }
}

async function removeMfa(request: ApiRequest<'state'>): Promise<Done> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) => {
    requirePowerOver(request, id, 'remove the second factor of admins');
    for (const mfa of transaction.tables.mfa.referring('identityId', id)) transaction.delete('mfa', mfa.id);
  });
  return { data: {} };
}
