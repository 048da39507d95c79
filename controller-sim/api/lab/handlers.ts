// The lab API: the simulator's time, state and faults under the control of a test, and the journal of requests.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type {
  LabClock,
  LabIdentityFile,
  LabReady,
  LabRestored,
  LabService,
  LabSnapshot,
  LabSnapshotFile,
  LabSnapshots,
  LabToken,
  LabTopology,
} from '#schemas/api/gen/answers.ts';
import type {
  ClockAdvance,
  ClockPatch,
  LabIdentityCreate,
  LabRestore,
  LabServiceCreate,
  NetworkWait,
  SnapshotCreate,
  SnapshotLoad,
} from '#schemas/api/gen/bodies.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Lab } from '../../lab/lab.ts';
import { InvalidError } from '../../lab/lab-error.ts';
import type { SeedDocument } from '../../lab/seed/export.ts';
import type { ApiRequest, ApiServices, Data, Done, Handlers } from '../operations/context.ts';
import { faultHandlers } from './faults.ts';
import { callHandlers } from './gen/handlers.ts';
import { journalHandlers } from './journal.ts';
import { answering, labHandler } from './lab-handler.ts';
import { memberHandlers } from './members.ts';
import { proxyHandlers } from './proxies.ts';

export const labHandlers = {
  ...callHandlers,
  ...faultHandlers,
  ...journalHandlers,
  ...memberHandlers,
  ...proxyHandlers,
  detailClock: ({ services }: ApiRequest) => showClock(services.lab),
  advanceClock: labHandler<Data<LabClock>, ClockAdvance>(async (lab, { body }) => {
    await lab.clock.advance(body.duration);
    return showClock(lab);
  }),
  patchClock: labHandler<Data<LabClock>, ClockPatch>(async (lab, { body }) => {
    const { time, rate } = withoutNulls(body);
    if (rate !== undefined) lab.clock.run(rate); // a clock that stands still then has the time exactly
    if (time !== undefined) await lab.clock.set(time);
    await lab.clock.shared();
    return showClock(lab);
  }),
  detailReady: ({ services }: ApiRequest): Data<LabReady> => ({ data: showReady(services) }),
  detailNetwork: ({ services }: ApiRequest): Data<LabTopology> => ({ data: services.lab.network() }),
  waitForNetwork: labHandler<Done, NetworkWait | undefined>(async (lab, { body }) => {
    await lab.ready(withoutNulls(body ?? {}));
    return { data: {} };
  }),
  listSnapshots: labHandler(async (lab): Promise<Data<LabSnapshots>> => ({ data: await lab.sharedSnapshots.list() })),
  createSnapshot: labHandler<Data<LabSnapshot>, SnapshotCreate>(async (lab, { body }) => ({
    data: await lab.sharedSnapshots.take(body.name),
  })),
  loadSnapshot: labHandler<Data<LabSnapshot>, SnapshotLoad>(async (lab, { body: { name, file, ...options } }) => ({
    data: await lab.sharedSnapshots.load(name, file, withoutNulls(options)),
  })),
  saveSnapshot: labHandler(
    async (lab, { params, query }): Promise<Data<LabSnapshotFile>> => ({
      data: await lab.sharedSnapshots.save(params.name ?? '', { credentials: flagOf(query, 'credentials') }),
    }),
  ),
  deleteSnapshot: labHandler(async (lab, { params }): Promise<Done> => {
    await lab.sharedSnapshots.delete(params.name ?? '');
    return { data: {} };
  }),
  restoreSnapshot: labHandler<Data<LabRestored>, LabRestore | undefined>(async (lab, { params, body }) => ({
    data: await lab.restore(params.name ?? '', withoutNulls(body ?? {})),
  })),
  reset: labHandler<Data<LabRestored>, LabRestore | undefined>(async (lab, { body }) => ({
    data: await lab.reset(withoutNulls(body ?? {})),
  })),
  createLabService: labHandler<Data<LabService>, LabServiceCreate>(async (lab, { body: { name, ...service } }) => ({
    data: await lab.service(name, withoutNulls(service)),
  })),
  enrollIdentity: labHandler<Data<LabIdentityFile>, LabIdentityCreate | undefined>(async (lab, { params, body }) => ({
    data: await lab.identity(params.name ?? '', withoutNulls(body ?? {})),
  })),
  detailToken: labHandler((lab, { params }): Data<LabToken> => ({ data: { token: lab.token(params.name ?? '') } })),
  // The schema of seeds checks documents, and names the place of each mistake.
  seed: answering<'seed'>((lab, { document, ...options }) => lab.seed(document as SeedDocument | string, options)),
  whatIf: answering<'whatIf'>((lab, { document, ...options }) =>
    lab.whatIf(document as SeedDocument | string, options),
  ),
} satisfies Partial<Handlers<'lab'>>;

function flagOf(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? 'false';
  if (text !== 'true' && text !== 'false') throw new InvalidError(name, 'use true or false', text);
  return text === 'true';
}

function showClock({ clock }: Lab): Data<LabClock> {
  return { data: { now: clock.now().toISOString(), advanced: formatDuration(clock.advanced), rate: clock.rate } };
}

/** The ready line without secrets, for whoever reaches the port and not the process. */
function showReady({ baseUrl, controlAddress, controllerId, authority }: ApiServices): LabReady {
  return {
    event: 'ready',
    management: `${baseUrl}/edge/management/v1`,
    client: `${baseUrl}/edge/client/v1`,
    ctrl: controlAddress,
    controllerId,
    ca: authority.bundle,
    version: packageJson.version,
  };
}
