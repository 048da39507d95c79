// Rules of terminators. The management and the fabric API use different field names for them.

import type {
  FabricTerminatorCreate,
  FabricTerminatorPatch,
  FabricTerminatorUpdate,
  TerminatorCreate,
  TerminatorPatch,
  TerminatorUpdate,
} from '#schemas/api/gen/bodies.ts';
import { invalid } from '../errors/errors.ts';
import type { Terminator } from '../state/kinds/terminator.ts';
import type { Transaction } from '../state/transaction.ts';
import { type Body, precedenceOf } from './body.ts';
import { baseFields, changedBase, existing } from './common.ts';
import { rules } from './rules.ts';

export type TerminatorBody = TerminatorCreate | TerminatorUpdate | TerminatorPatch;
export type FabricTerminatorBody = FabricTerminatorCreate | FabricTerminatorUpdate | FabricTerminatorPatch;
type AnyBody = TerminatorBody | FabricTerminatorBody;

export function createTerminator(transaction: Transaction, id: string, body: Body<AnyBody>): void {
  transaction.put('terminator', {
    ...baseFields(transaction, id, body),
    ...ends(transaction, body, undefined),
    ...terminatorFields(body, undefined),
    peerData: [],
  });
}

/** Through the fabric API, which knows the hosting identity. */
export function createFabricTerminator(transaction: Transaction, id: string, body: Body<FabricTerminatorBody>): void {
  createTerminator(transaction, id, body);
  transaction.patch('terminator', id, { hostId: body.given.hostId ?? '' });
}

export function updateFabricTerminator(
  transaction: Transaction,
  terminator: Terminator,
  body: Body<FabricTerminatorBody>,
): void {
  updateTerminator(transaction, terminator, body);
  transaction.patch('terminator', terminator.id, {
    hostId: body.given.hostId ?? body.kept(terminator)?.hostId ?? '',
  });
}

export function updateTerminator(transaction: Transaction, terminator: Terminator, body: Body<AnyBody>): void {
  transaction.put('terminator', {
    ...terminator,
    ...ends(transaction, body, terminator),
    ...terminatorFields(body, terminator),
    ...changedBase(transaction, terminator, body),
  });
}

export const terminatorRules = rules('terminator', { create: createTerminator, update: updateTerminator });

/** Its service and router. Throws if one is unknown. reference fact: the service is immutable, the router is not. */
function ends(transaction: Transaction, { given }: Body<AnyBody>, current: Terminator | undefined) {
  const wanted = (key: 'service' | 'router', now: string | undefined) => {
    const id = given[key] ?? now ?? '';
    if (id === '') throw invalid(key, `${key} is required`, '');
    return existing(transaction, key, id).id;
  };
  return {
    serviceId: current?.serviceId ?? wanted('service', undefined),
    routerId: wanted('router', current?.routerId),
  };
}

/** reference fact: a new terminator with an empty binding gets this one. */
export function defaultBinding(address: string): string {
  return address.startsWith('udp:') ? 'udp' : 'transport';
}

/** reference fact: the instance id and secret of a terminator are immutable. */
function terminatorFields(body: Body<AnyBody>, current: Terminator | undefined) {
  const keep = body.kept(current);
  const { given } = body;
  const address = given.address ?? keep?.address ?? '';
  if (address === '') throw invalid('address', 'address is required', '');
  if (current && given.binding === '') throw invalid('binding', 'binding is required', '');
  return {
    address,
    binding: given.binding || (keep?.binding ?? defaultBinding(address)),
    cost: given.cost ?? keep?.cost ?? 0,
    precedence: precedenceOf(given.precedence) ?? keep?.precedence ?? ('default' as const),
    instanceId: current?.instanceId ?? given.identity ?? given.instanceId ?? '',
    instanceSecret: current?.instanceSecret ?? given.identitySecret ?? given.instanceSecret ?? '',
    hostId: current?.hostId ?? '',
  };
}
