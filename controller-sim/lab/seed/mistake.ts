// Mistakes in a seed, each with its place and remedy. Messages contain names and fields, never values: a value may be a
// password.

import { ProjectError } from '#lib/errors.ts';
import { shown } from '#lib/text/shown-text.ts';

/** The keys and indexes that lead to a value, such as `['identities', 0, 'name']`. */
export type SeedPath = readonly (string | number)[];

/** Adds a mistake. A message that takes work is a function, which is called only for mistakes that are shown. */
export type Note = (path: SeedPath, message: string | (() => string)) => void;

export interface SeedMistake {
  /** `identities[0].name` */
  readonly path: string;
  /** From 1; only if the seed is a text. */
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/** Limit on the mistakes in a message, and on those with a place and a remedy: finding them takes time. */
const MAX_LISTED = 50;
const MAX_KEPT = 100;

/** The mistakes of a seed: counts all of them, and keeps the first ones. */
export class Mistakes {
  /** By path and message: several checks may find the same mistake. */
  readonly #kept = new Map<string, SeedMistake>();
  #further = 0;

  get count(): number {
    return this.#kept.size + this.#further;
  }

  /** `make` is called only for the first mistakes. */
  add(make: () => SeedMistake): void {
    if (this.#kept.size >= MAX_KEPT) {
      this.#further++;
      return;
    }
    const mistake = make();
    this.#kept.set(`${mistake.path} ${mistake.message}`, mistake);
  }

  /** In the order of the text. */
  error(file?: string): SeedError {
    const kept = [...this.#kept.values()];
    kept.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
    return new SeedError(kept, file, this.count);
  }
}

/** The seed has mistakes, and nothing was changed. */
export class SeedError extends ProjectError {
  /** The first hundred. */
  readonly mistakes: readonly SeedMistake[];

  /** `file`: the name of the seed in the message; `count`: of all mistakes. */
  constructor(mistakes: readonly SeedMistake[], file = 'the seed', count = mistakes.length) {
    super('SEED', describeMistakes(mistakes, file, count));
    this.mistakes = mistakes;
  }
}

/** One line for each mistake, and one above them that counts them. */
export function describeMistakes(mistakes: readonly SeedMistake[], file: string, count = mistakes.length): string {
  const lines = mistakes.slice(0, MAX_LISTED).map((mistake) => describe(mistake, file));
  const [only] = lines;
  if (count === 1 && only !== undefined) return only;
  const rest = count - lines.length;
  if (rest > 0) lines.push(`and ${rest} more`);
  return [`${file} has ${count} mistakes, and nothing was changed`, ...lines].join('\n  ');
}

function describe({ path, line, column, message }: SeedMistake, file: string): string {
  const place = line === undefined ? path || file : `${file}:${line}:${column}${path && ` ${path}`}`;
  return `${place}: ${message}`;
}

/** `identities[0].name` */
export function pathText(path: SeedPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? shown(part) : `${text}.${shown(part)}`;
  }, '');
}
