// Validated request bodies, as the rules of entities read them. Null counts as missing.

import { isMap } from '#lib/json/is-map.ts';
import { badRequest } from '../errors/errors.ts';
import type { Precedence, Tags } from '../state/entity.ts';

/** Whether bodies of a content type are parsed. reference fact: without one they are not. */
export function isJson(contentType: string): boolean {
  return /^application\/json *(?:;|$)/i.test(contentType);
}

export type Mode = 'create' | 'update' | 'patch';

/** Whether a value contains anything but null. An empty map is a value. The JSON depth limit bounds the recursion. */
function hasValue(value: unknown): boolean {
  if (!isMap(value)) return value !== null && value !== undefined;
  const inner = Object.values(value);
  return inner.length === 0 || inner.some(hasValue);
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The fields of a body. In the rules of an entity, those of all its bodies: each may be missing or null. */
export type Given<B> = { readonly [K in FieldOf<B>]?: ValueOf<B, K> | null | undefined };
type FieldOf<B> = B extends unknown ? keyof B : never;
type ValueOf<B, K extends PropertyKey> = B extends unknown ? (K extends keyof B ? B[K] : never) : never;

/** A validated body of one of the types `B` (schemas/api/gen/bodies.ts). In a patch only the given fields count. */
export class Body<B extends object = object> {
  readonly mode: Mode;
  readonly given: Given<B>;

  /** `body` is undefined for a missing one. */
  constructor(body: B | undefined, mode: Mode) {
    this.given = (body ?? {}) as Given<B>;
    this.mode = mode;
  }

  /** The current entity if this is a patch, which keeps the fields that are missing; else undefined. */
  kept<T>(current: T | undefined): T | undefined {
    return this.mode === 'patch' ? current : undefined;
  }

  /**
   * Throws ApiError for a patch without a value (reference fact: HTTP entities, section 1; the reference answers 500).
   * Every field outside `ignored` counts, even one that cannot be changed.
   */
  requireValue(ignored: readonly string[]): void {
    const isGiven = ([name, value]: [string, unknown]) => !ignored.includes(name) && hasValue(value);
    if (this.mode === 'patch' && !Object.entries(this.given).some(isGiven))
      throw badRequest('no fields updated, nothing to do');
  }

  /**
   * The tags of an entity. reference fact: lists and maps in tags are dropped without an error. A test with the
   * simulator has to show that loss.
   */
  tags(): Tags | undefined {
    const tags = this.#tags;
    return tags && Object.fromEntries(Object.entries(tags).filter(([, value]) => !isNested(value)));
  }

  /** Names of the tags that `tags` drops. */
  droppedTags(): string[] {
    return Object.entries(this.#tags ?? {}).flatMap(([name, value]) => (isNested(value) ? name : []));
  }

  get #tags(): Tags | undefined {
    return (this.given as { readonly tags?: Tags | null }).tags ?? undefined;
  }
}

/** Throws ApiError for a list or a map within the map (reference fact: some entities cannot store them). */
export function flatMap(name: string, map: Tags | null | undefined): Tags | undefined {
  const nested = Object.keys(map ?? {}).find((key) => isNested(map?.[key]));
  if (nested !== undefined)
    throw badRequest(`${name} cannot hold lists or maps: ${nested}; write it as text, such as JSON`);
  return map ?? undefined;
}

/** reference fact: an empty text is the start of 1970. */
export function dateOf(text: string): Date {
  return new Date(text || 0);
}

/** reference fact: an empty text is the default. */
export function precedenceOf(text: Precedence | '' | null | undefined): Precedence | undefined {
  return text === '' ? 'default' : (text ?? undefined);
}
