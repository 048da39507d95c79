// Events of API sessions, stored or in token form. They omit the token.

import type { Clock } from '#lib/time/clock.ts';
import { type Event, eventOf } from './events.ts';

/**
 * reference fact: stored sessions are created and deleted; sessions in token form are created, refreshed and exchanged.
 */
export interface ApiSessionFacts {
  readonly what: 'created' | 'deleted' | 'refreshed' | 'exchanged';
  readonly type: 'legacy' | 'jwt';
  readonly id: string;
  readonly identityId: string;
  readonly ipAddress: string;
}

export function apiSessionEvent(
  source: { readonly clock: Clock; readonly controllerId: string },
  { what, type, id, identityId, ipAddress }: ApiSessionFacts,
): Event {
  return eventOf(source, 'apiSession', {
    event_type: what,
    id,
    type,
    token: '',
    identity_id: identityId,
    ip_address: ipAddress,
    cert_generated: false,
  });
}
