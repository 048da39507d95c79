// Services, with the caller's permissions, their posture queries, and configs of the requested types.

import type { ServiceDetail } from '#schemas/api/gen/answers.ts';
import { type ServiceBody, serviceRules } from '../../entities/service.ts';
import { configsOfTypes } from '../../entities/service-configs.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { Service } from '../../state/kinds/service.ts';
import { base } from '../answers/references.ts';
import { nullWhenEmpty } from '../answers/show.ts';
import type { ApiRequest, ApiServices, Handlers } from '../operations/context.ts';
import { field, fieldSet, flagField, linked } from '../operations/list.ts';
import { create, detail, type Listed, list, patch, type Resource, remove, update } from '../operations/resource.ts';
import { CONFIG_SYMBOLS } from './configs.ts';
import { type PostureComponents, type PostureUse, postureQueries } from './posture.ts';

export const serviceSymbols = (context: Pick<ApiServices, 'state'>): Symbols<Service> => ({
  name: field('name'),
  terminatorStrategy: field('terminatorStrategy'),
  roleAttributes: fieldSet('roleAttributes'),
  isFabricOnly: flagField('isFabricOnly'),
  configs: linked(fieldSet('configs'), context.state.tables.config, () => CONFIG_SYMBOLS),
});

export const services: Resource<'service', ServiceDetail, ServiceBody, PostureUse> = {
  ...serviceRules,
  symbols: serviceSymbols,
  includes: ({ isFabricOnly }) => !isFabricOnly,
  fixed: ['encryptionRequired'],
  show: showService,
};

/** Services in lists that do not depend on the caller. */
export const otherServices: Listed<'service', ServiceDetail, PostureUse> = {
  kind: 'service',
  symbols: serviceSymbols,
  show: showToAnyone,
};

export function showService(service: Service, context: PostureComponents, request: ApiRequest<never>): ServiceDetail {
  if (isManagementSearch(request)) return showToAnyone(service, context, request);
  const allowed = request.identity ? context.access.permissions(request.identity.id, service.id) : [];
  const permissions = allowed.length > 0 || request.operation.api === 'client' ? allowed : (['Invalid'] as const);
  return {
    ...ownFields(service),
    config: effectiveConfig(service, context, request),
    permissions,
    postureQueries: postureQueries(service, context, request, permissions),
  };
}

function showToAnyone(service: Service, context: PostureComponents, request: ApiRequest<never>): ServiceDetail {
  return {
    ...ownFields(service),
    config: null,
    permissions: null,
    postureQueries: postureQueries(service, context, request, []),
  };
}

function ownFields(service: Service) {
  const { name, encryptionRequired, terminatorStrategy, maxIdleTimeMillis, configs, roleAttributes } = service;
  return {
    ...base('service', service),
    name,
    encryptionRequired,
    terminatorStrategy,
    maxIdleTimeMillis,
    configs: nullWhenEmpty(configs),
    roleAttributes: nullWhenEmpty(roleAttributes),
  };
}

/** reference fact: with a role filter, the list of the management API does not depend on the caller. */
function isManagementSearch({ operation, params, query }: ApiRequest<never>): boolean {
  return operation.api === 'management' && params.id === undefined && query.has('roleFilter');
}

/**
 * Type name to data, for the types that the query of a list or the session names; overrides of the identity win.
 * reference fact: if no types are named, lists answer an empty object, and a single service null.
 */
function effectiveConfig(
  service: Service,
  { state: { tables } }: Pick<ApiServices, 'state'>,
  request: ApiRequest<never>,
): ServiceDetail['config'] {
  const isList = request.params.id === undefined;
  const requested = isList ? request.query.getAll('configTypes').flatMap((each) => each.split(',')) : [];
  const types = requested.length > 0 ? requested : (request.session?.configTypes ?? []);
  if (types.length === 0) return isList ? {} : null;
  return configsOfTypes(tables, service, request.identity, types);
}

export const serviceHandlers = {
  listServices: list(services),
  createService: create(services),
  detailService: detail(services),
  updateService: update(services),
  patchService: patch(services),
  deleteService: remove(services),
} satisfies Partial<Handlers<'management'>>;
