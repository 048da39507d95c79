// Last activity of API sessions. Times are kept in memory and stored once per step. Answers need not wait for storage,
// and a crash loses one step at most. Controllers with a common store each do this: a later time of another one counts.

import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { endApiSession } from '../entities/api-session.ts';
import type { ApiSession } from '../state/kinds/api-session.ts';
import type { State } from '../state/state.ts';

export interface ActivityComponents {
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds after which an unused session ends. */
  readonly lifetime: number;
  /** Whether this controller ends unused sessions for all; default: always. */
  readonly isLeader?: () => boolean;
}

/** Interval of storing the times and removing expired sessions. */
const STEP = 60_000;

export class Activity {
  readonly #components: ActivityComponents;
  readonly #noted = new Map<string, number>();
  readonly #timer: Timer;

  constructor(components: ActivityComponents) {
    this.#components = components;
    this.#timer = components.clock.every('API sessions', STEP, () => this.#writeDown());
  }

  close(): void {
    this.#timer.cancel();
    this.#noted.clear();
  }

  note({ id }: ApiSession): void {
    this.#noted.set(id, this.#components.clock.now());
  }

  /** Milliseconds since the epoch. */
  lastOf({ id, lastActivityAt }: ApiSession): number {
    return Math.max(this.#noted.get(id) ?? 0, Date.parse(lastActivityAt));
  }

  #writeDown(): void {
    const { state, clock, log, lifetime, isLeader = () => true } = this.#components;
    // Sessions that are tokens are not stored.
    for (const id of this.#noted.keys()) if (!state.tables.apiSession.has(id)) this.#noted.delete(id);
    const noted = [...this.#noted];
    // Other controllers note activity too, and store it up to one step later.
    const longest = lifetime + (state.others ? STEP : 0);
    const isOver = (session: ApiSession) => clock.now() - this.lastOf(session) > longest;
    const stored = isLeader() ? [...state.tables.apiSession.values()] : [];
    // An advance of the time comes here many times before the first commit ends: noted times can be over too.
    const ended = stored.filter(isOver);
    if (noted.length === 0 && ended.length === 0) return;
    state
      .change((transaction) => {
        for (const [id, time] of noted) {
          const stored = transaction.get('apiSession', id);
          if (stored && Date.parse(stored.lastActivityAt) < time)
            transaction.patch('apiSession', id, { lastActivityAt: new Date(time).toISOString() });
        }
        // A request to this or another controller may have used it meanwhile.
        for (const { id } of ended) {
          const stored = transaction.get('apiSession', id);
          if (stored && isOver(stored)) endApiSession(transaction, id);
        }
      })
      .then(() => {
        // Until the commit, `noted` has the newer times. Later activity stays in it.
        for (const [id, time] of noted) if (this.#noted.get(id) === time) this.#noted.delete(id);
      })
      .catch((error: unknown) => log.warn({ error: String(error) }, 'could not store session activity'));
  }
}
