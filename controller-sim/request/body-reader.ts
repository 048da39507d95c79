// Reads the bodies of requests, within a budget: anybody may begin to send one, before it is known who asks. The first part
// of each body is free, so that ordinary requests go on while somebody else has spent the budget.

import type { Readable } from 'node:stream';
import { sourceOf } from '#lib/source-address.ts';
import { ApiError } from './errors.ts';

/** Bytes of a body that do not count; hardly any body is larger. */
const FREE = 16 * 1024;
/** Bytes of the bodies that are being read, in all and for each source. */
const MOST_BYTES = 128 * 1024 * 1024;
const MOST_BYTES_OF_SOURCE = 32 * 1024 * 1024;

export interface BodyOptions {
  readonly remoteAddress: string | undefined;
  /** Bytes of this body. */
  readonly limit: number;
}

export class BodyReader {
  readonly #bySource = new Map<string, number>();
  #bytes = 0;

  /** Rejects with ApiError for a body that is too large, and when too many large ones are being read. The rest of it is discarded. */
  read(body: Readable, { remoteAddress, limit }: BodyOptions): Promise<string> {
    const source = sourceOf(remoteAddress);
    const parts: Buffer[] = [];
    let length = 0;
    let counted = 0;
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
        this.#give(source, counted);
        settle();
      };
      const onData = (part: Buffer) => {
        length += part.length;
        const more = Math.max(0, length - FREE) - counted;
        const code =
          length > limit ? 'REQUEST_ENTITY_TOO_LARGE' : this.#take(source, more) ? undefined : 'RATE_LIMITED';
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

  #take(source: string, bytes: number): boolean {
    if (bytes === 0) return true;
    const own = (this.#bySource.get(source) ?? 0) + bytes;
    if (own > MOST_BYTES_OF_SOURCE || this.#bytes + bytes > MOST_BYTES) return false;
    this.#bySource.set(source, own);
    this.#bytes += bytes;
    return true;
  }

  #give(source: string, bytes: number): void {
    if (bytes === 0) return;
    const own = (this.#bySource.get(source) ?? 0) - bytes;
    if (own > 0) this.#bySource.set(source, own);
    else this.#bySource.delete(source);
    this.#bytes -= bytes;
  }
}
