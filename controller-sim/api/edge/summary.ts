// Counts the entities of each kind.

import type { ListSummaryCounts } from '#schemas/api/gen/answers.ts';
import { countEntities } from '../../entities/counts.ts';
import type { ApiRequest, Data, Handlers } from '../operations/context.ts';

export const summaryHandlers = { listSummary: summary } satisfies Partial<Handlers<'management'>>;

function summary({ services: { state, cluster } }: ApiRequest<'cluster' | 'state'>): Data<ListSummaryCounts> {
  return { data: countEntities(state, cluster.reported.length) };
}
