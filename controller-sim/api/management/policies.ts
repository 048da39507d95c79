// Policies, and who and what each of them joins.

import type { MemberKind, PolicyKind, Side } from '../../access/memberships.ts';
import type { EntityTypes } from '../../state/types.ts';
import { identities } from '../edge/identities.ts';
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../edge/policies.ts';
import { postureChecks } from '../edge/posture-checks.ts';
import { edgeRouters } from '../edge/routers.ts';
import { otherServices } from '../edge/services.ts';
import type { ApiRequest, Handlers } from '../http/context.ts';
import { crud, find, list } from '../http/resource.ts';

export const policyHandlers: Handlers = {
  ...crud(servicePolicies),
  ...crud(edgeRouterPolicies),
  ...crud(serviceEdgeRouterPolicies),
  listServicePolicyIdentities: list(identities, (request) => members(request, 'servicePolicy', 'left', 'identity')),
  listServicePolicyServices: list(otherServices, (request) => members(request, 'servicePolicy', 'right', 'service')),
  listServicePolicyPostureChecks: list(postureChecks, (request) =>
    request.services.access.checksOf(find(request, 'servicePolicy')),
  ),
  listEdgeRouterPolicyIdentities: list(identities, (request) =>
    members(request, 'edgeRouterPolicy', 'left', 'identity'),
  ),
  listEdgeRouterPolicyEdgeRouters: list(edgeRouters, (request) =>
    members(request, 'edgeRouterPolicy', 'right', 'router'),
  ),
  listServiceEdgeRouterPolicyServices: list(otherServices, (request) =>
    members(request, 'serviceEdgeRouterPolicy', 'left', 'service'),
  ),
  listServiceEdgeRouterPolicyEdgeRouters: list(edgeRouters, (request) =>
    members(request, 'serviceEdgeRouterPolicy', 'right', 'router'),
  ),
};

/** What stands on a side of the policy that the path names. */
function members<K extends MemberKind>(request: ApiRequest, policy: PolicyKind, side: Side, kind: K): EntityTypes[K][] {
  const { access, state } = request.services;
  const ids = access.membership(find(request, policy).id)[side];
  return [...ids].flatMap((id) => (state.tables[kind].get(id) as EntityTypes[K] | undefined) ?? []);
}
