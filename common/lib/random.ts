// Randomness as an object: real for security and jitter, seeded for repeatable runs. Only this file and ids.ts use
// Node's generators.

import { randomBytes, randomFillSync } from 'node:crypto';

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** Fresh random bytes. */
  bytes(length: number): Buffer;
}

/** A call of the generator costs more than most ids are long, so one call fetches bytes for many. */
const stock = Buffer.alloc(4_096);
const MAX_FROM_STOCK = 64;
let used = stock.length;

function systemBytes(length: number): Buffer {
  if (length > MAX_FROM_STOCK) return randomBytes(length);
  if (used + length > stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  const bytes = Buffer.from(stock.subarray(used, used + length));
  stock.fill(0, used, used + length); // erases bytes that may become a secret
  used += length;
  return bytes;
}

export const systemRandom: Random = {
  next: () => systemBytes(4).readUInt32LE() / 0x1_0000_0000,
  bytes: systemBytes,
};

/** A repeatable generator (mulberry32). Never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return { next, bytes: (length) => Buffer.from(Array.from({ length }, () => Math.floor(next() * 256))) };
}

/** The largest seed: seeds have 32 bits. */
export const MAX_SEED = 0xff_ff_ff_ff;

/**
 * A repeatable generator for one purpose. Purposes have separate generators, so that the values of one do not depend on
 * how many values the others have drawn, nor when.
 */
export function seededStream(seed: number, purpose: string): Random {
  // FNV-1a of the purpose, beginning with the seed.
  let hash = (0x81_1c_9d_c5 ^ seed) >>> 0;
  for (const byte of Buffer.from(purpose)) hash = Math.imul(hash ^ byte, 0x01_00_01_93) >>> 0;
  return seededRandom(hash);
}
