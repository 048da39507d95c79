// The lab API: the simulator's time, state and faults under the control of a test, and the journal of requests.

import { formatDuration } from '#lib/time/duration.ts';
import type { LabClock, LabReady } from '#schemas/api/gen/answers.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Lab } from '../../lab/lab.ts';
import type { SeedDocument } from '../../lab/seed/export.ts';
import type { ApiServices } from '../operations/context.ts';
import { faultHandlers } from './faults.ts';
import { callHandlers } from './gen/handlers.ts';
import { journalHandlers } from './journal.ts';
import { answering } from './lab-handler.ts';
import { memberHandlers } from './members.ts';

export const labHandlers = {
  ...callHandlers,
  ...faultHandlers,
  ...journalHandlers,
  ...memberHandlers,
  detailClock: answering<'detailClock'>(showClock),
  advanceClock: answering<'advanceClock'>(async (lab, { duration }) => {
    await lab.clock.advance(duration);
    return showClock(lab);
  }),
  patchClock: answering<'patchClock'>(async (lab, { time, rate }) => {
    if (rate !== undefined) lab.clock.run(rate); // a clock that stands still then has the time exactly
    if (time !== undefined) await lab.clock.set(time);
    await lab.clock.shared();
    return showClock(lab);
  }),
  detailReady: answering<'detailReady'>((_lab, _input, services) => showReady(services)),
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
};

function showClock({ clock }: Lab): LabClock {
  return { now: clock.now().toISOString(), advanced: formatDuration(clock.advanced), rate: clock.rate };
}

/** The ready line without secrets, for whoever reaches the port and not the process. */
function showReady({
  baseUrl,
  controlAddress,
  controllerId,
  authority,
}: Pick<ApiServices, 'baseUrl' | 'controlAddress' | 'controllerId' | 'authority'>): LabReady {
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
