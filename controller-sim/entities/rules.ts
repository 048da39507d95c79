// How entities of a kind are created, changed and deleted: one record for the management API and for seeds. Other ways,
// such as the fabric API's, are functions beside it.

import type { Entity } from '../state/entity.ts';
import type { EntityKind, EntityTypes } from '../state/kinds.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body } from './body.ts';
import { deleteEntity } from './cascade.ts';
import { baseFields, changedBase } from './common.ts';

/** `B`: the bodies of a creation, an update and a patch. All functions throw ApiError. */
export interface Rules<K extends EntityKind, B extends object, P = undefined> {
  readonly kind: K;
  /** `made`: made before the transaction, because it takes time. */
  create(transaction: Transaction, id: string, body: Body<B>, made?: P): void;
  update(transaction: Transaction, entity: EntityTypes[K], body: Body<B>): void;
  remove(transaction: Transaction, entity: EntityTypes[K]): void;
}

type Changes<K extends EntityKind, B extends object, P> = Pick<Rules<K, B, P>, 'create' | 'update'> &
  Partial<Rules<K, B, P>>;

/** By default a deletion has the consequences that the descriptions of the kinds say. */
export function rules<K extends EntityKind, B extends object, P = undefined>(
  kind: K,
  changes: Changes<K, B, P>,
): Rules<K, B, P> {
  return { kind, remove: (transaction, { id }) => deleteEntity(transaction, kind, id), ...changes };
}

/** `fields` has all fields of the entity except for the common ones. `current` is undefined for a new one. */
export function rulesOfFields<K extends EntityKind, B extends object>(
  kind: K,
  fields: (
    transaction: Transaction,
    body: Body<B>,
    current: EntityTypes[K] | undefined,
  ) => Omit<EntityTypes[K], keyof Entity>,
): Rules<K, B> {
  const put = (transaction: Transaction, base: Entity, body: Body<B>, current?: EntityTypes[K]) =>
    transaction.put(kind, { ...fields(transaction, body, current), ...base } as EntityTypes[K]);
  return rules(kind, {
    create: (transaction, id, body) => put(transaction, baseFields(transaction, id, body), body),
    update: (transaction, entity, body) => put(transaction, changedBase(transaction, entity, body), body, entity),
  });
}
