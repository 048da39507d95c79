// Explains whether an API session is valid: it exists, was used within the session timeout, its identity is enabled,
// and no proof is missing. Sessions that are tokens exist as long as no revocation names them.

import { formatDuration } from '#lib/time/duration.ts';
import type { Activity } from '../../auth/activity.ts';
import type { Posture } from '../../posture/posture.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Tables } from '../../state/tables.ts';
import type { EndedSessions } from './ended-sessions.ts';
import { type Explanation, explanation } from './explanation.ts';
import { blocker, type Finding, good } from './finding.ts';
import { explainDisabled, incompleteSession, isComplete } from './identity.ts';

export interface SessionComponents {
  readonly tables: Tables;
  readonly posture: Posture;
  readonly activity: Pick<Activity, 'lastOf'>;
  /** Milliseconds without a request after which a session ends. */
  readonly sessionLifetime: number;
  readonly ended: EndedSessions;
  /** Milliseconds. */
  readonly now: number;
}

export function explainSession(components: SessionComponents, id: string): Explanation {
  const session = components.tables.apiSession.get(id);
  const reasons = session ? storedSession(components, session) : otherSession(components, id);
  return explanation(reasons, `the session ${id} is valid`, `the session ${id} is not valid`);
}

function storedSession(components: SessionComponents, session: ApiSession): Finding[] {
  const { tables, activity, sessionLifetime, now } = components;
  const about = ['apiSession', { id: session.id }] as const;
  const identity = tables.identity.get(session.identityId);
  const last = activity.lastOf(session);
  const timeout = formatDuration(sessionLifetime);
  const expired = now - last > sessionLifetime;
  const used = `it was used last at ${timeText(last)}`;
  const end = timeText(last + sessionLifetime);
  return [
    ...ofIdentity(identity, now),
    expired
      ? blocker(about, `${used}, longer ago than the session timeout of ${timeout}`, 'log in again')
      : good(about, `${used}; without a request it ends at ${end}, after ${timeout}`),
    ...(isComplete(session) ? [] : [{ ...incompleteSession(session.id), blocking: true as const }]),
    ...secondToken(tables, session),
  ];
}

function ofIdentity(identity: Identity | undefined, now: number): Finding[] {
  if (!identity) return [];
  const disabled = explainDisabled(identity, now);
  if (disabled.length > 0) return disabled;
  return [good(['identity', identity], `it belongs to ${identity.name}, which is enabled`)];
}

function secondToken(tables: Tables, { requiredSignerId }: ApiSession): Finding[] {
  if (requiredSignerId === null) return [];
  const signer = tables.externalJwtSigner.get(requiredSignerId);
  const about = ['apiSession', { id: requiredSignerId, name: signer?.name ?? requiredSignerId }] as const;
  const needed = `every request of it must also have a token of ${signer?.name ?? requiredSignerId}`;
  return [
    signer?.enabled
      ? good(about, needed)
      : blocker(about, `${needed}, which is disabled or unknown`, 'enable the signer'),
  ];
}

/** The session is a token, has ended, or is unknown. */
function otherSession({ tables, posture, ended, now }: SessionComponents, id: string): Finding[] {
  const about = ['apiSession', { id }] as const;
  const revocation = tables.revocation.get(id);
  if (revocation) return [blocker(about, `its tokens were revoked at ${revocation.createdAt}`, 'log in again')];
  const end = ended.get(id);
  if (end) return [blocker(about, `it ended at ${timeText(end.endedAt)}, because ${end.reason}`, 'log in again')];
  for (const identity of tables.identity.values())
    if (posture.dataOf(identity.id)?.sessions.has(id))
      return [...ofIdentity(identity, now), good(about, 'it is a session in token form; it ends with its tokens')];
  const message =
    'no stored session has this id, and no ended one; a session in token form is known once it reports posture';
  return [blocker(about, message, 'compare the id with `GET /edge/management/v1/api-sessions`, or log in again')];
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
