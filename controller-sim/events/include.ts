// The option `include` of a subscription: the types of events, or of changed entities, that the client wants (reference
// fact: the options of its event handlers, with the texts of its errors).

import { STORE } from '../entities/names.ts';
import type { Event, Namespace } from './events.ts';

/** Types that clients can include, as the error for another one lists them. */
const TYPES: Partial<Readonly<Record<Namespace, { readonly known: readonly string[]; readonly listed: string }>>> = {
  apiSession: { known: ['created', 'deleted'], listed: "apiSession. valid values are ['created', 'deleted']" },
  authentication: { known: ['success', 'fail'], listed: "authentication. valid values are ['success', 'fail']" },
  circuit: {
    known: ['created', 'pathUpdated', 'deleted', 'failed'],
    listed: 'fabric.circuits. valid values are [created pathUpdated deleted failed]',
  },
  session: { known: ['created', 'deleted'], listed: "session. valid values are ['created', 'deleted']" },
};
const ENTITY_TYPES: ReadonlySet<string> = new Set(Object.values(STORE));

/** Whether a subscription with this option wants an event. Throws Error for an unknown type. */
export function includes(namespace: Namespace, include: unknown): (event: Event) => boolean {
  if (include === undefined) return () => true;
  if (namespace === 'entityChange') return entityTypes(include);
  const types = TYPES[namespace];
  if (!types) return () => true;
  if (typeof include !== 'string' && !Array.isArray(include))
    throw new Error(`invalid type ${typeof include} for ${namespace} include configuration`);
  const wanted = new Set([include].flat().map(String));
  for (const type of wanted)
    if (!types.known.includes(type)) throw new Error(`invalid include ${type} for ${types.listed}`);
  // reference fact: all of them are no restriction, also not to types that cannot be included.
  if (wanted.size === 0 || wanted.size === types.known.length) return () => true;
  return ({ event_type }) => wanted.has(String(event_type));
}

/** The commit of a change names no entity: it follows with the id of the change. */
function entityTypes(include: unknown): (event: Event) => boolean {
  if (!Array.isArray(include) || !include.every((each) => typeof each === 'string'))
    throw new Error('invalid value type for entityChange include list, must be string list');
  if (include.length === 0)
    throw new Error(
      'no values provided in include list for entityChange events, either drop includes stanza or provide at least one entity type to include',
    );
  const unknown = include.find((type) => !ENTITY_TYPES.has(type));
  if (unknown !== undefined)
    throw new Error(
      `invalid entity type [${unknown}] in entityChange events include list, valid values include: [${[...ENTITY_TYPES].join(' ')}]`,
    );
  const wanted = new Set<unknown>(include);
  const uncommitted = new Set<unknown>();
  return ({ entityType, eventId }) => {
    if (entityType === undefined) return uncommitted.delete(eventId);
    if (!wanted.has(entityType)) return false;
    uncommitted.add(eventId);
    return true;
  };
}
