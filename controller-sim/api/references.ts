// How entities are shown in answers: their base fields, links, and references to others.

import type { Entity, EntityKind, Identity, Named } from '../state/types.ts';

export const PLURAL: Readonly<Record<EntityKind, string>> = {
  apiSession: 'api-sessions',
  authenticator: 'authenticators',
  authPolicy: 'auth-policies',
  config: 'configs',
  configType: 'config-types',
  router: 'edge-routers',
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
  router: ['edge-router-policies'],
  edgeRouterPolicy: ['edge-routers', 'identities'],
  apiSession: ['sessions'],
  identity: [
    'authenticators',
    'edge-router-policies',
    'edge-routers',
    'enrollments',
    'failed-service-requests',
    'posture-data',
    'service-configs',
    'service-policies',
    'services',
  ],
  service: ['configs', 'service-edge-router-policies', 'service-policies', 'terminators'],
  serviceEdgeRouterPolicy: ['edge-routers', 'services'],
  servicePolicy: ['identities', 'posture-checks', 'services'],
};

export function links(kind: EntityKind, entity: Entity): Record<string, { href: string }> {
  const self = `./${PLURAL[kind]}/${entity.id}`;
  const { authPolicyId } = entity as Partial<Identity>;
  return {
    self: { href: self },
    ...(authPolicyId !== undefined && { 'auth-policies': { href: `./${PLURAL.authPolicy}/${authPolicyId}` } }),
    ...Object.fromEntries((SUB_LISTS[kind] ?? []).map((list) => [list, { href: `${self}/${list}` }])),
  };
}

export function base(kind: EntityKind, entity: Entity): Record<string, unknown> {
  const { id, createdAt, updatedAt, tags } = entity;
  return { _links: links(kind, entity), id, createdAt, updatedAt, tags };
}

/** What a creation answers. */
export function created(kind: EntityKind, id: string): { _links: Record<string, unknown>; id: string } {
  return { _links: { self: { href: `./${PLURAL[kind]}/${id}` } }, id };
}

/** A reference to an entity; null when it is not there. Identities come with all their links. */
export function reference(kind: EntityKind, entity: Entity | undefined): Record<string, unknown> | null {
  if (!entity) return null;
  const { name } = entity as Partial<Named>;
  const shown = kind === 'identity' ? links(kind, entity) : { self: { href: `./${PLURAL[kind]}/${entity.id}` } };
  return { _links: shown, entity: PLURAL[kind], id: entity.id, ...(name !== undefined && { name }) };
}
