// The form of the fields of entities. Each kind describes all of its fields with these checks, so that an entity from a
// file (entity-form.ts) has the type that the code expects of a stored one.

import { describeError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { MAX_COST } from '#model/terminator.ts';
import { parsePemCertificates } from '#pki/certificates.ts';

/** Says what is wrong with a value; undefined for nothing. `place` is the path of the field. */
export type Field = (value: unknown, place: string) => string | undefined;

/** A check for each field of a kind beside those that all entities have. */
export type Fields<T, Common> = { readonly [K in Exclude<keyof T, keyof Common>]-?: Field };

export const text = field((value) => typeof value === 'string', 'a text');
export const name = field((value) => typeof value === 'string' && value !== '', 'a text with at least one character');
export const flag = field((value) => typeof value === 'boolean', 'true or false');
export const count = field((value) => Number.isSafeInteger(value) && (value as number) >= 0, 'a whole number from 0');
/** Routers take no larger ones: their messages have 16 bits for some, and 32 for others. */
export const cost = field(
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_COST,
  `a whole number from 0 to ${MAX_COST}`,
);
export const integer = field((value) => Number.isSafeInteger(value), 'a whole number');
export const texts = field(
  (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  'a list of texts',
);
export const map = field(isMap, 'a map');
export const time = field((value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)), 'a time');
export const precedence = oneOf('default', 'required', 'failed');
export const semantic = oneOf('AllOf', 'AnyOf');

/** Certificates in PEM, at least one. */
export const certificates: Field = (value, place) => {
  if (typeof value !== 'string') return `${place} is not a text`;
  try {
    return parsePemCertificates(value).length > 0 ? undefined : `${place} has no certificate`;
  } catch (error) {
    return `${place} is not a certificate: ${describeError(error)}`;
  }
};

export function oneOf(...values: readonly string[]): Field {
  return field((value) => values.includes(value as string), `one of ${values.join(', ')}`);
}

export function orNull(check: Field): Field {
  return (value, place) => (value === null ? undefined : check(value, place)?.replace(/$/, ' or null'));
}

/** For fields that older data lack. */
export function optional(check: Field): Field {
  return (value, place) => (value === undefined ? undefined : check(value, place));
}

export function listOf(check: Field): Field {
  return (value, place) => {
    if (!Array.isArray(value)) return `${place} is not a list`;
    return first(value.map((each, index) => () => check(each, `${place}[${index}]`)));
  };
}

export function mapOf(check: Field): Field {
  return (value, place) => {
    if (!isMap(value)) return `${place} is not a map`;
    return first(
      Object.entries(value).map(
        ([key, each]) =>
          () =>
            check(each, `${place}.${key}`),
      ),
    );
  };
}

/** A map with these fields, and no others. */
export function shape(fields: Readonly<Record<string, Field>>): Field {
  return (value, place) => {
    if (!isMap(value)) return `${place} is not a map`;
    const inside = (key: string) => (place === '' ? key : `${place}.${key}`);
    const unknown = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
    if (unknown !== undefined) return `${inside(unknown)} is unknown`;
    return first(
      Object.entries(fields).map(
        ([key, check]) =>
          () =>
            check(own(value, key), inside(key)),
      ),
    );
  };
}

function field(isRight: (value: unknown) => boolean, expected: string): Field {
  return (value, place) => (isRight(value) ? undefined : `${place} is not ${expected}`);
}

function own(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function first(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}
