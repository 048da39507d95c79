// Overrides of service configs for an identity: one for each service and config type.

import { ownValue } from '#lib/json/own-value.ts';
import { invalid, notFound } from '../errors/errors.ts';
import type { Config } from '../state/kinds/config.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { Service } from '../state/kinds/service.ts';
import type { Tables } from '../state/tables.ts';
import type { Transaction } from '../state/transaction.ts';

export interface ServiceConfig {
  readonly serviceId: string;
  readonly configId: string;
}

/** Type name to data, for ids or names of types, or `all`. Overrides of the identity win. */
export function configsOfTypes(
  { config: configs, configType }: Tables,
  service: Service,
  identity: Identity | undefined,
  types: readonly string[],
): Record<string, Config['data']> {
  const overrides = ownValue(identity?.serviceConfigs ?? {}, service.id) ?? [];
  const byType = new Map<string, Config['data']>();
  for (const id of [...service.configs, ...overrides]) {
    const config = configs.get(id);
    const type = config && configType.get(config.configTypeId);
    if (config && type && (types.includes('all') || types.includes(type.id) || types.includes(type.name)))
      byType.set(type.name, config.data);
  }
  return Object.fromEntries(byType);
}

/** Ids of config types. Unknown names and `all` stay as they are. */
export function configTypeIds({ configType }: Pick<Tables, 'configType'>, names: readonly string[]): string[] {
  return names.map((name) => (name === 'all' ? name : (configType.findBy('name', name)?.id ?? name)));
}

/** Replaces an older override for the same service and type. */
export function associateConfigs(transaction: Transaction, identity: Identity, pairs: readonly ServiceConfig[]): void {
  const overrides = new Map(Object.entries(identity.serviceConfigs));
  for (const { serviceId, configId } of pairs) {
    const config = knownConfig(transaction, configId);
    const type = transaction.get('configType', config.configTypeId);
    if (type && type.target !== 'service') {
      const reason = `config ${config.name} has config type ${type.name} which does not target services`;
      throw invalid('serviceConfigs', reason, configId);
    }
    const service = transaction.get('service', serviceId);
    if (!service || service.isFabricOnly)
      throw invalid('serviceConfigs', 'no edge service found with the given id', serviceId);
    const others = (overrides.get(serviceId) ?? []).filter(
      (id) => transaction.get('config', id)?.configTypeId !== config.configTypeId,
    );
    overrides.set(serviceId, [...others, configId]);
  }
  transaction.patch('identity', identity.id, { serviceConfigs: Object.fromEntries(overrides) });
}

function knownConfig(transaction: Transaction, id: string): Config {
  const config = transaction.get('config', id);
  if (!config) throw notFound('configs', id);
  return config;
}

/** Without pairs, removes all overrides. Throws for an unknown config. */
export function disassociateConfigs(
  transaction: Transaction,
  identity: Identity,
  pairs: readonly ServiceConfig[],
): void {
  for (const { configId } of pairs) knownConfig(transaction, configId);
  const isMeant = (serviceId: string, configId: string) =>
    pairs.length === 0 || pairs.some((pair) => pair.serviceId === serviceId && pair.configId === configId);
  const kept = Object.entries(identity.serviceConfigs)
    .map(([serviceId, configIds]) => [serviceId, configIds.filter((id) => !isMeant(serviceId, id))] as const)
    .filter(([, configIds]) => configIds.length > 0);
  transaction.patch('identity', identity.id, { serviceConfigs: Object.fromEntries(kept) });
}
