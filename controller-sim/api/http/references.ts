// Common parts of entities in answers: base fields, links, and references to other entities.

import type { BaseEntity, CreateLocation, EntityRef, Link } from '#schemas/api/gen/answers.ts';
import { PLURAL } from '../../entities/names.ts';
import type { CertificateAuthority, Entity, EntityKind, Identity, Named } from '../../state/types.ts';

/** Lists below an entity, by kind. */
const SUB_LISTS: Partial<Readonly<Record<EntityKind, readonly string[]>>> = {
  router: ['edge-router-policies'],
  edgeRouterPolicy: ['edge-routers', 'identities'],
  apiSession: ['sessions'],
  session: ['route-path'],
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

function subLists(kind: EntityKind, entity: Entity): readonly string[] {
  return kind === 'ca' ? authorityLinks(entity as CertificateAuthority) : (SUB_LISTS[kind] ?? []);
}

/** A verified authority has no `verify` link. Its token is for clients that enroll without an administrator. */
function authorityLinks({ isVerified, isAutoCaEnrollmentEnabled }: CertificateAuthority): readonly string[] {
  return [...(isAutoCaEnrollmentEnabled ? ['jwt'] : []), ...(isVerified ? [] : ['verify'])];
}

export function links(kind: EntityKind, entity: Entity, plural = PLURAL[kind]): Readonly<Record<string, Link>> {
  const self = `./${plural}/${entity.id}`;
  const { authPolicyId } = entity as Partial<Identity>;
  return {
    self: { href: self },
    ...(authPolicyId !== undefined && { 'auth-policies': { href: `./${PLURAL.authPolicy}/${authPolicyId}` } }),
    ...Object.fromEntries(
      (plural === PLURAL[kind] ? subLists(kind, entity) : []).map((list) => [list, { href: `${self}/${list}` }]),
    ),
  };
}

export function base(kind: EntityKind, entity: Entity, plural?: string): BaseEntity & Pick<Entity, 'tags'> {
  const { id, createdAt, updatedAt, tags } = entity;
  return { _links: links(kind, entity, plural), id, createdAt, updatedAt, tags };
}

/** The answer to a creation. */
export function created(plural: string, id: string): CreateLocation {
  return { _links: { self: { href: `./${plural}/${id}` } }, id };
}

/** References to these kinds include the links of their lists. */
const WITH_LISTS: ReadonlySet<EntityKind> = new Set(['identity', 'service', 'router', 'apiSession', 'ca']);

/** A reference to an entity; null if it does not exist. */
export function reference(kind: EntityKind, entity: Entity | undefined, plural = PLURAL[kind]): EntityRef | null {
  if (!entity) return null;
  const { name } = entity as Partial<Named>;
  const hasLists = WITH_LISTS.has(kind) && plural === PLURAL[kind];
  return {
    _links: hasLists ? links(kind, entity) : { self: { href: `./${plural}/${entity.id}` } },
    entity: plural,
    id: entity.id,
    ...(name !== undefined && { name }),
  };
}
