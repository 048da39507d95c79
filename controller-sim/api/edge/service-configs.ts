// Configs with which an identity overrides those of a service.

import { existing } from '../../entities/common.ts';
import { associateConfigs, disassociateConfigs } from '../../entities/service-configs.ts';
import type { Answer, ApiRequest, Handlers } from '../http/context.ts';
import { reference } from '../http/references.ts';
import { find } from '../http/resource.ts';
import { requirePowerOver } from '../http/rights.ts';

/** An override redirects the connections of its identity. Permissions are not sufficient for administrators. */
const OF_ADMINS = 'override service configs of admins';

export const serviceConfigHandlers: Handlers = {
  listIdentitysServiceConfigs: serviceConfigs,
  associateIdentitysServiceConfigs: associate,
  disassociateIdentitysServiceConfigs: disassociate,
};

function serviceConfigs(request: ApiRequest): Answer {
  const { tables } = request.services.state;
  const identity = find(request, 'identity');
  const items = Object.entries(identity.serviceConfigs).flatMap(([serviceId, configIds]) =>
    configIds.map((configId) => ({
      serviceId,
      service: reference('service', tables.service.get(serviceId)),
      configId,
      config: reference('config', tables.config.get(configId)),
    })),
  );
  const limit = items.length;
  return { page: { items, pagination: { limit, offset: 0, totalCount: items.length } } };
}

async function associate(request: ApiRequest): Promise<Answer> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) => {
    requirePowerOver(request, id, OF_ADMINS);
    associateConfigs(transaction, existing(transaction, 'identity', id), pairs(request));
  });
  return { data: {} };
}

async function disassociate(request: ApiRequest): Promise<Answer> {
  const { id } = find(request, 'identity');
  await request.services.state.change((transaction) => {
    requirePowerOver(request, id, OF_ADMINS);
    disassociateConfigs(transaction, existing(transaction, 'identity', id), pairs(request));
  });
  return { data: {} };
}

function pairs({ body }: ApiRequest): { serviceId: string; configId: string }[] {
  return ((body ?? []) as { serviceId: string; configId: string }[]).map(({ serviceId, configId }) => ({
    serviceId,
    configId,
  }));
}
