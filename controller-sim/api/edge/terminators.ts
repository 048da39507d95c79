// Terminators, with the management API's field names.

import { createTerminator, updateTerminator } from '../../entities/terminator.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { Terminator } from '../../state/types.ts';
import type { ApiServices, Handlers } from '../http/context.ts';
import { field } from '../http/list.ts';
import { base, reference } from '../http/references.ts';
import { crud, type Resource } from '../http/resource.ts';

export const terminatorSymbols = (context: ApiServices): Symbols<Terminator> => {
  const { service, router } = context.state.tables;
  return {
    service: field('serviceId'),
    'service.name': { isUnsortable: true, get: ({ serviceId }) => service.get(serviceId)?.name },
    router: field('routerId'),
    'router.name': { isUnsortable: true, get: ({ routerId }) => router.get(routerId)?.name },
    instanceId: field('instanceId'),
    hostId: field('hostId'),
    binding: field('binding'),
    address: field('address'),
    // reference fact: the controller of terminators that a router requested; others have none.
    sourceCtrl: { get: ({ hostId }) => (hostId === '' ? '' : context.controllerId) },
  };
};

export const terminators: Resource<'terminator'> = {
  kind: 'terminator',
  names: { one: 'Terminator', many: 'Terminators' },
  symbols: terminatorSymbols,
  create: createTerminator,
  update: updateTerminator,
  remove: (transaction, { id }) => transaction.delete('terminator', id),
  show: (terminator, context) => ({
    ...commonTerminator(terminator, context, 'transit-routers'),
    identity: terminator.instanceId,
  }),
};

/** `routers` is the list to which router references link. */
export function commonTerminator(
  terminator: Terminator,
  { state: { tables }, network }: ApiServices,
  routers: string,
): Record<string, unknown> {
  const { id, serviceId, routerId, binding, address, cost, precedence } = terminator;
  return {
    ...base('terminator', terminator),
    serviceId,
    service: reference('service', tables.service.get(serviceId)),
    routerId,
    router: reference('router', tables.router.get(routerId), routers),
    binding,
    address,
    cost,
    dynamicCost: network.costs.get(id),
    precedence,
  };
}

export const terminatorHandlers: Handlers = crud(terminators);
