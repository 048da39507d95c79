// Counts consecutive wrong passwords. At the auth policy's limit the identity is disabled for a time, or until it is
// enabled again. Passwords are checked concurrently: once the limit is reached, even correct ones are rejected before
// the lock is committed.

import { disableIdentity, isDisabled } from '../entities/identity.ts';
import type { State } from '../state/state.ts';
import type { Authenticator, AuthPolicy } from '../state/types.ts';

const MINUTE = 60_000;

export class Lockouts {
  readonly #state: State;
  /** Authenticator id to the number of wrong passwords since the last correct one. */
  readonly #failures = new Map<string, number>();
  /** Ids of authenticators whose identity is being disabled. */
  readonly #locking = new Set<string>();
  readonly #unsubscribe: () => void;

  constructor(state: State) {
    this.#state = state;
    this.#unsubscribe = state.subscribe('derived', ({ changes }) => {
      for (const { kind, id, after } of changes) if (kind === 'authenticator' && !after) this.#failures.delete(id);
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#failures.clear();
    this.#locking.clear();
  }

  /** @returns false if the identity is being locked, even for a correct password */
  passed({ id }: Authenticator): boolean {
    if (this.#locking.has(id)) return false;
    this.#failures.delete(id);
    return true;
  }

  async failed({ id, identityId }: Authenticator, { primary }: AuthPolicy): Promise<void> {
    const { maxAttempts, lockoutDurationMinutes: minutes } = primary.updb;
    if (maxAttempts <= 0 || this.#locking.has(id)) return;
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    if (failures < maxAttempts) return;
    this.#failures.delete(id);
    const until = minutes > 0 ? this.#state.clock.now() + minutes * MINUTE : undefined;
    this.#locking.add(id);
    try {
      await this.#state.change((transaction) => {
        const identity = transaction.get('identity', identityId);
        if (identity && !isDisabled(identity, transaction.clock.now())) disableIdentity(transaction, identity, until);
      });
    } finally {
      this.#locking.delete(id);
    }
  }
}
