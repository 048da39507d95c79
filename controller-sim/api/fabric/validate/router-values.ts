// Inspected values that a router sends as JSON, read field by field as the reference reads them: missing fields and
// null are empty, and a value of the wrong type is an error that names the field.

import { ProjectError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { ROUTER_TIMEOUT } from '../../../control-channel/messages/validate-terminators.ts';
import { inspectOver } from '../../../network/inspect/inspect-over.ts';
import type { AskedRouter } from './router-validation.ts';

/** A router's answer lacks a value, or the value has the wrong type. */
export class RouterValueError extends ProjectError {
  constructor(message: string) {
    super('ROUTER_VALUE', message);
  }
}

/**
 * Asks a router for values by name. Rejects with RouterValueError if the first value is missing: its message has the
 * router's errors, or else `missing`.
 */
export async function askRouter(
  { connected, signal }: AskedRouter,
  names: readonly [string, ...string[]],
  missing: string,
): Promise<(name: string) => Fields> {
  const { values, errors } = await inspectOver(connected.channel, names, { timeout: ROUTER_TIMEOUT, signal });
  const byName = new Map(values.map(({ name, value }) => [name, value]));
  if (byName.get(names[0]) == null) throw new RouterValueError(errors.join(',') || missing);
  return (name) => new Fields(byName.get(name) ?? {}, name);
}

/** A JSON object. */
export class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #name: string;

  /** `name` is for errors. @throws RouterValueError */
  constructor(value: unknown, name: string) {
    if (!isMap(value)) throw new RouterValueError(`${name} is not an object`);
    this.#fields = value;
    this.#name = name;
  }

  text(key: string): string {
    return this.#of(key, 'string', '');
  }

  flag(key: string): boolean {
    return this.#of(key, 'boolean', false);
  }

  count(key: string): number {
    return this.#of(key, 'number', 0);
  }

  texts(key: string): string[] {
    return this.#array(key).map((each) => {
      if (typeof each !== 'string') throw new RouterValueError(`${this.#name}.${key} is not a list of texts`);
      return each;
    });
  }

  list(key: string): Fields[] {
    return this.#array(key).map((each) => new Fields(each, `${this.#name}.${key}`));
  }

  /** The values of an object by their keys. */
  map(key: string): Map<string, Fields> {
    return new Map(this.#entries(key).map(([name, each]) => [name, new Fields(each, `${this.#name}.${key}`)]));
  }

  /** An object whose values are texts. */
  textMap(key: string): Record<string, string> {
    const entries = this.#entries(key);
    if (entries.some(([, each]) => typeof each !== 'string'))
      throw new RouterValueError(`${this.#name}.${key} is not a map of texts`);
    return Object.fromEntries(entries as [string, string][]);
  }

  #entries(key: string): [string, unknown][] {
    const value = this.#value(key) ?? {};
    if (!isMap(value)) throw new RouterValueError(`${this.#name}.${key} is not an object`);
    return Object.entries(value);
  }

  #array(key: string): unknown[] {
    const value = this.#value(key) ?? [];
    if (!Array.isArray(value)) throw new RouterValueError(`${this.#name}.${key} is not a list`);
    return value;
  }

  #of<T extends string | boolean | number>(key: string, type: string, empty: T): T {
    const value = this.#value(key) ?? empty;
    if (typeof value !== type) throw new RouterValueError(`${this.#name}.${key} is not a ${type}`);
    return value as T;
  }

  #value(key: string): unknown {
    return Object.hasOwn(this.#fields, key) ? this.#fields[key] : undefined;
  }
}
