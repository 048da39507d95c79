// Rules of services and of terminators.

import type { Body } from '../request/body.ts';
import { ApiError, invalid, notFound } from '../request/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Precedence, Service, Terminator } from '../state/types.ts';
import { baseFields, changedBase, configList, removeFromPolicies, roleAttributes, uniqueName } from './common.ts';

export const STRATEGIES = ['smartrouting', 'weighted', 'random', 'sticky'] as const;
const PRECEDENCES = ['default', 'required', 'failed'] as const;

export function createService(transaction: Transaction, id: string, body: Body): Service {
  const encryptionRequired = body.flag('encryptionRequired', { required: true }) ?? false;
  const service: Service = {
    ...baseFields(transaction, id, body),
    ...serviceFields(transaction, body, undefined),
    encryptionRequired,
  };
  transaction.put('service', service);
  return service;
}

/** A patch does not change whether encryption is required; a put sets it. */
export function updateService(transaction: Transaction, service: Service, body: Body): void {
  const encryptionRequired =
    body.mode === 'update' ? (body.flag('encryptionRequired') ?? false) : service.encryptionRequired;
  transaction.put('service', {
    ...service,
    ...serviceFields(transaction, body, service),
    ...changedBase(transaction, service, body),
    encryptionRequired,
  });
}

export function deleteService(transaction: Transaction, service: Service): void {
  const { tables } = transaction;
  for (const { id } of tables.terminator.referring('serviceId', service.id)) transaction.delete('terminator', id);
  for (const { id } of tables.session.referring('serviceId', service.id)) transaction.delete('session', id);
  for (const identity of tables.identity.values()) {
    if (!(service.id in identity.serviceConfigs)) continue;
    const { [service.id]: _gone, ...serviceConfigs } = identity.serviceConfigs;
    transaction.patch('identity', identity.id, { serviceConfigs });
  }
  removeFromPolicies(transaction, service.id);
  transaction.delete('service', service.id);
}

function serviceFields(transaction: Transaction, body: Body, current: Service | undefined) {
  const keep = body.mode === 'patch' ? current : undefined;
  const terminatorStrategy = body.text('terminatorStrategy') || keep?.terminatorStrategy || STRATEGIES[0];
  if (!(STRATEGIES as readonly string[]).includes(terminatorStrategy)) {
    throw new ApiError('NOT_FOUND', {
      code: 'UNHANDLED',
      message: `terminatorStrategy with name ${terminatorStrategy} not found`,
    });
  }
  return {
    name: uniqueName(transaction, 'service', body, current),
    terminatorStrategy,
    maxIdleTimeMillis: body.whole('maxIdleTimeMillis') ?? keep?.maxIdleTimeMillis ?? 0,
    configs: configList(transaction, body, 'service', current?.configs ?? []),
    roleAttributes: roleAttributes(body, current?.roleAttributes ?? []),
  };
}

export function createTerminator(transaction: Transaction, id: string, body: Body): Terminator {
  const serviceId = body.text('service', { required: true }) ?? '';
  const routerId = body.text('router', { required: true }) ?? '';
  if (!transaction.get('service', serviceId)) throw notFound('service', serviceId);
  if (!transaction.get('router', routerId)) throw notFound('router', routerId);
  const terminator: Terminator = {
    ...baseFields(transaction, id, body),
    ...terminatorFields(body, undefined),
    serviceId,
    routerId,
    hostId: '',
    peerData: {},
  };
  transaction.put('terminator', terminator);
  return terminator;
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
  const address = body.text('address', { required: true }) ?? keep?.address ?? '';
  if (address === '') throw invalid('address', 'address is required', '');
  return {
    address,
    binding: body.text('binding', { required: true }) ?? keep?.binding ?? '',
    cost: body.whole('cost', { from: 0, to: 65_535 }) ?? keep?.cost ?? 0,
    precedence:
      (body.text('precedence', { oneOf: PRECEDENCES }) as Precedence | undefined) ??
      keep?.precedence ??
      ('default' as const),
    instanceId: body.text('identity') ?? keep?.instanceId ?? '',
    instanceSecret: body.text('identitySecret') ?? keep?.instanceSecret ?? '',
  };
}
