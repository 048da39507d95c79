// Rules of identities and of what belongs to them.

import type { Body } from '../request/body.ts';
import { ApiError, invalid, notFound } from '../request/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Identity, Precedence, Tags } from '../state/types.ts';
import { baseFields, changedBase, removeFromPolicies, roleAttributes } from './common.ts';

const TYPES = ['User', 'Device', 'Service', 'Router', 'Default'] as const;
const PRECEDENCES = ['default', 'required', 'failed'] as const;
export const DEFAULT_AUTH_POLICY = 'default';

export function createIdentity(transaction: Transaction, id: string, body: Body): Identity {
  body.text('type', { required: true, oneOf: TYPES });
  const identity: Identity = {
    ...baseFields(transaction, id, body),
    ...identityFields(transaction, body, undefined),
    type: 'Default',
    isDefaultAdmin: false,
    disabled: false,
    disabledAt: null,
    disabledUntil: null,
    serviceConfigs: {},
  };
  transaction.put('identity', identity);
  return identity;
}

export function updateIdentity(transaction: Transaction, identity: Identity, body: Body): void {
  body.text('type', { required: true, oneOf: TYPES });
  const fields = identityFields(transaction, body, identity);
  if (identity.type === 'Router' && fields.name !== identity.name)
    throw invalid('name', 'may not change name of router identities', fields.name);
  transaction.put('identity', { ...identity, ...fields, ...changedBase(transaction, identity, body) });
}

/** The identity of a router whose tunneler is enabled has the router's id and name. */
export function routerIdentity(transaction: Transaction, id: string, name: string): Identity {
  return { ...plainIdentity(transaction, id, name), type: 'Router' };
}

/** An identity that nothing is special about. */
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
  };
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

/** With authenticators, enrollments, sessions and its place in policies. */
export function removeIdentity(transaction: Transaction, id: string): void {
  const { tables } = transaction;
  for (const { id: each } of tables.authenticator.referring('identityId', id))
    transaction.delete('authenticator', each);
  for (const { id: each } of tables.enrollment.referring('identityId', id)) transaction.delete('enrollment', each);
  for (const { id: each } of tables.apiSession.referring('identityId', id)) transaction.delete('apiSession', each);
  for (const { id: each } of tables.session.referring('identityId', id)) transaction.delete('session', each);
  removeFromPolicies(transaction, id);
  transaction.delete('identity', id);
}

function identityFields(transaction: Transaction, body: Body, current: Identity | undefined) {
  const keep = body.mode === 'patch' ? current : undefined;
  const precedence = body.text('defaultHostingPrecedence', { oneOf: PRECEDENCES }) as Precedence | undefined;
  return {
    name: identityName(transaction, body, current),
    isAdmin: body.flag('isAdmin', { required: true }) ?? keep?.isAdmin ?? false,
    externalId: externalId(transaction, body, current),
    authPolicyId: authPolicy(transaction, body, keep),
    roleAttributes: roleAttributes(body, current?.roleAttributes ?? []),
    permissions: body.texts('permissions') ?? keep?.permissions ?? null,
    defaultHostingCost: body.whole('defaultHostingCost', { from: 0, to: 65_535 }) ?? keep?.defaultHostingCost ?? 0,
    defaultHostingPrecedence: precedence ?? keep?.defaultHostingPrecedence ?? ('default' as const),
    serviceHostingCosts: perService(transaction, body, 'serviceHostingCosts', keep?.serviceHostingCosts) as Readonly<
      Record<string, number>
    >,
    serviceHostingPrecedences: perService(
      transaction,
      body,
      'serviceHostingPrecedences',
      keep?.serviceHostingPrecedences,
    ) as Readonly<Record<string, Precedence>>,
    appData: (body.map('appData') as Tags | undefined) ?? keep?.appData ?? {},
  };
}

function identityName(transaction: Transaction, body: Body, current: Identity | undefined): string {
  const name = body.text('name', { required: true });
  if (body.mode === 'patch' && !name) return current?.name ?? '';
  if (!name)
    throw new ApiError('UNHANDLED', {
      code: 'UNHANDLED',
      message: 'index on identities.name does not allow null or empty values',
    });
  const other = transaction.tables.identity.findBy('name', name);
  if (other && other.id !== current?.id)
    throw invalid('name', `duplicate value '${name}' in unique index on identities store`, name);
  return name;
}

function externalId(transaction: Transaction, body: Body, current: Identity | undefined): string | null {
  const given = body.text('externalId');
  if (given === undefined) return body.mode === 'patch' ? (current?.externalId ?? null) : null;
  if (given.trim() === '') return null;
  const other = transaction.tables.identity.findBy('externalId', given);
  if (other && other.id !== current?.id)
    throw invalid('externalId', `duplicate value '${given}' in unique index on identities store`, given);
  return given;
}

function authPolicy(transaction: Transaction, body: Body, current: Identity | undefined): string {
  const id = body.text('authPolicyId') || current?.authPolicyId || DEFAULT_AUTH_POLICY;
  if (!transaction.get('authPolicy', id)) throw notFound('authPolicy', id);
  return id;
}

function perService(
  transaction: Transaction,
  body: Body,
  name: string,
  current: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  const given = body.map(name);
  for (const id of Object.keys(given ?? {})) if (!transaction.get('service', id)) throw notFound('services', id);
  return given ?? current ?? {};
}
