// Events of connections: identities and routers that connect to this controller, identities that connect to a router.

import type { Clock } from '#lib/time/clock.ts';
import { type Event, eventOf } from './events.ts';

export interface ConnectFacts {
  readonly source: 'identity' | 'router';
  readonly sourceId: string;
  /** `10.0.0.1:40000`, as the next one; empty if unknown. */
  readonly sourceAddress: string;
  readonly destination: 'ctrl' | 'router';
  readonly destinationId: string;
  readonly destinationAddress: string;
  /** Milliseconds since the epoch; default: now. */
  readonly at?: number;
}

export function connectEvent(
  origin: { readonly clock: Clock; readonly controllerId: string },
  { source, sourceId, sourceAddress, destination, destinationId, destinationAddress, at }: ConnectFacts,
): Event {
  return eventOf(
    origin,
    'connect',
    {
      src_type: source,
      dst_type: destination,
      src_id: sourceId,
      src_addr: sourceAddress,
      dst_id: destinationId,
      dst_addr: destinationAddress,
    },
    at,
  );
}
