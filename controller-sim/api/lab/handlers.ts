// The lab API: the simulator's time and state under the control of a test.

import { formatDuration } from '#lib/duration.ts';
import { ApiError, invalid } from '../../errors/errors.ts';
import type { Lab } from '../../lab/lab.ts';
import { InvalidError, UnknownError } from '../../lab/lab-error.ts';
import type { SeedDocument } from '../../lab/seed/export.ts';
import { SeedError } from '../../lab/seed/mistake.ts';
import type { SnapshotInfo } from '../../lab/snapshots.ts';
import type { WhyQuestion } from '../../lab/why/why.ts';
import type { Answer, ApiRequest, Handler, Handlers } from '../http/context.ts';

export const labHandlers: Handlers = {
  detailClock: ({ services }) => showClock(services.lab),
  advanceClock: labHandler(async (lab, { body }) => {
    await lab.clock.advance(textOf(body, 'duration'));
    return showClock(lab);
  }),
  listSnapshots: ({ services }) => ({ data: services.lab.snapshots.list().map(showSnapshot) }),
  createSnapshot: labHandler((lab, { body }) => ({
    data: showSnapshot(lab.snapshots.take(textOf(body, 'name'))),
  })),
  deleteSnapshot: labHandler((lab, { params }) => {
    lab.snapshots.delete(params.name ?? '');
    return { data: {} };
  }),
  restoreSnapshot: labHandler(async (lab, { params }) => ({ data: await lab.snapshots.restore(params.name ?? '') })),
  reset: labHandler(async (lab) => ({ data: await lab.reset() })),
  exportNetwork: ({ services }) => ({ data: services.lab.export() }),
  seed: labHandler(async (lab, { body }) => ({ data: await lab.seed(body as SeedDocument | string) })),
  // The type of the body has checked it.
  why: labHandler((lab, { body }) => ({ data: lab.why(withoutNulls(body) as WhyQuestion) })),
};

/** Answers wrong use of the lab as 400 or 404. */
function labHandler(handle: (lab: Lab, request: ApiRequest) => Promise<Answer> | Answer): Handler {
  return async (request) => {
    try {
      return await handle(request.services.lab, request);
    } catch (error) {
      if (error instanceof InvalidError) throw invalid(error.field, error.message, error.value);
      if (error instanceof SeedError)
        throw new ApiError('COULD_NOT_VALIDATE', { message: error.message, data: error.mistakes });
      if (error instanceof UnknownError) throw new ApiError('NOT_FOUND', { code: 'UNHANDLED', message: error.message });
      throw error;
    }
  };
}

/** A field that the type of the body requires. */
function textOf(body: unknown, field: string): string {
  return String((body as Readonly<Record<string, unknown>>)[field]);
}

/** A null counts as missing. */
function withoutNulls(body: unknown): unknown {
  return Object.fromEntries(Object.entries(body as object).filter(([, value]) => value !== null));
}

function showClock({ clock }: Lab): Answer {
  return { data: { now: clock.now().toISOString(), advanced: formatDuration(clock.advanced) } };
}

function showSnapshot({ name, takenAt, index, entities }: SnapshotInfo): Record<string, unknown> {
  return { name, takenAt: takenAt.toISOString(), index: Number(index), entities };
}
