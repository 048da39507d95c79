// Operations on all data: integrity checks, repairs and snapshots.

import { Body } from '../../entities/body.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Answer, ApiRequest, Handlers } from '../http/context.ts';

export const databaseHandlers: Handlers = {
  checkDataIntegrity: (request) => begin(request, { fix: false }),
  fixDataIntegrity: (request) => begin(request, { fix: true }),
  dataIntegrityResults: results,
  createDatabaseSnapshot: async (request) => {
    await snapshot(request, undefined);
    return { data: {} };
  },
  createDatabaseSnapshotWithPath: async (request) => ({
    data: { path: await snapshot(request, new Body(request.body, 'create').text('path')) },
  }),
};

/** reference fact: results carry pagination metadata, of one page that holds everything. */
function results({ services: { integrity } }: ApiRequest): Answer {
  const totalCount = integrity.report.results?.length ?? 0;
  return { data: integrity.report, meta: { pagination: { limit: -1, offset: 0, totalCount } } };
}

function begin({ services }: ApiRequest, options: { fix: boolean }): Answer {
  if (!services.integrity.start(options)) throw new ApiError('RATE_LIMITED');
  return { data: {} };
}

async function snapshot({ services }: ApiRequest, path: string | undefined): Promise<string> {
  return services.snapshots.take(path);
}
