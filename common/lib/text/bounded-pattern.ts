// A regular expression that somebody else chose: matching takes exponential time for some of them, which are harmless
// in other languages. Each text is matched in bounded time, and results are cached, because texts repeat.

import { within } from '../bounded.ts';

/** Milliseconds of processor time for one text: a good expression needs microseconds. */
export const MAX_LOOK_MS = 20;
/** Cached results of an expression. */
const MAX_KNOWN = 2_000;
/** Characters of a cached text. */
const MAX_KNOWN_LENGTH = 256;

export class BoundedPattern {
  readonly #pattern: RegExp;
  readonly #onSlow: () => void;
  readonly #known = new Map<string, boolean>();
  #isTooSlow = false;

  /** `onSlow` is called once, when a text takes too long. @throws SyntaxError for an invalid expression */
  constructor(expression: string, onSlow: () => void = () => undefined) {
    this.#pattern = new RegExp(expression);
    this.#onSlow = onSlow;
  }

  /** Once a text has taken too long, nothing matches: each expression delays the program once. */
  readonly matches = (text: string): boolean => this.#known.get(text) ?? this.matching([text]).length > 0;

  /** The texts that match. Together they have the time of one: a limit costs more than a comparison. */
  matching(texts: readonly string[]): string[] {
    if (this.#isTooSlow) return [];
    let found: ReadonlySet<string>;
    try {
      found = new Set(within(MAX_LOOK_MS, () => texts.filter((text) => this.#pattern.test(text))));
    } catch {
      this.#isTooSlow = true;
      this.#known.clear();
      this.#onSlow();
      return [];
    }
    for (const text of texts)
      if (this.#known.size < MAX_KNOWN && text.length <= MAX_KNOWN_LENGTH) this.#known.set(text, found.has(text));
    return [...found];
  }
}
