// The lab API: the simulator's time, state and faults under the control of a test, and the journal of requests.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { LabClock, LabReady } from '#schemas/api/gen/answers.ts';
import type { ClockAdvance, ClockPatch } from '#schemas/api/gen/bodies.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Lab } from '../../lab/lab.ts';
import type { SeedDocument } from '../../lab/seed/export.ts';
import type { ApiRequest, ApiServices, Data, Handlers } from '../operations/context.ts';
import { faultHandlers } from './faults.ts';
import { callHandlers } from './gen/handlers.ts';
import { journalHandlers } from './journal.ts';
import { answering, labHandler } from './lab-handler.ts';
import { memberHandlers } from './members.ts';

export const labHandlers = {
  ...callHandlers,
  ...faultHandlers,
  ...journalHandlers,
  ...memberHandlers,
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
  detailToken: answering<'detailToken'>((lab, { name }) => ({ token: lab.token(name) })),
  createProxy: answering<'createProxy'>(async ({ proxies }, input) => {
    const { name, host, port, to, connections } = await proxies.open(input);
    return { name, host, port, to, connections };
  }),
  // The schema of seeds checks documents, and names the place of each mistake.
  seed: answering<'seed'>((lab, { document, ...options }) => lab.seed(document as SeedDocument | string, options)),
  whatIf: answering<'whatIf'>((lab, { document, ...options }) =>
    lab.whatIf(document as SeedDocument | string, options),
  ),
} satisfies Partial<Handlers<'lab'>>;

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
