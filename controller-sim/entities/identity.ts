// Rules of identities and their dependents.

import { timeText } from '#lib/time/duration.ts';
import type { IdentityCreate, IdentityPatch, IdentityUpdate } from '#schemas/api/gen/bodies.ts';
import { ApiError, badRequest, invalid, notFound } from '../errors/errors.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { Transaction } from '../state/transaction.ts';
import { endApiSessions } from './api-session.ts';
import { type Body, precedenceOf } from './body.ts';
import { detachAll } from './cascade.ts';
import { baseFields, changedBase, requireUnique, roleAttributes } from './common.ts';
import { revocationOf } from './revocation.ts';
import { rules } from './rules.ts';

export type IdentityBody = IdentityCreate | IdentityUpdate | IdentityPatch;

export const DEFAULT_AUTH_POLICY = 'default';

export function createIdentity(transaction: Transaction, id: string, body: Body<IdentityBody>): void {
  const identity: Identity = {
    ...baseFields(transaction, id, body),
    ...identityFields(transaction, body, undefined),
    type: 'Default',
    isDefaultAdmin: false,
    disabled: false,
    disabledAt: null,
    disabledUntil: null,
    serviceConfigs: {},
    envInfo: {},
    sdkInfo: {},
  };
  transaction.put('identity', identity);
}

export function updateIdentity(transaction: Transaction, identity: Identity, body: Body<IdentityBody>): void {
  const fields = identityFields(transaction, body, identity);
  if (identity.type === 'Router' && fields.name !== identity.name)
    throw invalid('name', 'may not change name of router identities', fields.name);
  transaction.put('identity', { ...identity, ...fields, ...changedBase(transaction, identity, body) });
}

/** The identity of a router with an enabled tunneler has the router's id and name. */
export function routerIdentity(transaction: Transaction, id: string, name: string): Identity {
  return { ...plainIdentity(transaction, id, name), type: 'Router' };
}

/** An identity with default fields. */
export function plainIdentity(transaction: Transaction, id: string, name: string): Identity {
  return {
    ...baseFields(transaction, id),
    name,
    type: 'Default',
    isAdmin: false,
    isDefaultAdmin: false,
    externalId: null,
    authPolicyId: DEFAULT_AUTH_POLICY,
    roleAttributes: [],
    permissions: null,
    defaultHostingCost: 0,
    defaultHostingPrecedence: 'default',
    serviceHostingCosts: {},
    serviceHostingPrecedences: {},
    appData: {},
    serviceConfigs: {},
    disabled: false,
    disabledAt: null,
    disabledUntil: null,
    envInfo: {},
    sdkInfo: {},
  };
}

/** Appends a number to a name that is in use. */
export function freeName(transaction: Transaction, wanted: string): string {
  let name = wanted;
  for (let count = 1; transaction.tables.identity.findBy('name', name); count++)
    name = `${wanted}${String(count).padStart(6, '0')}`;
  return name;
}

/** Disables it until `until` (milliseconds) or until it is enabled again, and ends its API sessions. */
export function disableIdentity(transaction: Transaction, identity: Identity, until: number | undefined): void {
  endApiSessions(transaction, 'identityId', identity.id);
  if (!identity.disabled) revokeTokens(transaction, identity.id);
  transaction.patch('identity', identity.id, {
    disabled: true,
    disabledAt: transaction.now,
    disabledUntil: until === undefined ? null : timeText(until),
  });
}

export function enableIdentity(transaction: Transaction, identity: Identity): void {
  transaction.patch('identity', identity.id, { disabled: false, disabledAt: null, disabledUntil: null });
}

/** Whether the identity is disabled at a time in milliseconds. */
export function isDisabled({ disabled, disabledUntil }: Identity, now: number): boolean {
  return disabled && (disabledUntil === null || now < Date.parse(disabledUntil));
}

export function deleteIdentity(transaction: Transaction, identity: Identity): void {
  if (identity.isDefaultAdmin) throw new ApiError('ENTITY_CAN_NOT_BE_DELETED');
  if (identity.type === 'Router' && transaction.get('router', identity.id)) {
    throw new ApiError('ENTITY_CAN_NOT_BE_DELETED', {
      code: 'UNHANDLED',
      message: `cannot delete router identity ${identity.name} until associated router is deleted`,
    });
  }
  removeIdentity(transaction, identity.id);
}

export const identityRules = rules('identity', {
  create: createIdentity,
  update: updateIdentity,
  remove: deleteIdentity,
});

/** Tokens are not stored: those issued so far must stay invalid if the identity is enabled or created again. */
function revokeTokens(transaction: Transaction, id: string): void {
  transaction.put('revocation', revocationOf(transaction, id, 'IDENTITY'));
}

/** Removes its authenticators, enrollments, sessions and policy selectors as well. */
export function removeIdentity(transaction: Transaction, id: string): void {
  requireRemovable(transaction, id);
  detachAll(transaction, 'identity', id);
  revokeTokens(transaction, id);
  transaction.delete('identity', id);
}

/**
 * reference fact: an identity with role attributes and with a cost or precedence for a deleted service cannot be
 * deleted. A script that fails there has to fail here, too.
 */
function requireRemovable(transaction: Transaction, id: string): void {
  const identity = transaction.get('identity', id);
  if (!identity || identity.roleAttributes.length === 0) return;
  for (const key of ['serviceHostingCosts', 'serviceHostingPrecedences'] as const)
    for (const service of Object.keys(identity[key]))
      if (!transaction.get('service', service))
        throw new ApiError('NOT_FOUND', {
          code: 'UNHANDLED',
          message: `${key} of the identity ${identity.name} (${id}) names the deleted service ${service}; remove it from ${key}, or remove the role attributes, before you delete the identity`,
        });
}

function identityFields(transaction: Transaction, body: Body<IdentityBody>, current: Identity | undefined) {
  const keep = body.kept(current);
  const { given } = body;
  return {
    name: identityName(transaction, body, current),
    isAdmin: given.isAdmin ?? keep?.isAdmin ?? false,
    externalId: externalId(transaction, body, current),
    authPolicyId: authPolicy(transaction, body, keep),
    roleAttributes: roleAttributes(body, current?.roleAttributes ?? []),
    permissions: (given.permissions ? sortedSet(given.permissions) : keep?.permissions) ?? null,
    defaultHostingCost: given.defaultHostingCost ?? keep?.defaultHostingCost ?? 0,
    defaultHostingPrecedence:
      precedenceOf(given.defaultHostingPrecedence) ?? keep?.defaultHostingPrecedence ?? ('default' as const),
    serviceHostingCosts: perService(transaction, given.serviceHostingCosts, keep?.serviceHostingCosts),
    serviceHostingPrecedences: perService(
      transaction,
      given.serviceHostingPrecedences,
      keep?.serviceHostingPrecedences,
    ),
    appData: given.appData ?? keep?.appData ?? {},
  };
}

function identityName(transaction: Transaction, body: Body<IdentityBody>, current: Identity | undefined): string {
  const { name } = body.given;
  if (body.mode === 'patch' && !name) return current?.name ?? '';
  if (!name) throw badRequest('index on identities.name does not allow null or empty values');
  requireUnique(transaction, 'identity', 'name', name, current);
  return name;
}

function externalId(transaction: Transaction, body: Body<IdentityBody>, current: Identity | undefined): string | null {
  const given = body.given.externalId ?? undefined;
  if (given === undefined) return body.kept(current)?.externalId ?? null;
  if (given.trim() === '') return null;
  requireUnique(transaction, 'identity', 'externalId', given, current);
  return given;
}

function authPolicy(transaction: Transaction, { given }: Body<IdentityBody>, current: Identity | undefined): string {
  const id = given.authPolicyId || current?.authPolicyId || DEFAULT_AUTH_POLICY;
  if (!transaction.get('authPolicy', id)) throw notFound('authPolicy', id);
  return id;
}

function perService<T>(
  transaction: Transaction,
  given: Readonly<Record<string, T>> | null | undefined,
  current: Readonly<Record<string, T>> | undefined,
): Readonly<Record<string, T>> {
  for (const id of Object.keys(given ?? {})) if (!transaction.get('service', id)) throw notFound('services', id);
  return given ?? current ?? {};
}

/** Sorted and deduplicated, as the reference stores permissions. */
function sortedSet(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}
