// The part of DER that is needed: writes certificates, requests and lists of certificates, and reads their values.

/** Universal tags as in the first byte. */
export const Tag = Object.freeze({
  Boolean: 0x01,
  Integer: 0x02,
  BitString: 0x03,
  OctetString: 0x04,
  Null: 0x05,
  Oid: 0x06,
  Utf8: 0x0c,
  Printable: 0x13,
  Ia5: 0x16,
  UtcTime: 0x17,
  GeneralizedTime: 0x18,
  Sequence: 0x30,
  Set: 0x31,
} as const);

/** Encodes a value with its tag and length. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthBytes(body.length), body]);
}

export function sequence(...content: readonly Uint8Array[]): Buffer {
  return der(Tag.Sequence, ...content);
}

/** `context(0, …)` is [0] CONSTRUCTED; with `primitive` the content is not wrapped. */
export function context(number: number, content: Uint8Array, options: { primitive?: boolean } = {}): Buffer {
  return der((options.primitive ? 0x80 : 0xa0) | number, content);
}

export function integer(value: number): Buffer {
  return der(Tag.Integer, Buffer.from([value]));
}

/** An object identifier from its dotted text. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(Tag.Oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

export function utf8(text: string): Buffer {
  return der(Tag.Utf8, Buffer.from(text));
}

/** A bit string without unused bits. */
export function bitString(bytes: Uint8Array): Buffer {
  return der(Tag.BitString, Buffer.from([0]), bytes);
}

export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly whole: Buffer;
}

/** Reads consecutive values in `bytes`. @throws RangeError for lengths beyond the end */
export function readDer(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const { length, headLength } = readLength(bytes, offset);
    const end = offset + headLength + length;
    if (end > bytes.length) throw new RangeError('a DER value exceeds its container');
    values.push({
      tag: bytes.readUInt8(offset),
      content: bytes.subarray(offset + headLength, end),
      whole: bytes.subarray(offset, end),
    });
    offset = end;
  }
  return values;
}

/** The dotted text of an object identifier from its content. */
export function readOid(content: Buffer): string {
  const [first = 0, ...rest] = base128Numbers(content);
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - top * 40, ...rest].join('.');
}

function readLength(bytes: Buffer, offset: number): { length: number; headLength: number } {
  const first = bytes[offset + 1];
  if (first === undefined) throw new RangeError('a DER value has no length');
  if (first < 0x80) return { length: first, headLength: 2 };
  const count = first & 0x7f;
  if (count === 0 || count > 4 || offset + 2 + count > bytes.length) throw new RangeError('a DER length is invalid');
  return { length: bytes.readUIntBE(offset + 2, count), headLength: 2 + count };
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

function base128Numbers(bytes: Buffer): number[] {
  const numbers: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    numbers.push(value);
    value = 0;
  }
  return numbers;
}
