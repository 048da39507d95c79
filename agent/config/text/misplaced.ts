// Where an unknown key belongs. A wrong indentation moves a key into another section, where it has no effect; and
// sections of the same kind name equal things differently.

import { didYouMean } from '#lib/text/suggestion.ts';
import type { ConfigSchema } from '../../../schemas/config/schema.ts';
import { ROUTER_SCHEMA } from '../router-schema.ts';
import { dereference } from './normalize.ts';

/** By key: the paths of the sections that have it, `listeners[].options`. The file itself has the empty path. */
let places: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/**
 * Remedy for a key that the section at `path` does not have, or an empty text. A section around this one, or directly
 * below it, is the likely place of a key; a similar key is more likely than a section elsewhere.
 */
export function meantPlace(key: string, path: string, schema: ConfigSchema): string {
  places ??= collectPlaces();
  const sections = [...(places.get(key) ?? [])];
  const here = path.replace(/\[\d+\]/g, '[]');
  const around = sections.filter((each) => isWithin(here, each)).toSorted((a, b) => b.length - a.length)[0];
  if (around !== undefined) return belongsTo(actual(around, path));
  const below = sections.filter((each) => parentOf(each) === here && each !== here);
  if (below.length === 1) return belongsTo(`${path}${below[0]?.slice(here.length)}`);
  const siblings = Object.entries(schema.properties ?? {});
  const [confused] = siblings.find(([, sibling]) => sibling['x-confused-with']?.includes(key)) ?? [];
  if (confused !== undefined) return `did you mean ${confused}?`;
  const similar = didYouMean(
    key,
    siblings.map(([name]) => name),
  );
  if (similar !== '' || sections.length !== 1) return similar;
  return sections[0]?.includes('[]') ? '' : belongsTo(sections[0] ?? '');
}

function belongsTo(place: string): string {
  if (place === '') return 'it belongs to the top level';
  return `it belongs to ${place.endsWith('[]') ? `an entry of ${place.slice(0, -2)}` : place}`;
}

function isWithin(path: string, section: string): boolean {
  if (path === section || !path.startsWith(section)) return false;
  return section === '' || /^[.[]/.test(path.slice(section.length));
}

/** The beginning of the path of a key that has the form of `section`. */
function actual(section: string, path: string): string {
  let [from, to] = [0, 0];
  while (from < section.length) {
    if (section.startsWith('[]', from)) {
      to = path.indexOf(']', to) + 1;
      from += 2;
    } else {
      from++;
      to++;
    }
  }
  return path.slice(0, to);
}

function parentOf(section: string): string {
  return section.slice(0, Math.max(0, section.lastIndexOf('.')));
}

function collectPlaces(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const visit = (path: string, given: ConfigSchema): void => {
    const schema = dereference(ROUTER_SCHEMA, given);
    if (schema['x-deprecated'] || schema['x-ignored'] || schema['x-unsupported']) return;
    if (schema.items) visit(`${path}[]`, schema.items);
    for (const branch of schema.oneOf ?? []) visit(path, branch);
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      found.set(key, (found.get(key) ?? new Set()).add(path));
      visit(path === '' ? key : `${path}.${key}`, property);
    }
  };
  visit('', ROUTER_SCHEMA);
  return found;
}
