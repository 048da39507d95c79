// The one entrance for protobuf bodies of others: it bounds the fields before it decodes them. A field of two bytes
// needs about a hundred once it is decoded, so a body of a few MiB could take a GiB and seconds.

import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { hasMoreFields } from './field-count.ts';

/**
 * Fields that every body may have, and bytes of each further one on average. Real messages consist of ids, names and
 * addresses: they have twice as many bytes per field.
 */
const FREE_FIELDS = 1_000;
const BYTES_PER_FIELD = 3;

export interface DecodeOptions {
  /** The most fields, with those of messages inside; undefined: as many as the size of the body permits. */
  readonly maxFields?: number | undefined;
  /** False for messages that are kept: unknown fields keep the memory of the whole body. */
  readonly readUnknownFields?: boolean;
}

/** @throws RangeError if it has too many fields, Error for a broken body */
export function decodeBody<Desc extends DescMessage>(
  schema: Desc,
  body: Uint8Array,
  { maxFields = Number.POSITIVE_INFINITY, readUnknownFields = true }: DecodeOptions = {},
): MessageShape<Desc> {
  const max = Math.min(maxFields, FREE_FIELDS + Math.floor(body.length / BYTES_PER_FIELD));
  if (hasMoreFields(schema, body, max)) throw new RangeError(`it has more than ${max} fields in ${body.length} bytes`);
  return fromBinary(schema, body, { readUnknownFields });
}
