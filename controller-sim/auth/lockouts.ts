// Wrong passwords in a row: as many as the auth policy allows, then the identity is disabled for a time, or until it is enabled again.

import { disableIdentity, isDisabled } from '../entities/identity.ts';
import type { State } from '../state/state.ts';
import type { Authenticator, AuthPolicy } from '../state/types.ts';

const MINUTE = 60_000;

export class Lockouts {
  readonly #state: State;
  /** Authenticator id to wrong passwords since the last right one. */
  readonly #failures = new Map<string, number>();
  readonly #unsubscribe: () => void;

  constructor(state: State) {
    this.#state = state;
    this.#unsubscribe = state.subscribe(({ changes }) => {
      for (const { kind, id, after } of changes) if (kind === 'authenticator' && !after) this.#failures.delete(id);
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#failures.clear();
  }

  passed({ id }: Authenticator): void {
    this.#failures.delete(id);
  }

  async failed({ id, identityId }: Authenticator, { primary }: AuthPolicy): Promise<void> {
    const { maxAttempts, lockoutDurationMinutes: minutes } = primary.updb;
    if (maxAttempts <= 0) return;
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    if (failures < maxAttempts) return;
    this.#failures.delete(id);
    const until = minutes > 0 ? this.#state.clock.now() + minutes * MINUTE : undefined;
    await this.#state.change((transaction) => {
      const identity = transaction.get('identity', identityId);
      if (identity && !isDisabled(identity, transaction.clock.now())) disableIdentity(transaction, identity, until);
    });
  }
}
