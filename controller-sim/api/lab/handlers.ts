// The lab API: the simulator's time, state and faults under the control of a test, and the journal of requests.

import { formatDuration } from '#lib/duration.ts';
import { withoutNulls } from '#lib/without-nulls.ts';
import type { Lab } from '../../lab/lab.ts';
import { UnknownError } from '../../lab/lab-error.ts';
import type { NewService } from '../../lab/network/services.ts';
import type { SeedDocument } from '../../lab/seed/export.ts';
import type { SnapshotInfo } from '../../lab/snapshots.ts';
import type { WhyQuestion } from '../../lab/why/why.ts';
import type { Answer, Handlers } from '../http/context.ts';
import { faultHandlers } from './faults.ts';
import { journalHandlers } from './journal.ts';
import { labHandler, textOf } from './lab-handler.ts';

export const labHandlers: Handlers = {
  ...faultHandlers,
  ...journalHandlers,
  detailClock: ({ services }) => showClock(services.lab),
  advanceClock: labHandler(async (lab, { body }) => {
    await lab.clock.advance(textOf(body, 'duration'));
    return showClock(lab);
  }),
  rejoinMember: labHandler(async (_lab, { params: { id = '' }, services: { cluster } }) => {
    if (!(await cluster.rejoin(id))) throw new UnknownError(`no running controller has the id ${id}`);
    return { data: {} };
  }),
  detailNetwork: ({ services }) => ({ data: services.lab.network() }),
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
  createLabService: labHandler(async (lab, { body }) => {
    const { name, ...service } = withoutNulls(body as object as Readonly<Record<string, unknown>>);
    return { data: await lab.service(String(name), service as unknown as NewService) }; // the type of the body has checked it
  }),
  enrollIdentity: labHandler(async (lab, { params, body }) => {
    const { roleAttributes } = withoutNulls((body ?? {}) as Readonly<Record<string, unknown>>);
    const options = roleAttributes === undefined ? {} : { roleAttributes: roleAttributes as string[] };
    return { data: await lab.identity(params.name ?? '', options) };
  }),
  detailToken: labHandler((lab, { params }) => ({ data: { token: lab.token(params.name ?? '') } })),
  exportNetwork: ({ services }) => ({ data: services.lab.export() }),
  seed: labHandler(async (lab, { body }) => ({ data: await lab.seed(body as SeedDocument | string) })),
  // The type of the body has checked it.
  why: labHandler((lab, { body }) => ({
    data: lab.why(withoutNulls(body as object as Readonly<Record<string, unknown>>) as unknown as WhyQuestion),
  })),
};

function showClock({ clock }: Lab): Answer {
  return { data: { now: clock.now().toISOString(), advanced: formatDuration(clock.advanced) } };
}

function showSnapshot({ name, takenAt, index, entities }: SnapshotInfo): Record<string, unknown> {
  return { name, takenAt: takenAt.toISOString(), index: Number(index), entities };
}
