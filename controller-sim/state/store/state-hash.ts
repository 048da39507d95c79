// The hash of all entities. Each set of changes in the log has the one after it, so that members compare their data
// with that of its author, and rows of entities that somebody has changed, added or removed are noticed at a load.
//
// It is the sum of the hashes of the entities: their order does not matter, and a change costs only its own entities.
// It finds accidents and edits by hand, not a forgery by somebody who computes another set with the same sum.

import { hash } from 'node:crypto';
import type { Change } from '../change.ts';
import type { Entity } from '../entity.ts';
import type { EntityKind } from '../kinds.ts';
import type { StoredEntity } from './store.ts';

/** The hash of no entities. */
export const NO_ENTITIES = 0n;
const BITS = 256;
const DIGITS = BITS / 4;

/** In steps of one entity. */
export function* hashOfAll(entities: readonly StoredEntity[]): Generator<void, bigint> {
  let sum = NO_ENTITIES;
  for (const { kind, entity } of entities) {
    sum += hashOf(kind, entity);
    yield;
  }
  return BigInt.asUintN(BITS, sum);
}

/** The hash after changes of the entities that `before` covers. */
export function hashAfter(before: bigint, changes: readonly Change[]): bigint {
  let sum = before;
  for (const { kind, before: old, after } of changes) {
    if (old) sum -= hashOf(kind, old);
    if (after) sum += hashOf(kind, after);
  }
  return BigInt.asUintN(BITS, sum);
}

/** As the log has it. */
export function hashText(sum: bigint): string {
  return sum.toString(16).padStart(DIGITS, '0');
}

/** An entity that was read back has the same text as the one that was written. */
function hashOf(kind: EntityKind, entity: Entity): bigint {
  return BigInt(`0x${hash('sha256', `${kind}\n${JSON.stringify(entity)}`)}`);
}
