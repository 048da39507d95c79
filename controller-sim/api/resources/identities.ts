// Identities.

import { addEnrollment, type IdentityEnrollment, prepareEnrollment } from '../../enrollment/enrollments.ts';
import { createIdentity, deleteIdentity, isDisabled, updateIdentity } from '../../entities/identity.ts';
import type { Symbols } from '../../filter/compile.ts';
import { isAdmin } from '../../request/access.ts';
import type { Body } from '../../request/body.ts';
import type { ApiRequest, ApiServices } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import type { Enrollment, Identity } from '../../state/types.ts';
import { field, fieldSet, flagField } from '../list.ts';
import { base, reference } from '../references.ts';
import type { Resource } from '../resource.ts';
import { notAllowed, refuseOverAdmins, seesEnrollmentTokens } from '../shared/rights.ts';
import { nullWhenEmpty } from '../show.ts';

export const IDENTITY_SYMBOLS: Symbols<Identity> = {
  name: field('name'),
  type: field('type'),
  externalId: field('externalId'),
  authPolicyId: field('authPolicyId'),
  isAdmin: flagField('isAdmin'),
  isDefaultAdmin: flagField('isDefaultAdmin'),
  roleAttributes: fieldSet('roleAttributes'),
};

export const identities: Resource<'identity', IdentityEnrollment | undefined> = {
  kind: 'identity',
  names: { one: 'Identity', many: 'Identities' },
  symbols: IDENTITY_SYMBOLS,
  newId: ({ state }) => state.ids.short(),
  prepare: async (request, id, body) => {
    if (body.mode !== 'create') return undefined;
    refuseRights(request, undefined, body);
    const wanted = body.part('enrollment');
    if (wanted.flag('ott') === true) return prepareEnrollment(request.services, { identityId: id, method: 'ott' });
    const caId = wanted.text('ottca');
    if (caId && !request.services.state.tables.ca.has(caId))
      throw new ApiError('NOT_FOUND', { field: 'caId', reason: 'ca not found', value: caId });
    if (caId) return prepareEnrollment(request.services, { identityId: id, method: 'ottca', caId });
    const username = wanted.text('updb');
    if (username) return prepareEnrollment(request.services, { identityId: id, method: 'updb', username });
    return undefined;
  },
  create: (transaction, id, body, enrollment) => {
    createIdentity(transaction, id, body);
    if (enrollment) addEnrollment(transaction, enrollment);
  },
  update: (transaction, identity, body, request) => {
    refuseRights(request, identity, body);
    updateIdentity(transaction, identity, body);
  },
  remove: (transaction, identity, request) => {
    refuseRights(request, identity, undefined);
    deleteIdentity(transaction, identity);
  },
  show: (identity, context, request) =>
    seesEnrollmentTokens(request, { identityId: identity.id })
      ? showIdentity(identity, context)
      : withoutProofs(identity, context),
  text: identityText,
};

/** Permissions alone let nobody make, change or delete administrators, or hand out permissions. */
function refuseRights(request: ApiRequest, target: Identity | undefined, body: Body | undefined): void {
  const { identity: caller } = request;
  if (!caller || isAdmin(caller)) return;
  refuseOverAdmins(request, target?.id ?? null, 'change or delete admins');
  // reference fact: a PUT sets every field, those too that only administrators may change.
  if (body?.mode === 'update') throw notAllowed('replace identities: change single fields with PATCH');
  if (body?.flag('isAdmin') === true) throw notAllowed('make admins');
  const given = body?.texts('permissions');
  if (given && JSON.stringify(given) !== JSON.stringify(target?.permissions ?? []))
    throw notAllowed('give permissions');
}

/** What changes with time alone is not kept. */
function identityText(identity: Identity, context: ApiServices, request: ApiRequest): string {
  if (!seesEnrollmentTokens(request, { identityId: identity.id }))
    return JSON.stringify(withoutProofs(identity, context));
  const make = () => JSON.stringify(showIdentity(identity, context));
  return identity.disabledUntil === null ? context.shownIdentities.textOf(identity.id, make) : make();
}

/** Leaves out enrollments: their tokens are for callers that may open them. */
function withoutProofs(identity: Identity, context: ApiServices): Record<string, unknown> {
  return { ...showIdentity(identity, context), enrollment: {} };
}

export function showIdentity(identity: Identity, context: ApiServices): Record<string, unknown> {
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
    interfaces: null,
    isMfaEnabled: tables.mfa.referring('identityId', identity.id).some(({ isVerified }) => isVerified),
    hasApiSession: tables.apiSession.refersTo('identityId', identity.id),
    ...routerConnection(identity, context),
    disabled,
    ...(disabled && disabledAt !== null && { disabledAt }),
    ...(disabled && disabledUntil !== null && { disabledUntil }),
  };
}

function openEnrollments({ id }: Identity, { state: { tables } }: ApiServices): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const enrollment of tables.enrollment.referring('identityId', id)) {
    const { method, caId } = enrollment;
    const ca = caId === null ? undefined : tables.ca.get(caId);
    shown[method] = { ...proof(enrollment), ...(method === 'ottca' && { caId, ca: reference('ca', ca) }) };
  }
  return shown;
}

function proof({ id, jwt, token, expiresAt }: Enrollment): Record<string, unknown> {
  return { id, jwt, token, expiresAt };
}

/** The identity of a tunneler is connected by its router; of SDKs the routers tell. */
function routerConnection({ id, type }: Identity, context: ApiServices): Record<string, unknown> {
  const isOnline = type === 'Router' ? context.network.status(id).isOnline : context.network.isConnected(id);
  return { hasEdgeRouterConnection: isOnline, edgeRouterConnectionStatus: isOnline ? 'online' : 'offline' };
}
