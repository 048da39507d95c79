// Rules of terminators. The management and the fabric API call the same things by other names.

import { invalid } from '../errors/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Precedence, Terminator } from '../state/types.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, existing } from './common.ts';

export function createTerminator(transaction: Transaction, id: string, body: Body): void {
  const service = existing(transaction, 'service', body.text('service') ?? '');
  const router = existing(transaction, 'router', body.text('router') ?? '');
  transaction.put('terminator', {
    ...baseFields(transaction, id, body),
    ...terminatorFields(body, undefined),
    serviceId: service.id,
    routerId: router.id,
    peerData: {},
  });
}

/** Through the fabric API, which knows by which identity a terminator is hosted. */
export function createFabricTerminator(transaction: Transaction, id: string, body: Body): void {
  createTerminator(transaction, id, body);
  transaction.patch('terminator', id, { hostId: body.text('hostId') ?? '' });
}

export function updateFabricTerminator(transaction: Transaction, terminator: Terminator, body: Body): void {
  updateTerminator(transaction, terminator, body);
  transaction.patch('terminator', terminator.id, { hostId: body.text('hostId') ?? terminator.hostId });
}

/** Service and router are fixed. */
export function updateTerminator(transaction: Transaction, terminator: Terminator, body: Body): void {
  transaction.put('terminator', {
    ...terminator,
    ...terminatorFields(body, terminator),
    ...changedBase(transaction, terminator, body),
  });
}

function terminatorFields(body: Body, current: Terminator | undefined) {
  const keep = body.mode === 'patch' ? current : undefined;
  const address = body.text('address') ?? keep?.address ?? '';
  if (address === '') throw invalid('address', 'address is required', '');
  return {
    address,
    binding: body.text('binding') ?? keep?.binding ?? '',
    cost: body.whole('cost') ?? keep?.cost ?? 0,
    precedence: (body.text('precedence') as Precedence | undefined) ?? keep?.precedence ?? ('default' as const),
    instanceId: body.text('identity') ?? body.text('instanceId') ?? keep?.instanceId ?? '',
    instanceSecret: body.text('identitySecret') ?? body.text('instanceSecret') ?? keep?.instanceSecret ?? '',
    hostId: current?.hostId ?? '',
  };
}
