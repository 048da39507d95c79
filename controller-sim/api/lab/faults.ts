// Faults in the lab API.

import { formatDuration } from '#lib/duration.ts';
import type { LabFault, LabFaults } from '#schemas/api/gen/answers.ts';
import type { FaultCreate } from '#schemas/api/gen/bodies.ts';
import type { Fault, NewFault } from '../../lab/faults/fault-rule.ts';
import type { Data, Done, Handlers } from '../http/context.ts';
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
  clearFaults: labHandler(({ faults }): Done => {
    faults.clear();
    return { data: {} };
  }),
  disconnectRouter: labHandler(({ faults }, { params }): Done => {
    faults.disconnect(params.id ?? '');
    return { data: {} };
  }),
} satisfies Partial<Handlers<'lab'>>;

function showFault({ delay, ...fault }: Fault): LabFault {
  return { ...fault, ...(delay !== undefined && { delay: formatDuration(delay) }) };
}
