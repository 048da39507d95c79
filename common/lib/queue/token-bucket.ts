// Limits how often something happens: a burst at once, then a number each second.

export interface TokenBucketOptions {
  /** Tokens that the bucket holds. It is full at first. */
  readonly burst: number;
  /** Tokens that every second adds. */
  readonly perSecond: number;
  /** Tokens that may be taken before they are there. */
  readonly ahead?: number;
}

export class TokenBucket {
  #options: TokenBucketOptions;
  /** Negative: the number of tokens that were taken before they were there. */
  #tokens: number;
  #filledAt: number;

  /** `now` is a monotonic time in milliseconds, here and below. */
  constructor(options: TokenBucketOptions, now: number) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#filledAt = now;
  }

  /** Changes the limits from now on. */
  change(options: TokenBucketOptions, now: number): void {
    this.left(now);
    this.#options = options;
  }

  /** The tokens that are there; negative: as many were taken before they were there. */
  left(now: number): number {
    const { burst, perSecond } = this.#options;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1_000) * perSecond);
    this.#filledAt = now;
    return this.#tokens;
  }

  /**
   * Takes tokens; a negative number gives some back. Returns the milliseconds until they are there; undefined if they
   * may not be taken.
   */
  take(now: number, count = 1): number | undefined {
    const { perSecond, ahead = 0 } = this.#options;
    if (this.left(now) - count < -ahead) return undefined;
    this.#tokens -= count;
    return Math.max(0, (-this.#tokens / perSecond) * 1_000);
  }
}
