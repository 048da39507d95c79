// Explains why an identity can or cannot use a service: its permissions, and the routers that both may use.

import type { PolicyAdvice } from '#schemas/api/gen/answers.ts';
import { reference } from '../answers/references.ts';
import { nullWhenEmpty } from '../answers/show.ts';
import type { ApiRequest, Data, Handlers } from '../operations/context.ts';
import { find } from '../operations/resource.ts';

export const policyAdviceHandlers = { getIdentityPolicyAdvice: policyAdvice } satisfies Partial<Handlers<'management'>>;

function policyAdvice(request: ApiRequest<'access' | 'network' | 'state'>): Data<PolicyAdvice> {
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
      // reference fact: a denied permission and a count of zero are omitted.
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
