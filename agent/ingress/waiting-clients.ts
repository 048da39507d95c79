// The clients of a listener that wait for their circuit: those of one source leave places to others.

import { ProjectError } from '#lib/errors.ts';
import { FairPlaces } from '#lib/fair-places.ts';

/** Clients of one listener, or sessions of a UDP port, that may wait for their circuit. */
const MAX_WAITING = 1_000;

export function waitingClients(): FairPlaces {
  return new FairPlaces(
    MAX_WAITING,
    () => new ProjectError('DISPLACED', 'clients of other sources displaced the connection'),
  );
}
