// Sessions that the store did not take, for logins of an administrator at the lab: the lab helps when the database
// rejects changes, also when no controller follows it. They exist at one controller, in memory, and end with it.

import { BoundedMap } from '#lib/queue/bounded-map.ts';
import type { ApiSession } from '../state/kinds/api-session.ts';

/** Limit on them: the oldest one makes room. */
const MAX_UNSTORED = 100;

export class UnstoredSessions {
  /** By token, oldest first. */
  readonly #sessions = new BoundedMap<string, ApiSession>(MAX_UNSTORED);

  add(session: ApiSession): void {
    this.#sessions.set(session.token, session);
  }

  find(token: string): ApiSession | undefined {
    return this.#sessions.get(token);
  }

  /** @returns false for a session that is not one of them */
  end({ token }: Pick<ApiSession, 'token'>): boolean {
    return this.#sessions.delete(token);
  }
}
