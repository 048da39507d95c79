// The rejected requests of one SDK client. SDKs repeat a rejected bind at once, for as long as they hold its token, so
// the answers of a client with many rejections are delayed and its log lines are limited. Answers to requests that
// succeed are never delayed.

import { createHash } from 'node:crypto';
import { RepeatedCondition } from '#lib/log/repeated-condition.ts';
import { BoundedMap } from '#lib/queue/bounded-map.ts';
import { TokenBucket } from '#lib/queue/token-bucket.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';

/** Milliseconds. The Go SDK waits 5 s for the answer to a bind. */
const MAX_DELAY_MS = 3_000;
/** Rejections that are answered: a burst at once, and those ahead of the rate with a delay. */
const RATE = { burst: 100, perSecond: 5, ahead: 15 };
/** Limit on answers that wait; further ones are sent at once. */
const MAX_WAITING = 10_000;
/** Limit in bytes on the answers that wait. They contain texts of the client and of posture checks. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Rejections of one token, and milliseconds since the first of them, until its client gets a hint. */
const REPEATED = 3;
/** A bind may arrive before the change of the data model that permits it. */
const MODEL_DELAY = 1_000;
/** Milliseconds between two hints about one token. The Go SDK acts 5 s after a hint, with a login and a new session. */
const HINT_INTERVAL = 30_000;
/** Limit on tokens of which rejections are counted. */
const MAX_TOKENS = 1_000;
/** Limit on texts that have log lines of their own; further texts share one. */
const MAX_TEXTS = 16;

interface Token {
  rejections: number;
  readonly firstAt: number;
  hintedAt: number;
}

export class Rejections {
  readonly #clock: Clock;
  readonly #tokens = new BoundedMap<string, Token>(MAX_TOKENS);
  /** Which ones get a log line. */
  readonly logged: RepeatedCondition;
  /** The answers that wait. */
  readonly #waiting = new Set<Timer>();
  #waitingBytes = 0;
  readonly #answers: TokenBucket;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.logged = new RepeatedCondition(clock, { maxKinds: MAX_TEXTS });
    this.#answers = new TokenBucket(RATE, clock.monotonic());
  }

  /**
   * Runs `send` when the rejection may be answered; never if the client disconnects before. `bytes` is the size of the
   * answer.
   */
  answer(bytes: number, send: () => void): void {
    if (this.#isClosed) return;
    const delay = this.#answers.take(this.#clock.monotonic()) ?? MAX_DELAY_MS;
    if (delay === 0 || this.#waiting.size >= MAX_WAITING || this.#waitingBytes + bytes > MAX_BYTES) {
      send();
      return;
    }
    const timer = this.#clock.after('answer to a rejected request', delay, () => {
      this.#waiting.delete(timer);
      this.#waitingBytes -= bytes;
      send();
    });
    this.#waiting.add(timer);
    this.#waitingBytes += bytes;
  }

  /** Counts the rejection of a bind. Returns true if its client repeats it and is to start over with a new session. */
  repeatsBind(token: string): boolean {
    const now = this.#clock.monotonic();
    const key = keyOf(token);
    const known = this.#tokens.get(key) ?? { rejections: 0, firstAt: now, hintedAt: Number.NEGATIVE_INFINITY };
    this.#tokens.delete(key);
    this.#tokens.set(key, known);
    known.rejections++;
    if (known.rejections < REPEATED || now - known.firstAt < MODEL_DELAY) return false;
    if (now - known.hintedAt < HINT_INTERVAL) return false;
    known.hintedAt = now;
    return true;
  }

  /** A bind with the token succeeded. */
  accepted(token: string): void {
    if (this.#tokens.size > 0) this.#tokens.delete(keyOf(token));
  }

  /** The client disconnected. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#waiting) timer.cancel();
    this.#waiting.clear();
  }
}

/** Tokens are secrets, and long. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
