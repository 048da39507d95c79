// Answers inspections by name: to controllers (`ziti fabric inspect`) and to `router inspect FILE NAME`. Names and forms
// are the reference's. Some names carry an argument behind a colon. Names are compared without regard to case.

import { describeError, ProjectError } from '#lib/errors.ts';

/** A text, or what becomes JSON; undefined when there is nothing of that name. `argument` is what follows the colon. */
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

/** Characters of all values of an answer, since controllers bound their messages. */
const LARGEST_ANSWER = 32 * 1024 * 1024;
/** Names in one request. */
const MOST_NAMES = 100;

export class Inspections {
  readonly #init: InspectionsInit;

  constructor(init: InspectionsInit) {
    this.#init = init;
  }

  /** Names that can be asked for. */
  get names(): string[] {
    const { named, withArgument } = this.#init;
    return [...Object.keys(named), ...Object.keys(withArgument).map((name) => `${name}:ID`)].sort();
  }

  /** Unknown names get no value, as in the reference; one that fails adds an error, and the others are still answered. */
  async answer(names: readonly string[]): Promise<InspectedValues> {
    const answer: InspectedValues = { values: [], errors: [] };
    let room = LARGEST_ANSWER;
    if (names.length > MOST_NAMES) return { values: [], errors: [`more than ${MOST_NAMES} values were requested`] };
    for (const name of names) {
      try {
        const found = await this.find(name);
        if (found === undefined) continue;
        const value = typeof found === 'string' ? found : JSON.stringify(found, plainNumbers);
        if (value.length > room)
          throw new ProjectError('TOO_LARGE', `the answer is longer than ${LARGEST_ANSWER} characters`);
        room -= value.length;
        answer.values.push({ name, value });
      } catch (error) {
        answer.errors.push(`${name}: ${describeError(error)}`);
      }
    }
    return answer;
  }

  /** The value of one name; undefined when there is none. */
  async find(name: string): Promise<unknown> {
    const { named, withArgument } = this.#init;
    const [kind = ''] = name.split(':', 1);
    const isPlain = kind.length === name.length;
    const inspection = ownEntry(isPlain ? named : withArgument, kind.toLowerCase());
    return inspection?.(name.slice(kind.length + 1));
  }
}

/** Numbers of 64 bits are numbers in the reference's JSON. */
export function plainNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function ownEntry(table: Readonly<Record<string, Inspection>>, key: string): Inspection | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
