// Mistakes in a seed, each with its place and remedy. Messages contain names and fields, never values: a value may be a
// password.

import { ProjectError } from '#lib/errors.ts';

/** The keys and indexes that lead to a value, such as `['identities', 0, 'name']`. */
export type SeedPath = readonly (string | number)[];

export interface SeedMistake {
  /** `identities[0].name` */
  readonly path: string;
  /** From 1; only if the seed is a text. */
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/** Limit on the mistakes in a message. */
const MOST_LISTED = 50;

/** The seed has mistakes, and nothing was changed. */
export class SeedError extends ProjectError {
  readonly mistakes: readonly SeedMistake[];

  /** `file`: the name of the seed in the message. */
  constructor(mistakes: readonly SeedMistake[], file = 'the seed') {
    super('SEED', describeMistakes(mistakes, file));
    this.mistakes = mistakes;
  }
}

/** One line for each mistake, and one above them that counts them. */
export function describeMistakes(mistakes: readonly SeedMistake[], file: string): string {
  const lines = mistakes.slice(0, MOST_LISTED).map((mistake) => describe(mistake, file));
  const [only] = lines;
  if (lines.length === 1 && only !== undefined) return only;
  const rest = mistakes.length - lines.length;
  if (rest > 0) lines.push(`and ${rest} more`);
  return [`${file} has ${mistakes.length} mistakes, and nothing was changed`, ...lines].join('\n  ');
}

function describe({ path, line, column, message }: SeedMistake, file: string): string {
  const place = line === undefined ? path || file : `${file}:${line}:${column}${path && ` ${path}`}`;
  return `${place}: ${message}`;
}

/** `identities[0].name` */
export function pathText(path: SeedPath): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}
