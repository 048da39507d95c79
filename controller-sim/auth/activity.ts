// When API sessions were last used. What is written down lags behind what is known: an answer need not wait for it, and a crash costs a
// session no more than one step.

import type { Clock, Timer } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import { endApiSession } from '../entities/api-session.ts';
import type { State } from '../state/state.ts';
import type { ApiSession } from '../state/types.ts';

export interface ActivityComponents {
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds after which a session that is not used ends. */
  readonly lifetime: number;
}

/** How often the times are written down, and sessions that have run out are removed. */
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
    return this.#noted.get(id) ?? Date.parse(lastActivityAt);
  }

  #writeDown(): void {
    const { state, clock, log, lifetime } = this.#components;
    const noted = [...this.#noted];
    const now = clock.now();
    const used = new Set(noted.map(([id]) => id));
    const ended = [...state.tables.apiSession.values()].filter(
      ({ id, lastActivityAt }) => !used.has(id) && now - Date.parse(lastActivityAt) > lifetime,
    );
    if (noted.length === 0 && ended.length === 0) return;
    state
      .change((transaction) => {
        for (const [id, time] of noted)
          if (transaction.get('apiSession', id))
            transaction.patch('apiSession', id, { lastActivityAt: new Date(time).toISOString() });
        for (const { id } of ended) endApiSession(transaction, id);
      })
      .then(() => {
        // Until now the written times were older than what is known.
        for (const [id, time] of noted) if (this.#noted.get(id) === time) this.#noted.delete(id);
      })
      .catch((error: unknown) => log.warn({ error: String(error) }, 'activity of sessions could not be noted'));
  }
}
