// Keeps a repeated condition from filling the log: each phrase has a token bucket that refills slowly. Suppressed lines
// are counted and summarized in one line, so that every event is visible and no peer can force log volume.

import { TokenBucket } from '../queue/token-bucket.ts';
import type { Clock, Timer } from '../time/clock.ts';

/** Lines of one phrase. */
const RATE = { burst: 100, perSecond: 10 };
/** Milliseconds between two summaries. */
const SUMMARY_INTERVAL = 10_000;
/** Limit on phrases. They are fixed texts in the code; a text that contains data must not make the table grow. */
const MAX_PHRASES = 2_000;

interface Phrase {
  readonly lines: TokenBucket;
  suppressed: number;
}

export interface LogRepeatsOptions {
  clock: Clock;
  /** Writes the summary of one phrase. `seconds` is an upper bound of the time since the first suppressed line. */
  summarise(phrase: string, suppressed: number, seconds: number): void;
}

export class LogRepeats {
  readonly #options: LogRepeatsOptions;
  readonly #phrases = new Map<string, Phrase>();
  #timer: Timer | undefined;

  constructor(options: LogRepeatsOptions) {
    this.#options = options;
  }

  /** Whether a line with this phrase may be written; a suppressed one is counted. */
  admit(phrase: string): boolean {
    const now = this.#options.clock.monotonic();
    const known = this.#phrases.get(phrase) ?? this.#add(phrase, now);
    if (known.lines.take(now) !== undefined) return true;
    known.suppressed++;
    this.#timer ??= this.#options.clock.after('log summary', SUMMARY_INTERVAL, () => this.summarise());
    return false;
  }

  /** Writes the summaries that are due. */
  summarise(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const [phrase, known] of this.#phrases) {
      const { suppressed } = known;
      known.suppressed = 0;
      if (suppressed > 0) this.#options.summarise(phrase, suppressed, SUMMARY_INTERVAL / 1_000);
    }
  }

  #add(phrase: string, now: number): Phrase {
    if (this.#phrases.size >= MAX_PHRASES) {
      this.summarise();
      this.#phrases.clear();
    }
    const added = { lines: new TokenBucket(RATE, now), suppressed: 0 };
    this.#phrases.set(phrase, added);
    return added;
  }
}
