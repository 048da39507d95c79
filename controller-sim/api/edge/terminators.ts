// Terminators, with the management API's field names.

import type { TerminatorDetail } from '#schemas/api/gen/answers.ts';
import { type TerminatorBody, terminatorRules } from '../../entities/terminator.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { Terminator } from '../../state/kinds/terminator.ts';
import { base, reference } from '../answers/references.ts';
import type { ApiServices, Handlers } from '../operations/context.ts';
import { field } from '../operations/list.ts';
import { create, detail, list, patch, type Resource, remove, update } from '../operations/resource.ts';

export const terminatorSymbols = (context: Pick<ApiServices, 'state' | 'controllerId'>): Symbols<Terminator> => {
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

export const terminators: Resource<
  'terminator',
  TerminatorDetail,
  TerminatorBody,
  'network' | 'controllerId' | 'state'
> = {
  ...terminatorRules,
  symbols: terminatorSymbols,
  show: (terminator, context): TerminatorDetail => ({
    ...commonTerminator(terminator, context, 'transit-routers'),
    identity: terminator.instanceId,
  }),
};

/** `routers` is the list to which router references link. */
export function commonTerminator(
  terminator: Terminator,
  { state: { tables }, network }: Pick<ApiServices, 'state' | 'network'>,
  routers: string,
): Omit<TerminatorDetail, 'identity'> {
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

export const terminatorHandlers = {
  listTerminators: list(terminators),
  createTerminator: create(terminators),
  detailTerminator: detail(terminators),
  updateTerminator: update(terminators),
  patchTerminator: patch(terminators),
  deleteTerminator: remove(terminators),
} satisfies Partial<Handlers<'management'>>;
