// Rules of terminators. The management and the fabric API use different field names for them.

import { invalid } from '../errors/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Terminator } from '../state/types.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, existing } from './common.ts';

export function createTerminator(transaction: Transaction, id: string, body: Body): void {
  transaction.put('terminator', {
    ...baseFields(transaction, id, body),
    ...ends(transaction, body, undefined),
    ...terminatorFields(body, undefined),
    peerData: [],
  });
}

/** Through the fabric API, which knows the hosting identity. */
export function createFabricTerminator(transaction: Transaction, id: string, body: Body): void {
  createTerminator(transaction, id, body);
  transaction.patch('terminator', id, { hostId: body.text('hostId') ?? '' });
}

export function updateFabricTerminator(transaction: Transaction, terminator: Terminator, body: Body): void {
  updateTerminator(transaction, terminator, body);
  transaction.patch('terminator', terminator.id, {
    hostId: body.text('hostId') ?? (body.mode === 'patch' ? terminator.hostId : ''),
  });
}

export function updateTerminator(transaction: Transaction, terminator: Terminator, body: Body): void {
  transaction.put('terminator', {
    ...terminator,
    ...ends(transaction, body, terminator),
    ...terminatorFields(body, terminator),
    ...changedBase(transaction, terminator, body),
  });
}

/** Its service and router. Throws if one is unknown. reference fact: the service is immutable, the router is not. */
function ends(transaction: Transaction, body: Body, current: Terminator | undefined) {
  const wanted = (key: 'service' | 'router', now: string | undefined) => {
    const id = body.text(key) ?? now ?? '';
    if (id === '') throw invalid(key, `${key} is required`, '');
    return existing(transaction, key, id).id;
  };
  return {
    serviceId: current?.serviceId ?? wanted('service', undefined),
    routerId: wanted('router', current?.routerId),
  };
}

/** Bindings of the terminators that routers create for their hosts. */
const HOSTED: ReadonlySet<string> = new Set(['edge', 'tunnel']);

/** Whether a router created it for a host: it ends with the host. */
export function isHosted({ binding }: Pick<Terminator, 'binding'>): boolean {
  return HOSTED.has(binding);
}

/** reference fact: a new terminator with an empty binding gets this one. */
export function defaultBinding(address: string): string {
  return address.startsWith('udp:') ? 'udp' : 'transport';
}

/** reference fact: the instance id and secret of a terminator are immutable. */
function terminatorFields(body: Body, current: Terminator | undefined) {
  const keep = body.mode === 'patch' ? current : undefined;
  const address = body.text('address') ?? keep?.address ?? '';
  if (address === '') throw invalid('address', 'address is required', '');
  const given = body.text('binding');
  if (current && given === '') throw invalid('binding', 'binding is required', '');
  return {
    address,
    binding: given || (keep?.binding ?? defaultBinding(address)),
    cost: body.whole('cost') ?? keep?.cost ?? 0,
    precedence: body.precedence('precedence') ?? keep?.precedence ?? ('default' as const),
    instanceId: current?.instanceId ?? body.text('identity') ?? body.text('instanceId') ?? '',
    instanceSecret: current?.instanceSecret ?? body.text('identitySecret') ?? body.text('instanceSecret') ?? '',
    hostId: current?.hostId ?? '',
  };
}
