// Encodings of header values: integers little endian of exactly their size, booleans as one byte, strings as UTF-8,
// lists and maps in the channel's compact form (reference fact: messages, section 6). Decoders return undefined for a
// value of another length, which the protocol treats as absent; only the compact forms throw.

import { ProtocolError } from './errors.ts';

const MAX_ITEMS = 128;
const MAX_ITEM_LENGTH = 8192;

export const TRUE = Buffer.from([1]);

export function encodeBool(value: boolean): Buffer {
  return Buffer.from([value ? 1 : 0]);
}

export function encodeUint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

export function encodeInt32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32LE(value | 0);
  return bytes;
}

export function encodeUint64(value: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

export function decodeBool(value: Buffer | undefined): boolean {
  return value?.length === 1 && value[0] === 1;
}

export function decodeUint32(value: Buffer | undefined): number | undefined {
  return value?.length === 4 ? value.readUInt32LE() : undefined;
}

export function decodeInt32(value: Buffer | undefined): number | undefined {
  return value?.length === 4 ? value.readInt32LE() : undefined;
}

export function decodeUint64(value: Buffer | undefined): bigint | undefined {
  return value?.length === 8 ? value.readBigUInt64LE() : undefined;
}

export function decodeString(value: Buffer | undefined): string | undefined {
  return value?.toString('utf8');
}

/** A capability mask: an unsigned big endian number in its shortest form. `bits` are bit numbers. */
export function encodeBitMask(bits: Iterable<number>): Buffer {
  let mask = 0n;
  for (const bit of bits) mask |= 1n << BigInt(bit);
  const hex = mask.toString(16);
  return mask === 0n ? Buffer.alloc(0) : Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
}

/** Whether `bit` is set in a mask of encodeBitMask. */
export function hasBit(mask: Buffer | undefined, bit: number): boolean {
  const byte = mask?.[mask.length - 1 - (bit >> 3)];
  return byte !== undefined && (byte & (1 << (bit & 7))) !== 0;
}

/** Count, then length and bytes per item. An empty list is an empty value. */
export function encodeStringList(items: readonly string[]): Buffer {
  if (items.length === 0) return Buffer.alloc(0);
  return Buffer.concat([encodeUint32(items.length), ...items.flatMap((item) => lengthAndBytes(Buffer.from(item)))]);
}

/** Count, then key, length and bytes per entry. An empty map is an empty value. */
export function encodeBytesMap(entries: ReadonlyMap<number, Uint8Array>): Buffer {
  if (entries.size === 0) return Buffer.alloc(0);
  const parts = [encodeUint32(entries.size)];
  for (const [key, bytes] of entries) parts.push(encodeUint32(key), ...lengthAndBytes(bytes));
  return Buffer.concat(parts);
}

export function decodeBytesMap(value: Buffer | undefined): Map<number, Buffer> {
  const reader = new CompactReader(value);
  const entries = new Map<number, Buffer>();
  for (let rest = reader.count(); rest > 0; rest--) entries.set(reader.uint32(), reader.bytes());
  return entries;
}

/** Count, then key and value per entry, each with its length. An empty map is an empty value. */
export function encodeStringMap(entries: Readonly<Record<string, string>>): Buffer {
  const pairs = Object.entries(entries);
  if (pairs.length === 0) return Buffer.alloc(0);
  const parts = [encodeUint32(pairs.length)];
  for (const [key, text] of pairs)
    parts.push(...lengthAndBytes(Buffer.from(key)), ...lengthAndBytes(Buffer.from(text)));
  return Buffer.concat(parts);
}

function lengthAndBytes(bytes: Uint8Array): Buffer[] {
  return [encodeUint32(bytes.length), Buffer.from(bytes)];
}

/** Reads the compact forms; rejects lengths above the protocol's limits or beyond the value. */
class CompactReader {
  readonly #value: Buffer;
  #offset = 0;

  constructor(value: Buffer | undefined) {
    this.#value = value ?? Buffer.alloc(0);
  }

  count(): number {
    if (this.#value.length === 0) return 0;
    const count = this.uint32();
    if (count > MAX_ITEMS) throw new ProtocolError(`a list of ${count} items is longer than the allowed ${MAX_ITEMS}`);
    return count;
  }

  uint32(): number {
    if (this.#offset + 4 > this.#value.length) throw new ProtocolError('a list or map ends in the middle of a number');
    const value = this.#value.readUInt32LE(this.#offset);
    this.#offset += 4;
    return value;
  }

  bytes(): Buffer {
    const length = this.uint32();
    if (length > MAX_ITEM_LENGTH)
      throw new ProtocolError(`an item of ${length} bytes is longer than the allowed ${MAX_ITEM_LENGTH}`);
    if (this.#offset + length > this.#value.length)
      throw new ProtocolError('a list or map ends in the middle of an item');
    const bytes = this.#value.subarray(this.#offset, this.#offset + length);
    this.#offset += length;
    return bytes;
  }
}
