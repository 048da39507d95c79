// Regular expressions that users write, in the language of the reference: Go's RE2, with its texts of errors. Matching
// takes time that grows linearly with the text, for each expression; so RE2 has no lookaround and no backreferences.
// JavaScript's own expressions, which may take exponential time, are for the program's constants only:
// test/house/patterns.test.ts finds others.
//
// The engine is loaded on demand, so that programs start faster.

import { InvariantError } from '../errors.ts';

/** Characters of an expression. */
export const MAX_PATTERN_LENGTH = 512;
/** Characters with those that counted repetitions such as `{1,100}` add; this bounds the time of compilation. */
const MAX_REPEATED_LENGTH = 20_000;
/** Instructions of an expression: each may be executed once for each character of a text. */
const MAX_INSTRUCTIONS = 1_000;

/**
 * Instructions that an expression may have executed before it is compiled again: the engine keeps what it has learned
 * from texts, up to 8 bytes for each.
 */
const MAX_LEARNED = 200_000;

type Engine = typeof import('re2js').RE2JS;
type Program = ReturnType<Engine['compile']>;

let engine: Engine | undefined;

/** Callers await it before they create a pattern. */
export async function loadPatterns(): Promise<void> {
  engine ??= (await import('re2js')).RE2JS;
}

export class LinearPattern {
  /** The largest number of instructions that are executed for a character of a text. */
  readonly instructions: number;
  readonly #expression: string;
  #program: Program | undefined;
  #learned = 0;

  /** @throws Error in the reference's wording, for an expression that is invalid or beyond a limit */
  constructor(expression: string, maxInstructions = MAX_INSTRUCTIONS) {
    if (expression.length > MAX_PATTERN_LENGTH)
      throw new Error(`the regular expression is longer than ${MAX_PATTERN_LENGTH} characters`);
    if (repeatedLength(expression) > MAX_REPEATED_LENGTH)
      throw new Error(`error parsing regexp: the repetitions of \`${expression}\` are too large`);
    this.#expression = expression;
    this.#program = compiled(expression);
    this.instructions = this.#program.programSize();
    if (this.instructions > maxInstructions)
      throw new Error(
        `error parsing regexp: \`${expression}\` has ${this.instructions} instructions; at most ${maxInstructions} are allowed`,
      );
  }

  /** Whether a part of the text matches. */
  readonly matches = (text: string): boolean => {
    this.#program ??= compiled(this.#expression);
    const isMatch = this.#program.test(text);
    this.#learned += this.instructions * (text.length + 1);
    if (this.#learned > MAX_LEARNED) {
      this.#learned = 0;
      this.#program = undefined;
    }
    return isMatch;
  };
}

function compiled(expression: string): Program {
  if (!engine) throw new InvariantError('the engine of regular expressions is not loaded yet');
  return engine.compile(expression);
}

/** At least the characters of an expression whose repetitions are written out. */
function repeatedLength(expression: string): number {
  let repetitions = 0;
  for (const [, least = '', most] of expression.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) repetitions += Number(most || least);
  return expression.length * Math.max(1, repetitions);
}
