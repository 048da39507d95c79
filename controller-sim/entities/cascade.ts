// Deletes an entity together with its consequences for the entities that refer to it, as the descriptions of the kinds
// say.

import { ApiError } from '../errors/errors.ts';
import type { EntityKind } from '../state/kinds.ts';
import { idsIn, type KindReference, REFERENCES, referring, withoutIds } from '../state/references.ts';
import type { Transaction } from '../state/transaction.ts';

/**
 * Deletes the entities that are useless without this one, removes its id from others, and deletes it.
 *
 * @throws ApiError (409) if an entity needs it: nothing has then changed
 */
export function deleteEntity(transaction: Transaction, kind: EntityKind, id: string): void {
  detachAll(transaction, kind, id);
  transaction.delete(kind, id);
}

/** The consequences of a deletion, before it. @throws ApiError as above */
export function detachAll(transaction: Transaction, kind: EntityKind, id: string): void {
  const references = REFERENCES.filter(({ to }) => to === kind);
  for (const reference of references) requireUnused(transaction, reference, id);
  for (const reference of references)
    for (const { id: other } of referring(transaction.tables, reference, id)) detach(transaction, reference, other, id);
}

/** Entities that this transaction deletes, or changes to refer to another one, do not count. */
function requireUnused(transaction: Transaction, reference: KindReference, id: string): void {
  if (typeof reference.onDelete !== 'object') return;
  const users = referring(transaction.tables, reference, id).flatMap((user) => {
    const current = transaction.get(reference.kind, user.id);
    return current && idsIn(current, reference).includes(id) ? [user.id] : [];
  });
  if (users.length === 0) return;
  const { field, by } = reference.onDelete;
  const list = `[${users.join(' ')}]`;
  throw new ApiError('CAN_NOT_DELETE_REFERENCED_ENTITY', {
    field,
    reason: `entity type ${reference.to} referenced by ${by}: ${list}`,
    value: list,
  });
}

function detach(transaction: Transaction, reference: KindReference, id: string, lost: string): void {
  const { kind, onDelete } = reference;
  if (onDelete === 'delete') deleteEntity(transaction, kind, id);
  const current = onDelete === 'remove' ? transaction.get(kind, id) : undefined;
  if (current && idsIn(current, reference).includes(lost))
    transaction.patch(kind, id, withoutIds(current, reference, [lost]));
}
