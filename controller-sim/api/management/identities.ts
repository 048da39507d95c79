// Identities, and everything below one.

import { parseDuration } from '#lib/duration.ts';
import { describeError } from '#lib/errors.ts';
import { existing } from '../../entities/common.ts';
import { disableIdentity, enableIdentity } from '../../entities/identity.ts';
import { associateConfigs, disassociateConfigs } from '../../entities/service-configs.ts';
import { Body } from '../../request/body.ts';
import type { Answer, ApiRequest, Handlers } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { reference } from '../references.ts';
import { crud, find, list } from '../resource.ts';
import { authenticators } from '../resources/authenticators.ts';
import { enrollments } from '../resources/enrollments.ts';
import { identities } from '../resources/identities.ts';
import { edgeRouterPolicies, servicePolicies } from '../resources/policies.ts';
import { showPostureData } from '../resources/posture.ts';
import { edgeRouters } from '../resources/routers.ts';
import { otherServices } from '../resources/services.ts';
import { hasPowerOver, refuseOverAdmins } from '../shared/rights.ts';
import { NEVER, nullWhenEmpty } from '../show.ts';

const MINUTE = 60_000;

const ownPolicies = (kind: 'servicePolicy' | 'edgeRouterPolicy') => (request: ApiRequest) =>
  request.services.access.policiesWith(kind, 'left', find(request, 'identity').id);

export const identityHandlers: Handlers = {
  ...crud(identities),
  getIdentityAuthenticators: list(authenticators, (request) =>
    request.services.state.tables.authenticator.referring('identityId', find(request, 'identity').id),
  ),
  getIdentityEnrollments: list(enrollments, (request) => {
    const { id } = find(request, 'identity');
    return hasPowerOver(request, id) ? request.services.state.tables.enrollment.referring('identityId', id) : [];
  }),
  listIdentitysEdgeRouterPolicies: list(edgeRouterPolicies, (request) =>
    ownPolicies('edgeRouterPolicy')(request).flatMap(
      (id) => request.services.state.tables.edgeRouterPolicy.get(id) ?? [],
    ),
  ),
  listIdentityServicePolicies: list(servicePolicies, (request) =>
    ownPolicies('servicePolicy')(request).flatMap((id) => request.services.state.tables.servicePolicy.get(id) ?? []),
  ),
  listIdentityEdgeRouters: list(edgeRouters, (request) =>
    request.services.access.routersOfIdentity(find(request, 'identity').id),
  ),
  listIdentityServices: list(otherServices, (request) =>
    request.services.access.servicesOf(find(request, 'identity').id, policyType(request)),
  ),
  disableIdentity: disable,
  enableIdentity: enable,
  updateIdentityTracing: trace,
  listIdentitysServiceConfigs: serviceConfigs,
  associateIdentitysServiceConfigs: associate,
  disassociateIdentitysServiceConfigs: disassociate,
  getIdentityPolicyAdvice: policyAdvice,
  removeIdentityMfa: removeMfa,
  getIdentityPostureData: (request) => ({ data: showPostureData(find(request, 'identity'), request.services) }),
  getIdentityFailedServiceRequests: (request) => ({
    data: request.services.posture.failedRequests.of(find(request, 'identity').id),
  }),
};

/** `dial` or `bind` in the query, without regard to case; throws for anything else. */
export function policyType({ query }: ApiRequest): 'Dial' | 'Bind' | undefined {
  const given = query.get('policyType');
  if (given === null) return undefined;
  const found = (['Dial', 'Bind'] as const).find((each) => each.toLowerCase() === given.toLowerCase());
  if (!found) throw invalid('policyType', 'policyType in query should be one of [dial bind]', given);
  return found;
}

async function disable(request: ApiRequest): Promise<Answer> {
  const { state, clock } = request.services;
  const minutes = new Body(request.body, 'create').whole('durationMinutes') ?? 0;
  const until = minutes > 0 ? clock.now() + minutes * MINUTE : undefined;
  const { id } = find(request, 'identity');
  await state.change((transaction) => {
    refuseOverAdmins(request, id, 'disable admins');
    disableIdentity(transaction, existing(transaction, 'identity', id), until);
  });
  return { data: {} };
}

async function enable(request: ApiRequest): Promise<Answer> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) => {
    refuseOverAdmins(request, id, 'enable admins');
    enableIdentity(transaction, existing(transaction, 'identity', id));
  });
  return { data: {} };
}

function trace(request: ApiRequest): Answer {
  const identity = find(request, 'identity');
  const body = new Body(request.body, 'create');
  const { traces } = request.services.network;
  if (!body.flag('enabled')) {
    traces.end(identity.id);
    return { data: { until: NEVER } };
  }
  const duration = readDuration(body.text('duration') ?? '');
  return { data: traces.begin(identity.id, { duration, traceId: body.text('traceId') ?? '' }) };
}

function readDuration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw invalid('duration', `time: ${describeError(error)}`, text);
  }
}

function serviceConfigs(request: ApiRequest): Answer {
  const { tables } = request.services.state;
  const identity = find(request, 'identity');
  const shown = Object.entries(identity.serviceConfigs).flatMap(([serviceId, configIds]) =>
    configIds.map((configId) => ({
      serviceId,
      service: reference('service', tables.service.get(serviceId)),
      configId,
      config: reference('config', tables.config.get(configId)),
    })),
  );
  const limit = shown.length;
  return { page: { items: shown, pagination: { limit, offset: 0, totalCount: shown.length } } };
}

async function associate(request: ApiRequest): Promise<Answer> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) =>
    associateConfigs(transaction, existing(transaction, 'identity', id), pairs(request)),
  );
  return { data: {} };
}

async function disassociate(request: ApiRequest): Promise<Answer> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) =>
    disassociateConfigs(transaction, existing(transaction, 'identity', id), pairs(request)),
  );
  return { data: {} };
}

function pairs({ body }: ApiRequest): { serviceId: string; configId: string }[] {
  return ((body ?? []) as { serviceId: string; configId: string }[]).map(({ serviceId, configId }) => ({
    serviceId,
    configId,
  }));
}

/** Whether the identity can dial or bind a service, and over which routers. */
function policyAdvice(request: ApiRequest): Answer {
  const { access, state, network } = request.services;
  const identity = find(request, 'identity');
  const service = find(request, 'service', request.params.serviceId);
  const common = access.commonRouters(identity.id, service.id);
  const ofIdentity = access.routersOfIdentity(identity.id).length;
  const ofService = access.routersOfService(service.id).length;
  return {
    data: {
      identityId: identity.id,
      identity: reference('identity', state.tables.identity.get(identity.id)),
      serviceId: service.id,
      service: reference('service', service),
      // reference fact: what is not allowed is left out, and so is a count of zero.
      ...(access.may(identity.id, service.id, 'Bind') && { isBindAllowed: true }),
      ...(access.may(identity.id, service.id, 'Dial') && { isDialAllowed: true }),
      ...(ofIdentity > 0 && { identityRouterCount: ofIdentity }),
      ...(ofService > 0 && { serviceRouterCount: ofService }),
      commonRouters: nullWhenEmpty(
        common.map((router) => ({ ...reference('router', router), isOnline: network.status(router.id).isOnline })),
      ),
    },
  };
}

async function removeMfa(request: ApiRequest): Promise<Answer> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) => {
    refuseOverAdmins(request, id, 'remove the second factor of admins');
    for (const mfa of transaction.tables.mfa.referring('identityId', id)) transaction.delete('mfa', mfa.id);
  });
  return { data: {} };
}
