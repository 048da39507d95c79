// Counts the entities of each kind, under the names that the reference's stores have.

import { KIND_NAMES, KINDS } from '../state/kinds.ts';
import type { State } from '../state/state.ts';
import { POSTURE_CHECK_TYPES } from './posture-check.ts';

/** Built-in types of identities. */
export const IDENTITY_TYPES = ['Default', 'Router'] as const;

/** Entities by the name of their store, in alphabetical order. `controllers`: members of the cluster. */
export function countEntities({ tables }: Pick<State, 'tables'>, controllers: number): Record<string, number> {
  const counts = {
    ...Object.fromEntries(KIND_NAMES.map((kind) => [KINDS[kind].store, tables[kind].size])),
    controllers,
    eventualEvents: 0,
    identityTypes: IDENTITY_TYPES.length,
    postureCheckTypes: POSTURE_CHECK_TYPES.length,
    'routers.edge': [...tables.router.values()].filter(({ isEdge }) => isEdge).length,
  };
  return Object.fromEntries(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)));
}
