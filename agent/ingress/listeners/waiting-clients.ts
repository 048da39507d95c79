// The clients of a listener that wait for their circuit: those of one source leave slots to others.

import { ProjectError } from '#lib/errors.ts';
import { WorkSlots } from '#lib/queue/fair-slots.ts';

/** Clients of one listener, or sessions of a UDP port, that may wait for their circuit. */
const MAX_WAITING = 1_000;

export function waitingClients(): WorkSlots {
  return new WorkSlots(
    MAX_WAITING,
    () => new ProjectError('DISPLACED', 'clients of other sources displaced the connection'),
  );
}
