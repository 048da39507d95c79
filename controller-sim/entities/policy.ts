// Rules of service policies, edge router policies and service edge router policies.

import type {
  EdgeRouterPolicyCreate,
  EdgeRouterPolicyPatch,
  EdgeRouterPolicyUpdate,
  ServiceEdgeRouterPolicyCreate,
  ServiceEdgeRouterPolicyPatch,
  ServiceEdgeRouterPolicyUpdate,
  ServicePolicyCreate,
  ServicePolicyPatch,
  ServicePolicyUpdate,
} from '#schemas/api/gen/bodies.ts';
import { invalid } from '../errors/errors.ts';
import type { Entity } from '../state/entity.ts';
import type { EdgeRouterPolicy } from '../state/kinds/edge-router-policy.ts';
import type { ServiceEdgeRouterPolicy } from '../state/kinds/service-edge-router-policy.ts';
import type { ServicePolicy } from '../state/kinds/service-policy.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body } from './body.ts';
import { baseFields, rejectSystem, roleLists, uniqueName } from './common.ts';
import { type Rules, rulesOfFields } from './rules.ts';

export type ServicePolicyBody = ServicePolicyCreate | ServicePolicyUpdate | ServicePolicyPatch;
export type EdgeRouterPolicyBody = EdgeRouterPolicyCreate | EdgeRouterPolicyUpdate | EdgeRouterPolicyPatch;
export type ServiceEdgeRouterPolicyBody =
  | ServiceEdgeRouterPolicyCreate
  | ServiceEdgeRouterPolicyUpdate
  | ServiceEdgeRouterPolicyPatch;

export const servicePolicyRules = rulesOfFields('servicePolicy', servicePolicyFields);
export const serviceEdgeRouterPolicyRules = rulesOfFields('serviceEdgeRouterPolicy', serviceEdgeRouterPolicyFields);

const { update: updateEdgeRouterPolicy, ...others } = rulesOfFields('edgeRouterPolicy', edgeRouterPolicyFields);

export const edgeRouterPolicyRules: Rules<'edgeRouterPolicy', EdgeRouterPolicyBody> = {
  ...others,
  update: (transaction, policy, body) => {
    rejectSystem(policy, 'edgeRouterPolicy', 'update');
    updateEdgeRouterPolicy(transaction, policy, body);
  },
  remove: (transaction, policy) => {
    rejectSystem(policy, 'edgeRouterPolicy', 'delete');
    others.remove(transaction, policy);
  },
};

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

function servicePolicyFields(
  transaction: Transaction,
  body: Body<ServicePolicyBody>,
  current: ServicePolicy | undefined,
): Omit<ServicePolicy, keyof Entity> {
  const type = body.given.type ?? current?.type;
  if (type !== 'Dial' && type !== 'Bind')
    throw invalid('policyType', "invalid policy type. valid types are 'Dial' and 'Bind'", type);
  return {
    name: uniqueName(transaction, 'servicePolicy', body, current),
    semantic: body.given.semantic ?? current?.semantic ?? 'AllOf',
    type,
    ...roleLists(transaction, 'servicePolicy', body, current),
  };
}

function edgeRouterPolicyFields(
  transaction: Transaction,
  body: Body<EdgeRouterPolicyBody>,
  current: EdgeRouterPolicy | undefined,
) {
  return {
    name: uniqueName(transaction, 'edgeRouterPolicy', body, current),
    semantic: body.given.semantic ?? current?.semantic ?? 'AllOf',
    ...roleLists(transaction, 'edgeRouterPolicy', body, current),
  };
}

function serviceEdgeRouterPolicyFields(
  transaction: Transaction,
  body: Body<ServiceEdgeRouterPolicyBody>,
  current: ServiceEdgeRouterPolicy | undefined,
) {
  return {
    name: uniqueName(transaction, 'serviceEdgeRouterPolicy', body, current),
    semantic: body.given.semantic ?? current?.semantic ?? 'AllOf',
    ...roleLists(transaction, 'serviceEdgeRouterPolicy', body, current),
  };
}
