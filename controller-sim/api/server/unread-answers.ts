// Bounds the bytes of large answers that clients have not read yet: a client that requests lists over many connections
// and reads none would fill the memory otherwise. Small answers are not counted.

import type { ServerResponse } from 'node:http';
import { Budget } from '#lib/queue/budget.ts';

/** Bytes of an answer that is not counted. */
const FREE = 16 * 1024;
/** Bytes of the answers that are not read yet, in total and for each source. A larger answer counts as this much. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_BYTES_OF_SOURCE = 64 * 1024 * 1024;

export class UnreadAnswers {
  readonly #budget = new Budget({ max: MAX_BYTES, maxOfSource: MAX_BYTES_OF_SOURCE });

  /**
   * Counts an answer of `length` bytes until it is sent. Returns false if the source, or all, would exceed the limit.
   */
  add(response: ServerResponse, source: string, length: number): boolean {
    if (length <= FREE || response.destroyed) return true;
    const counted = Math.min(length, MAX_BYTES_OF_SOURCE);
    if (!this.#budget.acquire(source, counted)) return false;
    response.once('close', () => this.#budget.release(source, counted));
    return true;
  }
}
