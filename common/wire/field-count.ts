// Counts the fields of an encoded protobuf message without decoding it. A field of two bytes needs about a hundred once
// it is decoded, so the size of a body alone does not limit its memory.

import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** The fields of a message that contain messages, by their numbers. */
interface Nested extends ReadonlyMap<number, Nested> {}

/** At least: a tag and a value. */
const BYTES_OF_FIELD = 2;
const MAP_VALUE = 2;
const known = new WeakMap<DescMessage, Nested>();

/** Whether the message has more fields than `most`, with those of messages inside. @throws Error for a broken body */
export function hasMoreFields(schema: DescMessage, body: Uint8Array, max: number): boolean {
  if (body.length <= max * BYTES_OF_FIELD) return false;
  const reader = new BinaryReader(body);
  let count = 0;
  const scan = (end: number, nested: Nested): void => {
    while (reader.pos < end && count <= max) {
      const [number, wireType] = reader.tag();
      count++;
      const inside = wireType === WireType.LengthDelimited ? nested.get(number) : undefined;
      if (!inside) reader.skip(wireType, number);
      else {
        const length = reader.uint32();
        scan(reader.pos + length, inside);
      }
    }
  };
  scan(body.length, nestedOf(schema));
  return count > max;
}

function nestedOf(schema: DescMessage): Nested {
  const cached = known.get(schema);
  if (cached) return cached;
  const nested = new Map<number, Nested>();
  known.set(schema, nested); // before its fields: a message may contain itself
  for (const field of schema.fields) {
    const inside = field.message && nestedOf(field.message);
    if (field.fieldKind === 'map') nested.set(field.number, new Map(inside ? [[MAP_VALUE, inside]] : []));
    else if (inside) nested.set(field.number, inside);
  }
  return nested;
}
