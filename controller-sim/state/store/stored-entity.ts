// Entities as text in a row of a store: reads them back and rejects damaged ones.

import { describeError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { MAX_JSON_DEPTH, parseJson } from '#lib/json/json.ts';
import type { Entity } from '../entity.ts';
import { storedProblem, type UniqueValues } from '../entity-form.ts';
import { isEntityKind } from '../tables.ts';
import { DamagedError, type StoredEntity } from './store.ts';

/** Entities contain values of bodies, which have at most MAX_JSON_DEPTH levels, a few levels further down. */
const MAX_STORED_DEPTH = MAX_JSON_DEPTH + 20;

/** Ends the messages about entities that no program has written. */
const REMEDY = 'correct the row';

/** `row` names the row in errors. Throws DamagedError for a row without a valid entity. */
export function readStoredEntity({ kind, id, body }: Readonly<Record<string, unknown>>, row: string): StoredEntity {
  const damaged = (why: string) => new DamagedError('entity', row, why);
  if (typeof kind !== 'string' || !isEntityKind(kind)) throw damaged('the kind is unknown');
  if (typeof body !== 'string') throw damaged('the body is not a string');
  let entity: unknown;
  try {
    entity = parseJson(body, MAX_STORED_DEPTH);
  } catch (error) {
    // The parser's message quotes parts of the body, which may contain a secret.
    throw damaged(`the body is invalid: ${error instanceof SyntaxError ? 'it is not JSON' : describeError(error)}`);
  }
  const problem = entityProblem(entity, id);
  if (problem !== undefined) throw damaged(`the body is invalid: ${problem}`);
  const broken = storedProblem(kind, entity as Entity);
  if (broken !== undefined) throw damaged(`the body is invalid: ${broken}; ${REMEDY}`);
  return { kind, entity: entity as Entity, row };
}

/** Adds the unique values of an entity. Throws DamagedError if an earlier one of them has the same. */
export function requireUniqueValues(values: UniqueValues, { kind, entity, row = entity.id }: StoredEntity): void {
  const problem = values.add(kind, entity);
  if (problem !== undefined) throw new DamagedError('entity', row, `${problem}; ${REMEDY}`);
}

/** Checks the fields that all entities have; undefined if they are valid. */
export function entityProblem(entity: unknown, rowId: unknown): string | undefined {
  if (!isMap(entity)) return 'it is not a map';
  const { id, createdAt, updatedAt, tags, isSystem } = entity;
  if (typeof id !== 'string' || id !== rowId) return 'its id differs from that of the row';
  const isDate = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
  if (!isDate(createdAt) || !isDate(updatedAt)) return 'createdAt or updatedAt is not a date';
  if (!isMap(tags)) return 'tags is not a map';
  return typeof isSystem === 'boolean' ? undefined : 'isSystem is not a boolean';
}
