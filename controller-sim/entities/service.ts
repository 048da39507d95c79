// Rules of services.

import type {
  FabricServiceCreate,
  FabricServicePatch,
  FabricServiceUpdate,
  ServiceCreate,
  ServicePatch,
  ServiceUpdate,
} from '#schemas/api/gen/bodies.ts';
import { ApiError } from '../errors/errors.ts';
import type { Service } from '../state/kinds/service.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, configList, roleAttributes, uniqueName } from './common.ts';
import { rules } from './rules.ts';

export type ServiceBody = ServiceCreate | ServiceUpdate | ServicePatch;
export type FabricServiceBody = FabricServiceCreate | FabricServiceUpdate | FabricServicePatch;

export const STRATEGIES = ['smartrouting', 'weighted', 'random', 'sticky'] as const;

export function createService(transaction: Transaction, id: string, body: Body<ServiceBody>): void {
  const encryptionRequired = body.given.encryptionRequired ?? false;
  transaction.put('service', {
    ...baseFields(transaction, id, body),
    ...serviceFields(transaction, body, undefined),
    encryptionRequired,
    isFabricOnly: false,
  });
}

/**
 * Through the fabric API. Such a service has no configs, attributes or encryption flag, even if the body names some.
 */
export function createFabricService(transaction: Transaction, id: string, body: Body<FabricServiceBody>): void {
  const own = commonFields(transaction, body, undefined);
  const edge = { configs: [], roleAttributes: [], encryptionRequired: false };
  transaction.put('service', { ...baseFields(transaction, id, body), ...own, ...edge, isFabricOnly: true });
}

/**
 * Whether encryption is required is immutable: the specification declares it read-only, the reference sets it at
 * creation.
 */
export function updateService(transaction: Transaction, service: Service, body: Body<ServiceBody>): void {
  transaction.put('service', {
    ...service,
    ...serviceFields(transaction, body, service),
    ...changedBase(transaction, service, body),
  });
}

/** The fabric API changes its own fields and keeps the others. */
export function updateFabricService(transaction: Transaction, service: Service, body: Body<FabricServiceBody>): void {
  transaction.put('service', {
    ...service,
    ...commonFields(transaction, body, service),
    ...changedBase(transaction, service, body),
  });
}

/** reference fact: identities keep their costs and precedences for a deleted service, see `removeIdentity`. */
export const serviceRules = rules('service', { create: createService, update: updateService });

function serviceFields(transaction: Transaction, body: Body<ServiceBody>, current: Service | undefined) {
  // reference fact: faults of configs are reported first, of the terminator strategy last.
  const configs = configList(transaction, body, 'service', current?.configs ?? []);
  return {
    ...commonFields(transaction, body, current),
    configs,
    roleAttributes: roleAttributes(body, current?.roleAttributes ?? []),
  };
}

/** The fields of both APIs. */
function commonFields(
  transaction: Transaction,
  body: Body<ServiceBody | FabricServiceBody>,
  current: Service | undefined,
) {
  const keep = body.kept(current);
  const { given } = body;
  const name = uniqueName(transaction, 'service', body, current);
  const terminatorStrategy = (given.terminatorStrategy ?? keep?.terminatorStrategy) || STRATEGIES[0];
  if (!(STRATEGIES as readonly string[]).includes(terminatorStrategy)) {
    throw new ApiError('NOT_FOUND', {
      code: 'UNHANDLED',
      message: `terminatorStrategy with name ${terminatorStrategy} not found`,
    });
  }
  return {
    name,
    terminatorStrategy,
    maxIdleTimeMillis: given.maxIdleTimeMillis ?? keep?.maxIdleTimeMillis ?? 0,
  };
}
