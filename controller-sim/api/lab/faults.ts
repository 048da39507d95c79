// Faults in the lab API: durations are texts.

import { formatDuration } from '#lib/time/duration.ts';
import type { LabFault } from '#schemas/api/gen/answers.ts';
import type { CheckedAnswer, Fault, NewFault } from '../../lab/faults/fault.ts';
import { answering } from './lab-handler.ts';

export const faultHandlers = {
  listFaults: answering<'listFaults'>(({ faults }) => faults.list().map(showFault)),
  // The rules of the lab check the body, and ignore no unknown fields: a misspelt condition would match everything.
  createFault: answering<'createFault'>(({ faults }, input) => showFault(faults.add(input as NewFault).fault)),
};

const DURATIONS: ReadonlySet<string> = new Set(['delay', 'lasts', 'latency', 'jitter', 'sliceDelay', 'closeDelay']);

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
