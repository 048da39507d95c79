// Enables identities when the time of their lock is over. Checking the time on access is not enough: routers only learn
// of changes.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { enableIdentity, isDisabled } from '../entities/identity.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { State } from '../state/state.ts';

export interface DisabledIdentitiesComponents {
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds until a failed change is tried again. */
const RETRY = 60_000;

export class DisabledIdentities {
  readonly #components: DisabledIdentitiesComponents;
  readonly #timers = new Map<string, Timer>();
  readonly #unsubscribe: () => void;
  #isClosed = false;

  constructor(components: DisabledIdentitiesComponents) {
    this.#components = components;
    for (const identity of components.state.tables.identity.values()) this.#watch(identity.id, identity);
    this.#unsubscribe = components.state.subscribe('derived', ({ changes }) => {
      for (const { kind, id, after } of changes) if (kind === 'identity') this.#watch(id, after);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #watch(id: string, identity: Identity | undefined): void {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    if (!identity?.disabled || identity.disabledUntil === null) return;
    this.#enableAfter(id, Date.parse(identity.disabledUntil) - this.#components.clock.now());
  }

  #enableAfter(id: string, milliseconds: number): void {
    this.#timers.set(
      id,
      this.#components.clock.after('disabled identity', milliseconds, () => this.#enable(id)),
    );
  }

  #enable(id: string): void {
    this.#timers.delete(id);
    const { state, clock, log } = this.#components;
    const change = state.change((transaction) => {
      const identity = transaction.get('identity', id);
      if (identity?.disabled && !isDisabled(identity, clock.now())) enableIdentity(transaction, identity);
    });
    change.catch((error: unknown) => {
      log.warn(
        { identityId: id, error: describeError(error) },
        'could not enable an identity after its lock, retrying',
      );
      if (!this.#isClosed && !this.#timers.has(id)) this.#enableAfter(id, RETRY);
    });
  }
}
