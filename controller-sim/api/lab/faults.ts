// Faults in the lab API.

import { formatDuration } from '#lib/duration.ts';
import type { Fault, NewFault } from '../../lab/faults/fault-rule.ts';
import type { Handlers } from '../http/context.ts';
import { labHandler } from './lab-handler.ts';

export const faultHandlers: Handlers = {
  listFaults: labHandler(({ faults }) => ({ data: faults.list().map(showFault) })),
  // The rules of the lab check the body, and ignore no unknown fields: a misspelt condition would match everything.
  createFault: labHandler(({ faults }, { body }) => ({ data: showFault(faults.add(body as NewFault)) })),
  deleteFault: labHandler(({ faults }, { params }) => {
    faults.remove(params.id ?? '');
    return { data: {} };
  }),
  clearFaults: labHandler(({ faults }) => {
    faults.clear();
    return { data: {} };
  }),
  disconnectRouter: labHandler(({ faults }, { params }) => {
    faults.disconnect(params.id ?? '');
    return { data: {} };
  }),
};

function showFault(fault: Fault): Record<string, unknown> {
  const { delay } = fault;
  return { ...fault, ...(delay !== undefined && { delay: formatDuration(delay) }) };
}
