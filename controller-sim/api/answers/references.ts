// Common parts of entities in answers: base fields, links, and references to other entities.

import type { BaseEntity, CreateLocation, EntityRef, Link } from '#schemas/api/gen/answers.ts';
import type { Entity, Named } from '../../state/entity.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import { type EntityKind, KINDS } from '../../state/kinds.ts';

/** Path segments of the lists below an entity. */
function subLists(kind: EntityKind, entity: Entity): readonly string[] {
  const { lists = [] } = KINDS[kind];
  return typeof lists === 'function' ? lists(entity) : lists;
}

export function links(kind: EntityKind, entity: Entity, plural = KINDS[kind].plural): Readonly<Record<string, Link>> {
  const self = `./${plural}/${entity.id}`;
  const { authPolicyId } = entity as Partial<Identity>;
  return {
    self: { href: self },
    ...(authPolicyId !== undefined && { 'auth-policies': { href: `./${KINDS.authPolicy.plural}/${authPolicyId}` } }),
    ...Object.fromEntries(
      (plural === KINDS[kind].plural ? subLists(kind, entity) : []).map((list) => [list, { href: `${self}/${list}` }]),
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

/** A reference to an entity; null if it does not exist. */
export function reference(kind: EntityKind, entity: Entity | undefined, plural = KINDS[kind].plural): EntityRef | null {
  if (!entity) return null;
  const { name } = entity as Partial<Named>;
  const hasLists = KINDS[kind].isReferredWithLists && plural === KINDS[kind].plural;
  return {
    _links: hasLists ? links(kind, entity) : { self: { href: `./${plural}/${entity.id}` } },
    entity: plural,
    id: entity.id,
    ...(name !== undefined && { name }),
  };
}
