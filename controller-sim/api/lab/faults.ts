// Faults in the lab API.

import { formatDuration } from '#lib/time/duration.ts';
import type { LabFault, LabFaults } from '#schemas/api/gen/answers.ts';
import type { FaultCreate } from '#schemas/api/gen/bodies.ts';
import type { CheckedAnswer, Fault, NewFault } from '../../lab/faults/fault.ts';
import type { Data, Done, Handlers } from '../operations/context.ts';
import { labHandler } from './lab-handler.ts';

export const faultHandlers = {
  listFaults: labHandler(({ faults }): Data<LabFaults> => ({ data: faults.list().map(showFault) })),
  // The rules of the lab check the body, and ignore no unknown fields: a misspelt condition would match everything.
  createFault: labHandler<Data<LabFault>, FaultCreate>(({ faults }, { body }) => ({
    data: showFault(faults.add(body as NewFault).fault),
  })),
  deleteFault: labHandler(({ faults }, { params }): Done => {
    faults.remove(params.id ?? '');
    return { data: {} };
  }),
  clearFaults: labHandler(({ faults }, { query }): Done => {
    const scope = query.get('scope');
    faults.clear(scope === null ? {} : { scope });
    return { data: {} };
  }),
  disconnectRouter: labHandler(({ faults }, { params }): Done => {
    faults.disconnect(params.id ?? '');
    return { data: {} };
  }),
} satisfies Partial<Handlers<'lab'>>;

const DURATIONS: ReadonlySet<string> = new Set(['delay', 'lasts', 'latency', 'jitter', 'sliceDelay', 'closeDelay']);

/** Durations as texts. */
function showFault(fault: Fault): LabFault {
  const answers = 'answers' in fault && fault.answers ? { answers: fault.answers.map(shown) } : {};
  return { ...(shown(fault) as LabFault), ...answers };
}

function shown(fields: Fault | CheckedAnswer): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      DURATIONS.has(name) ? formatDuration(value as number) : (value as unknown),
    ]),
  );
}
