// The three kinds of policies that join entities by selectors. Edge router policies of the system are left out.

import {
  createEdgeRouterPolicy,
  createServiceEdgeRouterPolicy,
  createServicePolicy,
  deleteEdgeRouterPolicy,
  updateEdgeRouterPolicy,
  updateServiceEdgeRouterPolicy,
  updateServicePolicy,
} from '../../../entities/policy.ts';
import { roles, type Section } from '../section.ts';

export const servicePolicies: Section<'servicePolicy'> = {
  kind: 'servicePolicy',
  bodyType: 'servicePolicyCreate',
  body: (entry, refer) => ({
    ...entry,
    identityRoles: roles('identity', entry.identityRoles, ['identityRoles'], refer),
    serviceRoles: roles('service', entry.serviceRoles, ['serviceRoles'], refer),
    postureCheckRoles: roles('postureCheck', entry.postureCheckRoles, ['postureCheckRoles'], refer),
  }),
  create: createServicePolicy,
  update: updateServicePolicy,
  entry: (policy, names) => ({
    identityRoles: names.roles('identity', policy.identityRoles),
    postureCheckRoles: names.roles('postureCheck', policy.postureCheckRoles),
    semantic: policy.semantic,
    serviceRoles: names.roles('service', policy.serviceRoles),
    type: policy.type,
  }),
};

export const edgeRouterPolicies: Section<'edgeRouterPolicy'> = {
  kind: 'edgeRouterPolicy',
  bodyType: 'edgeRouterPolicyCreate',
  body: (entry, refer) => ({
    ...entry,
    identityRoles: roles('identity', entry.identityRoles, ['identityRoles'], refer),
    edgeRouterRoles: roles('router', entry.edgeRouterRoles, ['edgeRouterRoles'], refer),
  }),
  create: createEdgeRouterPolicy,
  update: updateEdgeRouterPolicy,
  remove: deleteEdgeRouterPolicy,
  isExported: ({ isSystem }) => !isSystem,
  entry: (policy, names) => ({
    edgeRouterRoles: names.roles('router', policy.edgeRouterRoles),
    identityRoles: names.roles('identity', policy.identityRoles),
    semantic: policy.semantic,
  }),
};

export const serviceEdgeRouterPolicies: Section<'serviceEdgeRouterPolicy'> = {
  kind: 'serviceEdgeRouterPolicy',
  bodyType: 'serviceEdgeRouterPolicyCreate',
  body: (entry, refer) => ({
    ...entry,
    serviceRoles: roles('service', entry.serviceRoles, ['serviceRoles'], refer),
    edgeRouterRoles: roles('router', entry.edgeRouterRoles, ['edgeRouterRoles'], refer),
  }),
  create: createServiceEdgeRouterPolicy,
  update: updateServiceEdgeRouterPolicy,
  entry: (policy, names) => ({
    edgeRouterRoles: names.roles('router', policy.edgeRouterRoles),
    semantic: policy.semantic,
    serviceRoles: names.roles('service', policy.serviceRoles),
  }),
};
