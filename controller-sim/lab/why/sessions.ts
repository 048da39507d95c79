// The sessions of an identity, stored ones and those in token form.

import type { Posture } from '../../posture/posture.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Tables } from '../../state/tables.ts';

/** A session of the identity; `session` is undefined if it is a token. */
export interface KnownSession {
  readonly id: string;
  readonly session: ApiSession | undefined;
}

/** Stands for the sessions of an identity without one: checks are evaluated for a machine that has reported nothing. */
export const NO_SESSION: KnownSession = { id: '', session: undefined };

/** The newest first, at least `NO_SESSION`. `sessionId`: only this one; undefined: all of them. */
export function sessionsOf(
  { tables, posture }: { readonly tables: Tables; readonly posture: Posture },
  identityId: string,
  sessionId: string | undefined,
): KnownSession[] {
  const stored = tables.apiSession.referring('identityId', identityId).map((session) => ({ id: session.id, session }));
  const ids = new Set(stored.map(({ id }) => id));
  const tokens = [...(posture.dataOf(identityId)?.sessions.keys() ?? [])].filter((id) => !ids.has(id));
  const all: KnownSession[] = [...stored, ...tokens.map((id) => ({ id, session: undefined }))];
  const wanted = sessionId === undefined ? all : all.filter(({ id }) => id === sessionId);
  return wanted.length === 0 ? [NO_SESSION] : wanted.reverse();
}
