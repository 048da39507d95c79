// Configs with which an identity overrides those of a service.

import type { ServiceConfigDetail } from '#schemas/api/gen/answers.ts';
import type { ServiceConfigsAssignList } from '#schemas/api/gen/bodies.ts';
import { existing } from '../../entities/common.ts';
import { associateConfigs, disassociateConfigs } from '../../entities/service-configs.ts';
import { reference } from '../answers/references.ts';
import type { ApiRequest, Done, Handlers, Page } from '../operations/context.ts';
import { find } from '../operations/resource.ts';
import { requirePowerOver } from '../operations/rights.ts';

/** An override redirects the connections of its identity. Permissions are not sufficient for administrators. */
const OF_ADMINS = 'override service configs of admins';

export const serviceConfigHandlers = {
  listIdentitysServiceConfigs: serviceConfigs,
  associateIdentitysServiceConfigs: associate,
  disassociateIdentitysServiceConfigs: disassociate,
} satisfies Partial<Handlers<'management'>>;

function serviceConfigs(request: ApiRequest<'state'>): Page<ServiceConfigDetail> {
  const { tables } = request.services.state;
  const identity = find(request, 'identity');
  const items = Object.entries(identity.serviceConfigs).flatMap(([serviceId, configIds]) =>
    configIds.map(
      (configId): ServiceConfigDetail => ({
        serviceId,
        service: reference('service', tables.service.get(serviceId)),
        configId,
        config: reference('config', tables.config.get(configId)),
      }),
    ),
  );
  const limit = items.length;
  return { page: { items, pagination: { limit, offset: 0, totalCount: items.length } } };
}

async function associate(request: ApiRequest<'state', ServiceConfigsAssignList>): Promise<Done> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) => {
    requirePowerOver(request, id, OF_ADMINS);
    associateConfigs(transaction, existing(transaction, 'identity', id), request.body);
  });
  return { data: {} };
}

async function disassociate(request: ApiRequest<'state', ServiceConfigsAssignList | undefined>): Promise<Done> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) => {
    requirePowerOver(request, id, OF_ADMINS);
    disassociateConfigs(transaction, existing(transaction, 'identity', id), request.body ?? []);
  });
  return { data: {} };
}
