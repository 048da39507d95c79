// The size of values that are keys of an index: unique fields, role attributes, selectors and names of tags. The stores
// of this controller would keep longer ones, but no controller of the reference could take them over.

import { shown } from '#lib/text/shown-text.ts';
import { ApiError } from '../errors/errors.ts';
import type { Entity } from './entity.ts';
import type { Kind } from './kind.ts';
import { type EntityKind, KINDS } from './kinds.ts';

/** Bytes of an id: every store has an index of them. */
const MAX_ID = 1_024;
/** Bytes of a key; reference fact: its database has this limit. */
const MAX_KEY_BYTES = 32_768;
/** Bytes in UTF-8 of one UTF-16 unit, at most. */
const BYTES_OF_UNIT = 3;

/** Throws ApiError for the first value that is too long, the id included. */
export function checkIndexKeys(kind: EntityKind, entity: Entity): void {
  if (Buffer.byteLength(entity.id) > MAX_ID)
    throw new ApiError('COULD_NOT_VALIDATE', {
      field: 'id',
      reason: `an id has at most ${MAX_ID} bytes`,
      value: shown(entity.id),
    });
  const { unique = [], hasRoleAttributes, refers = [] } = KINDS[kind] as Kind<Entity, EntityKind, string>;
  const fields = entity as unknown as Readonly<Record<string, unknown>>;
  for (const name of unique) checkKey(name, fields[name], MAX_KEY_BYTES);
  // reference fact: a type takes one byte of these keys.
  const sets = refers.filter(({ form }) => form === 'selectors').map(({ key }) => key);
  for (const name of hasRoleAttributes ? [...sets, 'roleAttributes'] : sets)
    if (Array.isArray(fields[name])) for (const value of fields[name]) checkKey(name, value, MAX_KEY_BYTES - 1);
  for (const tag of Object.keys((fields.tags ?? {}) as object)) checkKey('tags', tag, MAX_KEY_BYTES);
}

function checkKey(field: string, value: unknown, max: number): void {
  if (typeof value !== 'string' || value.length * BYTES_OF_UNIT <= max) return;
  const bytes = Buffer.byteLength(value);
  if (bytes <= max) return;
  // reference fact: the code, and the beginning of the message.
  const message = `key too large: ${field} has ${bytes} bytes, at most ${max} are possible: ${shown(value)}`;
  throw new ApiError('UNHANDLED_REQUEST', { code: 'UNHANDLED', message });
}
