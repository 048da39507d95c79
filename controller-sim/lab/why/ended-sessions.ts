// The API sessions that ended last, each with the reason, for explanations: the tables forget them.

import { BoundedMap } from '#lib/queue/bounded-map.ts';
import type { ChangeSet } from '../../state/change.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { State } from '../../state/state.ts';

/** Limit on them: the oldest ones are forgotten. */
const MAX_ENDED_SESSIONS = 1_000;

export interface EndedSession {
  readonly identityId: string;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** Completes "the session ended, because …". */
  readonly reason: string;
}

export class EndedSessions {
  /** By id, the oldest first. */
  readonly #ended = new BoundedMap<string, EndedSession>(MAX_ENDED_SESSIONS);
  readonly #unsubscribe: () => void;

  constructor(state: State) {
    this.#unsubscribe = state.subscribe('observers', (set) => this.#onChange(set));
  }

  close(): void {
    this.#unsubscribe();
    this.#ended.clear();
  }

  get(sessionId: string): EndedSession | undefined {
    return this.#ended.get(sessionId);
  }

  #onChange(set: ChangeSet): void {
    for (const { kind, id, before, after } of set.changes) {
      if (kind !== 'apiSession' || !before || after) continue;
      this.#ended.set(id, { identityId: before.identityId, endedAt: set.time, reason: reasonOf(before, set) });
    }
  }
}

/** The other changes of the set show why the session ended; without one, its author does. */
function reasonOf({ identityId, authenticatorId }: ApiSession, { changes, origin, isReload }: ChangeSet): string {
  const identity = changes.find((change) => change.kind === 'identity' && change.id === identityId);
  if (identity && !identity.after) return 'its identity was deleted';
  if (identity?.kind === 'identity' && identity.after?.disabled && !identity.before?.disabled)
    return 'its identity was disabled';
  if (changes.some(({ kind, id, after }) => kind === 'authenticator' && id === authenticatorId && !after))
    return 'the authenticator of its login was deleted';
  if (isReload) return 'another member of the cluster ended it';
  if (!origin) return 'it was not used for longer than the session timeout, or the lab ended it';
  const { author } = origin;
  if (author.type === 'identity' && author.id === identityId) return 'its identity logged out, or deleted it';
  return `it was deleted by ${author.name ?? author.id ?? author.type}`;
}
