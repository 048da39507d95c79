// Answers that are rendered and compressed at most once a second, however many clients ask. The callers use few keys:
// an entry stays until its key is asked for again.

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Clock } from '#lib/time/clock.ts';

export type Coding = 'br' | 'gzip';

/** Milliseconds; collectors and probes ask every few seconds. */
const REUSE_TIME = 1_000;
/** Faster than gzip. The default quality would stop the router for most of a second per megabyte. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** A body that is compressed at the first request for each coding. */
export class ReusedBody {
  readonly text: string;
  readonly #encoded = new Map<Coding | undefined, Buffer>();

  constructor(text: string) {
    this.text = text;
  }

  /** @param coding undefined for the plain text */
  encoded(coding: Coding | undefined): Buffer {
    const known = this.#encoded.get(coding);
    if (known) return known;
    const made = compress(this.text, coding);
    this.#encoded.set(coding, made);
    return made;
  }
}

export class RecentAnswers {
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly at: number; readonly body: Promise<ReusedBody> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The body that `render` returned for the key within the last second, or a new one. */
  get(key: string, render: () => string | Promise<string>): Promise<ReusedBody> {
    const now = this.#clock.monotonic();
    const known = this.#entries.get(key);
    if (known && now - known.at < REUSE_TIME) return known.body;
    const body = Promise.resolve(render()).then((text) => new ReusedBody(text));
    this.#entries.set(key, { at: now, body });
    // The caller reports the error.
    body.catch(() => this.#entries.get(key)?.body === body && this.#entries.delete(key));
    return body;
  }
}

function compress(text: string, coding: Coding | undefined): Buffer {
  if (coding === 'br') return brotliCompressSync(text, BROTLI);
  return coding === 'gzip' ? gzipSync(text) : Buffer.from(text);
}
