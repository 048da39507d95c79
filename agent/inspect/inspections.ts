// Answers inspections by name: to controllers (`ziti fabric inspect`) and to `router inspect FILE NAME`. Names and
// forms are the reference's. Some names have an argument after a colon. Names are case-insensitive.

import { describeError, ProjectError } from '#lib/errors.ts';

/** Returns a text, or a value for JSON; undefined if nothing matches. `argument` is the text after the colon. */
export type Inspection = (argument: string) => unknown;

export interface InspectionsInit {
  /** By lower-case name. */
  readonly named: Readonly<Record<string, Inspection>>;
  /** By lower-case name before the colon. */
  readonly withArgument: Readonly<Record<string, Inspection>>;
}

export interface InspectedValues {
  readonly values: { readonly name: string; readonly value: string }[];
  readonly errors: string[];
}

/** Limit on the characters of all values of an answer, since controllers bound their messages. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Limit on names in one request. */
const MAX_NAMES = 100;

export class Inspections {
  readonly #init: InspectionsInit;

  constructor(init: InspectionsInit) {
    this.#init = init;
  }

  /** All supported names. */
  get names(): string[] {
    const { named, withArgument } = this.#init;
    return [...Object.keys(named), ...Object.keys(withArgument).map((name) => `${name}:ID`)].sort();
  }

  /** Unknown names get no value, as in the reference. A failing one adds an error; the others are still answered. */
  async answer(names: readonly string[]): Promise<InspectedValues> {
    const answer: InspectedValues = { values: [], errors: [] };
    let room = MAX_ANSWER_BYTES;
    if (names.length > MAX_NAMES) return { values: [], errors: [`more than ${MAX_NAMES} values were requested`] };
    for (const name of names) {
      try {
        const found = await this.find(name);
        if (found === undefined) continue;
        const value = typeof found === 'string' ? found : JSON.stringify(found, plainNumbers);
        if (value.length > room)
          throw new ProjectError('TOO_LARGE', `the answer is longer than ${MAX_ANSWER_BYTES} characters`);
        room -= value.length;
        answer.values.push({ name, value });
      } catch (error) {
        answer.errors.push(`${name}: ${describeError(error)}`);
      }
    }
    return answer;
  }

  /** The value of one name; undefined if it is unknown. */
  async find(name: string): Promise<unknown> {
    const { named, withArgument } = this.#init;
    const [kind = ''] = name.split(':', 1);
    const isPlain = kind.length === name.length;
    const inspection = ownEntry(isPlain ? named : withArgument, kind.toLowerCase());
    return inspection?.(name.slice(kind.length + 1));
  }
}

/** The reference's JSON writes 64-bit integers as numbers. */
export function plainNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function ownEntry(table: Readonly<Record<string, Inspection>>, key: string): Inspection | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
