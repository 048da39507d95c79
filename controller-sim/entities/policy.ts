// Rules of service policies, edge router policies and service edge router policies.

import { invalid } from '../errors/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { EdgeRouterPolicy, Entity, Semantic, ServiceEdgeRouterPolicy, ServicePolicy } from '../state/types.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, rejectSystem, roleLists, uniqueName } from './common.ts';

export function createServicePolicy(transaction: Transaction, id: string, body: Body): void {
  transaction.put('servicePolicy', {
    ...baseFields(transaction, id, body),
    ...servicePolicyFields(transaction, body, undefined),
  });
}

export function updateServicePolicy(transaction: Transaction, policy: ServicePolicy, body: Body): void {
  transaction.put('servicePolicy', {
    ...servicePolicyFields(transaction, body, policy),
    ...changedBase(transaction, policy, body),
  });
}

export function createEdgeRouterPolicy(transaction: Transaction, id: string, body: Body): void {
  transaction.put('edgeRouterPolicy', {
    ...baseFields(transaction, id, body),
    ...edgeRouterPolicyFields(transaction, body, undefined),
  });
}

export function updateEdgeRouterPolicy(transaction: Transaction, policy: EdgeRouterPolicy, body: Body): void {
  rejectSystem(policy, 'edgeRouterPolicy', 'update');
  transaction.put('edgeRouterPolicy', {
    ...edgeRouterPolicyFields(transaction, body, policy),
    ...changedBase(transaction, policy, body),
  });
}

export function deleteEdgeRouterPolicy(transaction: Transaction, policy: EdgeRouterPolicy): void {
  rejectSystem(policy, 'edgeRouterPolicy', 'delete');
  transaction.delete('edgeRouterPolicy', policy.id);
}

export function createServiceEdgeRouterPolicy(transaction: Transaction, id: string, body: Body): void {
  transaction.put('serviceEdgeRouterPolicy', {
    ...baseFields(transaction, id, body),
    ...serviceEdgeRouterPolicyFields(transaction, body, undefined),
  });
}

export function updateServiceEdgeRouterPolicy(
  transaction: Transaction,
  policy: ServiceEdgeRouterPolicy,
  body: Body,
): void {
  transaction.put('serviceEdgeRouterPolicy', {
    ...serviceEdgeRouterPolicyFields(transaction, body, policy),
    ...changedBase(transaction, policy, body),
  });
}

/** The policy with which the identity of a tunneler may use its own router. */
export function systemRouterPolicy(transaction: Transaction, routerId: string): EdgeRouterPolicy {
  return {
    ...baseFields(transaction, routerId),
    isSystem: true,
    name: `edge-router-${routerId}-system`,
    semantic: 'AnyOf',
    edgeRouterRoles: [`@${routerId}`],
    identityRoles: [`@${routerId}`],
  };
}

function semantic(body: Body, current: Semantic | undefined): Semantic {
  return (body.text('semantic') as Semantic | undefined) ?? current ?? 'AllOf';
}

function servicePolicyFields(
  transaction: Transaction,
  body: Body,
  current: ServicePolicy | undefined,
): Omit<ServicePolicy, keyof Entity> {
  const type = body.text('type') ?? current?.type;
  if (type !== 'Dial' && type !== 'Bind')
    throw invalid('policyType', "invalid policy type. valid types are 'Dial' and 'Bind'", type);
  return {
    name: uniqueName(transaction, 'servicePolicy', body, current),
    semantic: semantic(body, current?.semantic),
    type,
    ...roleLists(transaction, body, ['identityRoles', 'serviceRoles', 'postureCheckRoles'], current),
  };
}

function edgeRouterPolicyFields(transaction: Transaction, body: Body, current: EdgeRouterPolicy | undefined) {
  return {
    name: uniqueName(transaction, 'edgeRouterPolicy', body, current),
    semantic: semantic(body, current?.semantic),
    ...roleLists(transaction, body, ['identityRoles', 'edgeRouterRoles'], current),
  };
}

function serviceEdgeRouterPolicyFields(
  transaction: Transaction,
  body: Body,
  current: ServiceEdgeRouterPolicy | undefined,
) {
  return {
    name: uniqueName(transaction, 'serviceEdgeRouterPolicy', body, current),
    semantic: semantic(body, current?.semantic),
    ...roleLists(transaction, body, ['serviceRoles', 'edgeRouterRoles'], current),
  };
}
