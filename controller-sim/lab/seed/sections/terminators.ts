// Terminators that administrators created: those of hosts come and go with them. They have no names.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { createTerminator } from '../../../entities/terminator.ts';
import { isHosted } from '../../../state/kinds/terminator.ts';
import { filled, type Section } from '../section.ts';

export const terminators: Section<'terminator'> = {
  kind: 'terminator',
  bodyType: 'terminatorCreate',
  body: (entry, refer) => ({
    binding: '',
    ...withoutNulls(entry),
    service: refer('service', entry.service, ['service']),
    router: refer('router', entry.router, ['router']),
  }),
  create: createTerminator,
  isExported: (terminator, { service }) =>
    !isHosted(terminator) && service.get(terminator.serviceId)?.isFabricOnly === false,
  entry: ({ address, binding, cost, precedence, instanceId, serviceId, routerId }, names) => ({
    address,
    binding,
    service: names.one('service', serviceId),
    router: names.one('router', routerId),
    ...filled({ cost, identity: instanceId }),
    ...(precedence !== 'default' && { precedence }),
  }),
};
