// The key to the lab API that a start prints. Unlike a session it does not expire, so a test may advance the clock by
// any time; it is valid at the lab only, until the simulator stops.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Random } from '#lib/random.ts';

const BYTES = 32;

export class LabToken {
  readonly value: string;
  readonly #hash: Buffer;

  /** `value` is that of another controller in this process; by default it is random. */
  constructor(random: Random, value = random.bytes(BYTES).toString('base64url')) {
    this.value = value;
    this.#hash = hashOf(value);
  }

  matches(given: string): boolean {
    return timingSafeEqual(this.#hash, hashOf(given));
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
