// Reads fields of validated request bodies. Null counts as missing.

import { badRequest } from '../errors/errors.ts';
import type { Precedence, Tags } from '../state/types.ts';

/** Whether bodies of a content type are parsed. reference fact: without one they are not. */
export function isJson(contentType: string): boolean {
  return /^application\/json *(?:;|$)/i.test(contentType);
}

export type Mode = 'create' | 'update' | 'patch';

/** Whether a value contains anything but null. An empty map is a value. The JSON depth limit bounds the recursion. */
function hasValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value !== null && value !== undefined;
  const inner = Object.values(value);
  return inner.length === 0 || inner.some(hasValue);
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The body of a request. In a patch only the given fields count. */
export class Body {
  readonly mode: Mode;
  readonly #fields: Readonly<Record<string, unknown>>;

  /** `body` is an object or undefined. */
  constructor(body: unknown, mode: Mode) {
    this.#fields = (body ?? {}) as Readonly<Record<string, unknown>>;
    this.mode = mode;
  }

  /** Whether the field is present and not null. */
  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  raw(name: string): unknown {
    return this.#fields[name];
  }

  /**
   * Throws ApiError for a patch without a value (reference fact: HTTP entities, section 1; the reference answers 500).
   * Every field outside `ignored` counts, even one that cannot be changed.
   */
  demandValue(ignored: readonly string[]): void {
    const isGiven = ([name, value]: [string, unknown]) => !ignored.includes(name) && hasValue(value);
    if (this.mode === 'patch' && !Object.entries(this.#fields).some(isGiven))
      throw badRequest('no fields updated, nothing to do');
  }

  text(name: string): string | undefined {
    const value = this.#fields[name];
    return typeof value === 'string' ? value : undefined;
  }

  flag(name: string): boolean | undefined {
    const value = this.#fields[name];
    return typeof value === 'boolean' ? value : undefined;
  }

  whole(name: string): number | undefined {
    const value = this.#fields[name];
    return typeof value === 'number' ? value : undefined;
  }

  /** reference fact: a null in a list is an empty text. */
  texts(name: string): string[] | undefined {
    const value = this.#fields[name];
    return Array.isArray(value) ? value.map((each) => (each === null ? '' : String(each))) : undefined;
  }

  map(name: string): Record<string, unknown> | undefined {
    const value = this.#fields[name];
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...(value as Record<string, unknown>) }
      : undefined;
  }

  /**
   * The tags of an entity. reference fact: lists and maps in tags are dropped without an error. A test with the
   * simulator has to show that loss.
   */
  tags(): Tags | undefined {
    const tags = this.map('tags');
    return tags && Object.fromEntries(Object.entries(tags).filter(([, value]) => !isNested(value)));
  }

  /** Names of the tags that `tags` drops. */
  droppedTags(): string[] {
    return Object.entries(this.map('tags') ?? {}).flatMap(([name, value]) => (isNested(value) ? name : []));
  }

  /** Throws ApiError for a list or a map within the map (reference fact: some entities cannot store them). */
  flatMap(name: string): Tags | undefined {
    const map = this.map(name);
    const nested = Object.keys(map ?? {}).find((key) => isNested(map?.[key]));
    if (nested !== undefined)
      throw badRequest(`${name} cannot hold lists or maps: ${nested}; write it as text, such as JSON`);
    return map;
  }

  /** An object field as a body of its own; empty if it is missing. */
  part(name: string): Body {
    return new Body(this.map(name), this.mode);
  }

  list(name: string): Body[] {
    const value = this.#fields[name];
    return Array.isArray(value) ? value.map((each) => new Body(each, this.mode)) : [];
  }

  /** reference fact: an empty text is the start of 1970. */
  date(name: string): Date | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : new Date(value || 0);
  }

  /** reference fact: an empty text is the default. */
  precedence(name: string): Precedence | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : ((value || 'default') as Precedence);
  }
}
