// Checks entities that come from outside, such as those of a snapshot's file: the fields from which tables, policies
// and lists are derived must have the form that their kind describes.

import type { Entity } from './entity.ts';
import type { Reference } from './kind.ts';
import { type EntityKind, KINDS } from './kinds.ts';

type Check = readonly [isRight: (value: unknown) => boolean, expected: string];

const NOWHERE = Symbol('nowhere');
const NAME: Check = [(value) => typeof value === 'string' && value !== '', 'a text with at least one character'];
const TEXTS: Check = [isTexts, 'a list of texts'];
const FORMS: Readonly<Record<Reference['form'], Check>> = {
  id: [isTextOrNone, 'a text or null'],
  ids: TEXTS,
  selectors: TEXTS,
  map: [isMap, 'a map'],
  lists: [(value) => isMap(value) && Object.values(value).every(isTexts), 'a map of lists of texts'],
};

/** The first field that has another form, and what is expected; undefined if there is none. */
export function formProblem(kind: EntityKind, entity: Entity): string | undefined {
  const { unique = [], refers = [], hasRoleAttributes = false } = KINDS[kind];
  const fields: (readonly [path: string, check: Check])[] = [
    ...unique.map((key) => [key, key === 'name' ? NAME : FORMS.id] as const),
    ...refers.map(({ key, form }) => [key, FORMS[form]] as const),
    ...(hasRoleAttributes ? ([['roleAttributes', TEXTS]] as const) : []),
  ];
  for (const [path, [isRight, expected]] of fields)
    if (!isRight(valueAt(entity, path.split('.')))) return `${path} is not ${expected}`;
  return undefined;
}

/** The value at a path; a path through something other than maps has a value that no check accepts. */
function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (!isMap(value)) return NOWHERE;
  return valueAt(Object.hasOwn(value, key) ? value[key] : undefined, rest);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}
