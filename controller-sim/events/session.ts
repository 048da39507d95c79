// Events of sessions of services, stored or in token form. They omit the token.

import type { Clock } from '#lib/time/clock.ts';
import type { Session } from '../state/kinds/session.ts';
import { type Event, eventOf } from './events.ts';

/** reference fact: stored sessions are created and deleted; nobody reports the end of sessions in token form. */
export function sessionEvent(
  source: { readonly clock: Clock; readonly controllerId: string },
  event_type: 'created' | 'deleted',
  provider: 'legacy' | 'jwt',
  { id, type, apiSessionId, identityId, serviceId }: Session,
): Event {
  return eventOf(source, 'session', {
    event_type,
    session_type: type,
    provider,
    id,
    api_session_id: apiSessionId,
    identity_id: identityId,
    service_id: serviceId,
  });
}
