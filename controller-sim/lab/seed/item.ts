// An entry of a section of a seed, and how messages name it.

import type { ApiError } from '../../errors/errors.ts';
import type { SeedPath } from './mistake.ts';
import type { Entry, Prepared } from './section.ts';
import type { Section } from './sections.ts';

export interface Item {
  readonly section: Section;
  readonly entry: Entry;
  readonly path: SeedPath;
  /** The id of the entity, unless one with this name exists. */
  readonly id: string;
  /** Undefined for an entity that existed when the seed was prepared. */
  made: Prepared | undefined;
  /** It has a mistake, so it is not created. References to it are not reported. */
  isBroken: boolean;
}

/** Fields of bodies whose entries have another name. */
const RENAMED: Readonly<Record<string, string>> = {
  configTypeId: 'configType',
  type: 'configType',
  authPolicyId: 'authPolicy',
  updbUsername: 'password',
  policyType: 'type',
  identityId: 'password',
};

/** Whether it is the identity of a router's tunneler, which exists with the router. */
export function isOfRouter({ section, entry }: Pick<Item, 'section' | 'entry'>): boolean {
  return section.kind === 'identity' && entry.typeId === 'Router';
}

/** `identity anna` */
export function labelOf({ word }: Section, { name }: Entry): string {
  return typeof name === 'string' ? `${word} ${name}` : word;
}

/** The reason of an error, without the value. */
export function reasonOf({ details, message }: ApiError): string {
  if (!details) return message;
  return 'reason' in details ? details.reason : (details.message ?? message);
}

/** The place of the field that an error names. */
export function placeOf({ path, entry, section }: Item, { details }: ApiError): SeedPath {
  const field = details && 'field' in details ? details.field : '';
  if (field === '') return path;
  const parts = field.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const [first = '', ...others] = parts;
  if (Object.hasOwn(entry, first)) return [...path, ...parts];
  const renamed = RENAMED[first];
  if (renamed !== undefined && Object.hasOwn(entry, renamed)) return [...path, renamed, ...others];
  if (section.name !== 'configs') return path;
  return first === '(root)' ? [...path, 'data'] : [...path, 'data', ...parts];
}
