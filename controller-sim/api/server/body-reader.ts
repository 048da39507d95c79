// Reads request bodies within a budget: anyone may begin to send one before authentication. The first part of each body
// is free, so that ordinary requests continue while another source has spent the budget.

import type { Readable } from 'node:stream';
import { sourceOf } from '#lib/net/source-address.ts';
import { Budget } from '#lib/queue/budget.ts';
import { ApiError } from '../../errors/errors.ts';

/** Bytes of each body outside the budget; few bodies are larger. */
const FREE = 16 * 1024;
/** Bytes of the bodies in progress, in total and for each source. */
const MAX_BYTES = 128 * 1024 * 1024;
const MAX_BYTES_OF_SOURCE = 32 * 1024 * 1024;

export interface BodyOptions {
  readonly remoteAddress: string | undefined;
  /** Bytes of this body. */
  readonly limit: number;
}

export class BodyReader {
  readonly #budget = new Budget({ max: MAX_BYTES, maxOfSource: MAX_BYTES_OF_SOURCE });

  /**
   * Rejects with ApiError for a body that is too large, or while too many large ones are in progress. The rest is
   * discarded.
   */
  read(body: Readable, { remoteAddress, limit }: BodyOptions): Promise<string> {
    const source = sourceOf(remoteAddress);
    const parts: Buffer[] = [];
    let length = 0;
    let counted = 0;
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
        this.#budget.release(source, counted);
        settle();
      };
      const onData = (part: Buffer) => {
        length += part.length;
        const more = Math.max(0, length - FREE) - counted;
        const code =
          length > limit ? 'REQUEST_ENTITY_TOO_LARGE' : this.#budget.acquire(source, more) ? undefined : 'RATE_LIMITED';
        if (code === undefined) {
          counted += more;
          parts.push(part);
          return;
        }
        finish(() => reject(new ApiError(code)));
        body.on('error', () => undefined).resume();
      };
      const onEnd = () => finish(() => resolve(Buffer.concat(parts, length).toString()));
      const onBroken = () => finish(() => reject(new ApiError('COULD_NOT_PARSE_BODY')));
      body.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
    });
  }
}
