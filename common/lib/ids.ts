// Identifiers in the network's formats. Their receivers treat them as opaque; the formats matter because other programs
// print, sort and limit them (reference/http-entities.md section 1, wire-control.md 4.4).

import { type Random, systemRandom } from './random.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHORT_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-';
const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz';

export class IdSource {
  readonly #random: Random;

  constructor(random: Random = systemRandom) {
    this.#random = random;
  }

  /** A version 4 UUID, for example `4e5f...-....-4...`. */
  uuid(): string {
    const bytes = this.#uuidBytes();
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  /** A UUID in base 62, at most 22 characters: circuits, links, terminators, services, configs, policies. */
  long(): string {
    let value = BigInt(`0x${this.#uuidBytes().toString('hex')}`);
    let text = '';
    while (value > 0n) {
      text = BASE62[Number(value % 62n)] + text;
      value /= 62n;
    }
    return text || '0';
  }

  /**
   * Ten characters of `A-Za-z0-9.-`: identities, routers. Starts with a letter or a digit, so it is valid in a path.
   */
  short(): string {
    const bytes = this.#random.bytes(10);
    let text = BASE62[bytes.readUInt8(0) % 62] ?? '0';
    for (const byte of bytes.subarray(1)) text += SHORT_ALPHABET[byte & 63];
    return text;
  }

  /** `c` and 24 base 36 characters: API sessions and sessions. */
  cuid(): string {
    let text = 'c';
    for (const byte of this.#random.bytes(24)) text += BASE36[byte % 36];
    return text;
  }

  /** 256 bits in hex, for bearer secrets. No JWT starts like this. */
  secret(): string {
    return this.#random.bytes(32).toString('hex');
  }

  #uuidBytes(): Buffer {
    const bytes = this.#random.bytes(16);
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    return bytes;
  }
}
