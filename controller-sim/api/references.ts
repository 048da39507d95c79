// How entities are shown in answers: their base fields, links, and references to others.

import type { Entity, EntityKind, Named } from '../entities/types.ts';

export const PLURAL: Readonly<Record<EntityKind, string>> = {
  apiSession: 'api-sessions',
  authenticator: 'authenticators',
  authPolicy: 'auth-policies',
  config: 'configs',
  configType: 'config-types',
  edgeRouter: 'edge-routers',
  edgeRouterPolicy: 'edge-router-policies',
  enrollment: 'enrollments',
  identity: 'identities',
  service: 'services',
  serviceEdgeRouterPolicy: 'service-edge-router-policies',
  servicePolicy: 'service-policies',
  session: 'sessions',
  terminator: 'terminators',
};

/** Lists below an entity, by kind. */
const SUB_LISTS: Partial<Readonly<Record<EntityKind, readonly string[]>>> = {
  configType: ['configs'],
  edgeRouter: ['edge-router-policies'],
  edgeRouterPolicy: ['edge-routers', 'identities'],
  identity: ['edge-router-policies', 'edge-routers', 'service-policies', 'services'],
  service: ['configs', 'service-edge-router-policies', 'service-policies', 'terminators'],
  serviceEdgeRouterPolicy: ['edge-routers', 'services'],
  servicePolicy: ['identities', 'posture-checks', 'services'],
};

export function links(kind: EntityKind, id: string): Record<string, { href: string }> {
  const self = `./${PLURAL[kind]}/${id}`;
  return {
    self: { href: self },
    ...Object.fromEntries((SUB_LISTS[kind] ?? []).map((list) => [list, { href: `${self}/${list}` }])),
  };
}

export function base(kind: EntityKind, entity: Entity): Record<string, unknown> {
  const { id, createdAt, updatedAt, tags } = entity;
  return { _links: links(kind, id), id, createdAt, updatedAt, tags };
}

/** A reference to an entity; undefined when it is not there. */
export function reference(kind: EntityKind, entity: Entity | undefined): Record<string, unknown> | null {
  if (!entity) return null;
  const { name } = entity as Partial<Named>;
  return {
    _links: { self: { href: `./${PLURAL[kind]}/${entity.id}` } },
    entity: PLURAL[kind],
    id: entity.id,
    ...(name !== undefined && { name }),
  };
}
