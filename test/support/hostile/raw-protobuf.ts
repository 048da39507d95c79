// Protobuf bodies by field number, independent of the generated code: tests compare programs with the recorded field
// numbers of the reference.

/** A number with 64 bits of fixed width, as protobuf encodes `double`. */
interface Double {
  readonly double: number;
}

type FieldValue = number | bigint | string | Buffer | Double;
export type RawField = readonly [field: number, value: FieldValue];

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;

/** Encodes fields in order. A nested message is the Buffer of its own fields. */
export function rawMessage(...fields: readonly RawField[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([field, value]) => {
      if (typeof value === 'string' || Buffer.isBuffer(value)) {
        const bytes = Buffer.from(value as string);
        return [varint(BigInt(field) * 8n + BigInt(BYTES)), varint(BigInt(bytes.length)), bytes];
      }
      if (typeof value !== 'object') return [varint(BigInt(field) * 8n + BigInt(VARINT)), varint(BigInt(value))];
      const fixed = Buffer.alloc(8);
      fixed.writeDoubleLE(value.double);
      return [varint(BigInt(field) * 8n + BigInt(FIXED_64)), fixed];
    }),
  );
}

/** The values of each field, in order. Texts, bytes and nested messages are Buffers. */
export function readRaw(bytes: Buffer): Map<number, (number | Buffer)[]> {
  const fields = new Map<number, (number | Buffer)[]>();
  for (let offset = 0; offset < bytes.length; ) {
    const tag = readVarint(bytes, offset);
    const [field, type] = [tag.value >> 3, tag.value & 7];
    offset = tag.end;
    const add = (value: number | Buffer) => fields.set(field, [...(fields.get(field) ?? []), value]);
    if (type === FIXED_64) {
      add(bytes.subarray(offset, offset + 8));
      offset += 8;
      continue;
    }
    const { value, end } = readVarint(bytes, offset);
    if (type === VARINT) add(value);
    else add(bytes.subarray(end, end + value));
    offset = type === VARINT ? end : end + value;
  }
  return fields;
}

/** The text of a field; empty if it is absent, as in protobuf. */
export function rawText(bytes: Buffer, field: number): string {
  return (readRaw(bytes).get(field)?.[0] ?? '').toString();
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0;
  for (let end = start, factor = 1; ; end++, factor *= 128) {
    const byte = bytes[end] ?? 0;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, end: end + 1 };
  }
}
