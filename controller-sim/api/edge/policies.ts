// Service policies, edge router policies and service edge router policies.

import type {
  EdgeRouterPolicyDetail,
  ServiceEdgeRouterPolicyDetail,
  ServicePolicyDetail,
} from '#schemas/api/gen/answers.ts';
import {
  type EdgeRouterPolicyBody,
  edgeRouterPolicyRules,
  type ServiceEdgeRouterPolicyBody,
  type ServicePolicyBody,
  serviceEdgeRouterPolicyRules,
  servicePolicyRules,
} from '../../entities/policy.ts';
import type { FilterSymbol } from '../../filter/compile.ts';
import type { Side } from '../../state/kind.ts';
import type { ServicePolicy } from '../../state/kinds/service-policy.ts';
import { base } from '../answers/references.ts';
import { displayed, nullWhenEmpty } from '../answers/show.ts';
import type { ApiServices, Handlers } from '../operations/context.ts';
import { field, fieldSet, linked } from '../operations/list.ts';
import { create, detail, list, patch, type Resource, remove, update } from '../operations/resource.ts';
import { IDENTITY_SYMBOLS } from './identities.ts';
import { serviceSymbols } from './services.ts';

/** The symbol serves one list, in which no policy changes: all terms of a filter share one copy of the members. */
function members({ access }: Pick<ApiServices, 'access'>, side: Side): FilterSymbol<ServicePolicy> {
  const copies = new Map<string, readonly string[]>();
  const copy = (policyId: string) => {
    const ids = [...access.membership(policyId)[side]];
    copies.set(policyId, ids);
    return ids;
  };
  return { set: ({ id }) => copies.get(id) ?? copy(id) };
}

export const servicePolicies: Resource<'servicePolicy', ServicePolicyDetail, ServicePolicyBody, 'access' | 'state'> = {
  ...servicePolicyRules,
  symbols: (context) => ({
    name: field('name'),
    type: field('type'),
    semantic: field('semantic'),
    identityRoles: fieldSet('identityRoles'),
    serviceRoles: fieldSet('serviceRoles'),
    postureCheckRoles: fieldSet('postureCheckRoles'),
    identities: linked(members(context, 'left'), context.state.tables.identity, () => IDENTITY_SYMBOLS),
    services: linked(members(context, 'right'), context.state.tables.service, () => serviceSymbols(context)),
  }),
  show: (policy, { state: { tables } }): ServicePolicyDetail => ({
    ...base('servicePolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    type: policy.type,
    identityRoles: nullWhenEmpty(policy.identityRoles),
    identityRolesDisplay: displayed(policy.identityRoles, tables.identity),
    serviceRoles: nullWhenEmpty(policy.serviceRoles),
    serviceRolesDisplay: displayed(policy.serviceRoles, tables.service),
    postureCheckRoles: nullWhenEmpty(policy.postureCheckRoles),
    postureCheckRolesDisplay: displayed(policy.postureCheckRoles, tables.postureCheck),
  }),
};

export const edgeRouterPolicies: Resource<'edgeRouterPolicy', EdgeRouterPolicyDetail, EdgeRouterPolicyBody, 'state'> = {
  ...edgeRouterPolicyRules,
  symbols: {
    name: field('name'),
    semantic: field('semantic'),
    edgeRouterRoles: fieldSet('edgeRouterRoles'),
    identityRoles: fieldSet('identityRoles'),
  },
  show: (policy, { state: { tables } }): EdgeRouterPolicyDetail => ({
    ...base('edgeRouterPolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    isSystem: policy.isSystem,
    edgeRouterRoles: nullWhenEmpty(policy.edgeRouterRoles),
    edgeRouterRolesDisplay: displayed(policy.edgeRouterRoles, tables.router),
    identityRoles: nullWhenEmpty(policy.identityRoles),
    identityRolesDisplay: displayed(policy.identityRoles, tables.identity),
  }),
};

export const serviceEdgeRouterPolicies: Resource<
  'serviceEdgeRouterPolicy',
  ServiceEdgeRouterPolicyDetail,
  ServiceEdgeRouterPolicyBody,
  'state'
> = {
  ...serviceEdgeRouterPolicyRules,
  symbols: {
    name: field('name'),
    semantic: field('semantic'),
    edgeRouterRoles: fieldSet('edgeRouterRoles'),
    serviceRoles: fieldSet('serviceRoles'),
  },
  show: (policy, { state: { tables } }): ServiceEdgeRouterPolicyDetail => ({
    ...base('serviceEdgeRouterPolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    edgeRouterRoles: nullWhenEmpty(policy.edgeRouterRoles),
    edgeRouterRolesDisplay: displayed(policy.edgeRouterRoles, tables.router),
    serviceRoles: nullWhenEmpty(policy.serviceRoles),
    serviceRolesDisplay: displayed(policy.serviceRoles, tables.service),
  }),
};

export const policyHandlers = {
  listServicePolicies: list(servicePolicies),
  createServicePolicy: create(servicePolicies),
  detailServicePolicy: detail(servicePolicies),
  updateServicePolicy: update(servicePolicies),
  patchServicePolicy: patch(servicePolicies),
  deleteServicePolicy: remove(servicePolicies),
  listEdgeRouterPolicies: list(edgeRouterPolicies),
  createEdgeRouterPolicy: create(edgeRouterPolicies),
  detailEdgeRouterPolicy: detail(edgeRouterPolicies),
  updateEdgeRouterPolicy: update(edgeRouterPolicies),
  patchEdgeRouterPolicy: patch(edgeRouterPolicies),
  deleteEdgeRouterPolicy: remove(edgeRouterPolicies),
  listServiceEdgeRouterPolicies: list(serviceEdgeRouterPolicies),
  createServiceEdgeRouterPolicy: create(serviceEdgeRouterPolicies),
  detailServiceEdgeRouterPolicy: detail(serviceEdgeRouterPolicies),
  updateServiceEdgeRouterPolicy: update(serviceEdgeRouterPolicies),
  patchServiceEdgeRouterPolicy: patch(serviceEdgeRouterPolicies),
  deleteServiceEdgeRouterPolicy: remove(serviceEdgeRouterPolicies),
} satisfies Partial<Handlers<'management'>>;
