// Lists of entities below another one: the services of a policy, the routers of an identity. They are separate from the
// files of the entities, which would otherwise import each other in circles.

import type { Side } from '../../state/kind.ts';
import type { EntityTypes, MemberKind, PolicyKind } from '../../state/kinds.ts';
import type { ApiRequest, Handlers } from '../operations/context.ts';
import { policyType } from '../operations/policy-type.ts';
import { find, list } from '../operations/resource.ts';
import { hasPowerOver } from '../operations/rights.ts';
import { authenticators } from './authenticators.ts';
import { configs } from './configs.ts';
import { enrollments } from './enrollments.ts';
import { identities } from './identities.ts';
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from './policies.ts';
import { postureChecks } from './posture-checks.ts';
import { edgeRouters } from './routers.ts';
import { otherServices } from './services.ts';
import { terminators } from './terminators.ts';

const ofIdentity = {
  getIdentityAuthenticators: list(authenticators, (request) =>
    request.services.state.tables.authenticator.referring('identityId', find(request, 'identity').id),
  ),
  getIdentityEnrollments: list(enrollments, (request) => {
    const { id } = find(request, 'identity');
    return hasPowerOver(request, id) ? request.services.state.tables.enrollment.referring('identityId', id) : [];
  }),
  listIdentitysEdgeRouterPolicies: list(edgeRouterPolicies, (request) =>
    policiesOf(request, 'edgeRouterPolicy', 'left', find(request, 'identity').id),
  ),
  listIdentityServicePolicies: list(servicePolicies, (request) =>
    policiesOf(request, 'servicePolicy', 'left', find(request, 'identity').id),
  ),
  listIdentityEdgeRouters: list(edgeRouters, (request) =>
    request.services.access.routersOfIdentity(find(request, 'identity').id),
  ),
  listIdentityServices: list(otherServices, (request) =>
    request.services.access.servicesOf(find(request, 'identity').id, policyType(request)),
  ),
};

const ofService = {
  listServiceConfig: list(configs, (request) =>
    find(request, 'service').configs.flatMap((id) => request.services.state.tables.config.get(id) ?? []),
  ),
  listServiceTerminators: list(terminators, (request) =>
    request.services.state.tables.terminator.referring('serviceId', find(request, 'service').id),
  ),
  listServiceIdentities: list(identities, (request) =>
    request.services.access.identitiesOf(find(request, 'service').id, policyType(request)),
  ),
  listServiceEdgeRouters: list(edgeRouters, (request) =>
    request.services.access.routersOfService(find(request, 'service').id),
  ),
  listServiceServicePolicies: list(servicePolicies, (request) =>
    policiesOf(request, 'servicePolicy', 'right', find(request, 'service').id),
  ),
  listServiceServiceEdgeRouterPolicies: list(serviceEdgeRouterPolicies, (request) =>
    policiesOf(request, 'serviceEdgeRouterPolicy', 'left', find(request, 'service').id),
  ),
};

/** Lists of an unknown router are empty. */
const ofEdgeRouter = {
  listEdgeRouterEdgeRouterPolicies: list(edgeRouterPolicies, (request) =>
    policiesOf(request, 'edgeRouterPolicy', 'right', request.params.id ?? ''),
  ),
  listEdgeRouterServiceEdgeRouterPolicies: list(serviceEdgeRouterPolicies, (request) =>
    policiesOf(request, 'serviceEdgeRouterPolicy', 'right', request.params.id ?? ''),
  ),
  listEdgeRouterIdentities: list(identities, ({ services: { access }, params }) =>
    access.identitiesOfRouter(params.id ?? ''),
  ),
  listEdgeRouterServices: list(otherServices, ({ services: { access }, params }) =>
    access.servicesOfRouter(params.id ?? ''),
  ),
};

const ofPolicy = {
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

const ofConfig = {
  listConfigsForConfigType: list(configs, (request) =>
    request.services.state.tables.config.referring('configTypeId', find(request, 'configType').id),
  ),
  listConfigServices: list(otherServices, (request) =>
    request.services.state.tables.service.referring('configs', find(request, 'config').id),
  ),
};

export const subListHandlers = {
  ...ofIdentity,
  ...ofService,
  ...ofEdgeRouter,
  ...ofPolicy,
  ...ofConfig,
} satisfies Partial<Handlers<'management'>>;

/** The policies of a kind that select the entity on one of their sides. */
function policiesOf<K extends PolicyKind>(
  { services: { access, state } }: ApiRequest<'access' | 'state'>,
  kind: K,
  side: Side,
  entityId: string,
): EntityTypes[K][] {
  const ids = access.policiesWith(kind, side, entityId);
  return ids.flatMap((id) => state.tables[kind].get(id) ?? []);
}

/** The entities on one side of the policy that the path names. */
function members<K extends MemberKind>(
  request: ApiRequest<'access' | 'state'>,
  policy: PolicyKind,
  side: Side,
  kind: K,
): EntityTypes[K][] {
  const { access, state } = request.services;
  const ids = access.membership(find(request, policy).id)[side];
  return [...ids].flatMap((id) => state.tables[kind].get(id) ?? []);
}
