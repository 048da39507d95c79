// How a service is shown: with the permissions of who asks, and the configuration of the types that were asked for.

import type { ApiRequest, ApiServices } from '../request/context.ts';
import type { Service } from '../state/types.ts';
import { base } from './references.ts';

export function showService(service: Service, services: ApiServices, request: ApiRequest): Record<string, unknown> {
  const { name, encryptionRequired, terminatorStrategy, maxIdleTimeMillis, configs, roleAttributes } = service;
  const permissions = request.identity ? services.access.permissions(request.identity.id, service.id) : [];
  return {
    ...base('service', service),
    name,
    encryptionRequired,
    terminatorStrategy,
    maxIdleTimeMillis,
    configs: configs.length > 0 ? configs : null,
    config: effectiveConfig(service, services, request),
    roleAttributes: roleAttributes.length > 0 ? roleAttributes : null,
    permissions: permissions.length > 0 || request.api === 'client' ? permissions : ['Invalid'],
    postureQueries: [],
  };
}

/** Type name to data, for the types that the query or the session names; what the identity overrides wins. */
function effectiveConfig(
  service: Service,
  { state: { tables } }: ApiServices,
  request: ApiRequest,
): Record<string, unknown> {
  const asked = request.query.getAll('configTypes').flatMap((each) => each.split(','));
  const types = asked.length > 0 ? asked : (request.session?.configTypes ?? []);
  if (types.length === 0) return {};
  const overrides = request.identity?.serviceConfigs[service.id] ?? [];
  const shown: Record<string, unknown> = {};
  for (const id of [...service.configs, ...overrides]) {
    const config = tables.config.get(id);
    const type = config && tables.configType.get(config.configTypeId);
    if (config && type && (types.includes('all') || types.includes(type.id) || types.includes(type.name)))
      shown[type.name] = config.data;
  }
  return shown;
}
