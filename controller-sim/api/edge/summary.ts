// Counts the entities of each kind.

import type { ListSummaryCounts } from '#schemas/api/gen/answers.ts';
import { KIND_NAMES, KINDS } from '../../state/kinds.ts';
import type { ApiRequest, Data, Handlers } from '../operations/context.ts';
import { IDENTITY_TYPES, POSTURE_CHECK_TYPES } from './types.ts';

export const summaryHandlers = { listSummary: summary } satisfies Partial<Handlers<'management'>>;

function summary({ services: { state, cluster, isClusterMember } }: ApiRequest): Data<ListSummaryCounts> {
  const { tables } = state;
  const edge = [...tables.router.values()].filter(({ isEdge }) => isEdge).length;
  const counts = {
    ...Object.fromEntries(KIND_NAMES.map((kind) => [KINDS[kind].store, tables[kind].size])),
    controllers: isClusterMember ? cluster.membership.members.length : 0,
    eventualEvents: 0,
    identityTypes: IDENTITY_TYPES.length,
    postureCheckTypes: POSTURE_CHECK_TYPES.length,
    'routers.edge': edge,
  };
  return { data: Object.fromEntries(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1))) };
}
