// The option `include` of a subscription: the types of events, or of changed entities, that the client wants (reference
// fact: the options of its event handlers).

import { KINDS } from '../state/kinds.ts';
import type { Event, Namespace } from './events.ts';

/** Types that clients can include. */
const TYPES: Partial<Readonly<Record<Namespace, readonly string[]>>> = {
  apiSession: ['created', 'deleted'],
  authentication: ['success', 'fail'],
  circuit: ['created', 'pathUpdated', 'deleted', 'failed'],
  session: ['created', 'deleted'],
};
const ENTITY_TYPES: readonly string[] = Object.values(KINDS).map(({ store }) => store);

/** Whether a subscription with this option wants an event. Throws Error for an unknown type. */
export function includes(namespace: Namespace, include: unknown): (event: Event) => boolean {
  if (include === undefined) return () => true;
  if (namespace === 'entityChange') return entityTypes(include);
  const types = TYPES[namespace];
  if (!types) return () => true;
  const wanted = requireTypes(namespace, typeof include === 'string' ? [include] : include, types);
  // reference fact: a client that includes all of these also gets the types that no client can include.
  if (wanted.size === 0 || wanted.size === types.length) return () => true;
  return ({ event_type }) => wanted.has(event_type);
}

function requireTypes(namespace: Namespace, include: unknown, types: readonly string[]): Set<unknown> {
  if (!Array.isArray(include)) throw new Error(`${namespace}: include must be a list of ${types.join(', ')}`);
  const unknown = include.find((type) => !types.includes(type));
  if (unknown === undefined) return new Set(include);
  throw new Error(`${namespace}: include has the unknown type ${JSON.stringify(unknown)}; use ${types.join(', ')}`);
}

/** The commit of a change names no entity: it follows with the id of the change. */
function entityTypes(include: unknown): (event: Event) => boolean {
  const wanted = requireTypes('entityChange', include, ENTITY_TYPES);
  if (wanted.size === 0) throw new Error('entityChange: include is empty; name types of entities, or leave it out');
  const uncommitted = new Set<unknown>();
  return ({ entityType, eventId }) => {
    if (entityType === undefined) return uncommitted.delete(eventId);
    if (!wanted.has(entityType)) return false;
    uncommitted.add(eventId);
    return true;
  };
}
