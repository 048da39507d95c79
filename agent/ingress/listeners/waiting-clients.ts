// The clients of a listener that wait for their circuit: those of one source leave slots to others.

import { ProjectError } from '#lib/errors.ts';
import { FairSlots } from '#lib/queue/fair-slots.ts';

/** Clients of one listener, or sessions of a UDP port, that may wait for their circuit. */
const MAX_WAITING = 1_000;

export function waitingClients(): FairSlots {
  return new FairSlots(
    MAX_WAITING,
    () => new ProjectError('DISPLACED', 'clients of other sources displaced the connection'),
  );
}
