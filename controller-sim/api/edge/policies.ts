// Service policies, edge router policies and service edge router policies.

import type { Side } from '../../access/memberships.ts';
import {
  createEdgeRouterPolicy,
  createServiceEdgeRouterPolicy,
  createServicePolicy,
  deleteEdgeRouterPolicy,
  updateEdgeRouterPolicy,
  updateServiceEdgeRouterPolicy,
  updateServicePolicy,
} from '../../entities/policy.ts';
import type { FilterSymbol } from '../../filter/compile.ts';
import type { ServicePolicy } from '../../state/types.ts';
import type { ApiServices, Handlers } from '../http/context.ts';
import { field, fieldSet, linked } from '../http/list.ts';
import { base } from '../http/references.ts';
import { crud, type Resource } from '../http/resource.ts';
import { roles } from '../http/show.ts';
import { IDENTITY_SYMBOLS } from './identities.ts';
import { serviceSymbols } from './services.ts';

/** The symbol serves one list, in which no policy changes: all terms of a filter share one copy of the members. */
function members({ access }: ApiServices, side: Side): FilterSymbol<ServicePolicy> {
  const copies = new Map<string, readonly string[]>();
  const copy = (policyId: string) => {
    const ids = [...access.membership(policyId)[side]];
    copies.set(policyId, ids);
    return ids;
  };
  return { set: ({ id }) => copies.get(id) ?? copy(id) };
}

export const servicePolicies: Resource<'servicePolicy'> = {
  kind: 'servicePolicy',
  names: { one: 'ServicePolicy', many: 'ServicePolicies' },
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
  create: createServicePolicy,
  update: updateServicePolicy,
  remove: (transaction, { id }) => transaction.delete('servicePolicy', id),
  show: (policy, { state: { tables } }) => ({
    ...base('servicePolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    type: policy.type,
    ...roles('identityRoles', policy.identityRoles, tables.identity),
    ...roles('serviceRoles', policy.serviceRoles, tables.service),
    ...roles('postureCheckRoles', policy.postureCheckRoles, tables.postureCheck),
  }),
};

export const edgeRouterPolicies: Resource<'edgeRouterPolicy'> = {
  kind: 'edgeRouterPolicy',
  names: { one: 'EdgeRouterPolicy', many: 'EdgeRouterPolicies' },
  symbols: {
    name: field('name'),
    semantic: field('semantic'),
    edgeRouterRoles: fieldSet('edgeRouterRoles'),
    identityRoles: fieldSet('identityRoles'),
  },
  create: createEdgeRouterPolicy,
  update: updateEdgeRouterPolicy,
  remove: deleteEdgeRouterPolicy,
  show: (policy, { state: { tables } }) => ({
    ...base('edgeRouterPolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    isSystem: policy.isSystem,
    ...roles('edgeRouterRoles', policy.edgeRouterRoles, tables.router),
    ...roles('identityRoles', policy.identityRoles, tables.identity),
  }),
};

export const serviceEdgeRouterPolicies: Resource<'serviceEdgeRouterPolicy'> = {
  kind: 'serviceEdgeRouterPolicy',
  names: { one: 'ServiceEdgeRouterPolicy', many: 'ServiceEdgeRouterPolicies' },
  symbols: {
    name: field('name'),
    semantic: field('semantic'),
    edgeRouterRoles: fieldSet('edgeRouterRoles'),
    serviceRoles: fieldSet('serviceRoles'),
  },
  create: createServiceEdgeRouterPolicy,
  update: updateServiceEdgeRouterPolicy,
  remove: (transaction, { id }) => transaction.delete('serviceEdgeRouterPolicy', id),
  show: (policy, { state: { tables } }) => ({
    ...base('serviceEdgeRouterPolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    ...roles('edgeRouterRoles', policy.edgeRouterRoles, tables.router),
    ...roles('serviceRoles', policy.serviceRoles, tables.service),
  }),
};

export const policyHandlers: Handlers = {
  ...crud(servicePolicies),
  ...crud(edgeRouterPolicies),
  ...crud(serviceEdgeRouterPolicies),
};
