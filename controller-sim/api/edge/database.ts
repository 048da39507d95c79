// Operations on all data: integrity checks, repairs and snapshots.

import type { DatabaseSnapshot, DataIntegrityCheckDetails } from '#schemas/api/gen/answers.ts';
import type { DatabaseSnapshotCreate } from '#schemas/api/gen/bodies.ts';
import { ApiError } from '../../errors/errors.ts';
import type { ApiRequest, Data, Done, Handlers } from '../operations/context.ts';

export const databaseHandlers = {
  checkDataIntegrity: (request: ApiRequest<'integrity'>) => begin(request, { fix: false }),
  fixDataIntegrity: (request: ApiRequest<'integrity'>) => begin(request, { fix: true }),
  dataIntegrityResults: results,
  createDatabaseSnapshot: snapshot,
  createDatabaseSnapshotWithPath: snapshotWithPath,
} satisfies Partial<Handlers<'management'> & Handlers<'fabric'>>;

/** reference fact: results carry pagination metadata, of one page that holds everything. */
function results({ services: { integrity } }: ApiRequest<'integrity'>): Data<DataIntegrityCheckDetails> {
  const totalCount = integrity.report.results?.length ?? 0;
  return { data: integrity.report, meta: { pagination: { limit: -1, offset: 0, totalCount } } };
}

function begin({ services }: ApiRequest<'integrity'>, options: { fix: boolean }): Done {
  if (!services.integrity.start(options)) throw new ApiError('RATE_LIMITED');
  return { data: {} };
}

async function snapshot({ services }: ApiRequest<'snapshots'>): Promise<Done> {
  await services.snapshots.take();
  return { data: {} };
}

async function snapshotWithPath({
  services,
  body,
}: ApiRequest<'snapshots', DatabaseSnapshotCreate>): Promise<Data<DatabaseSnapshot>> {
  return { data: { path: await services.snapshots.take(body.path ?? undefined) } };
}
