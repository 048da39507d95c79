// Counts consecutive wrong passwords. At the auth policy's limit the identity is disabled for a time, or until it is
// enabled again. Passwords are checked concurrently: once the limit is reached, even correct ones are rejected before
// the lock is committed. Controllers with a common store count together, those of a day.

import { disableIdentity, isDisabled } from '../entities/identity.ts';
import type { AuthPolicy } from '../state/kinds/auth-policy.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import type { State } from '../state/state.ts';
import type { Attempts } from '../state/store/shared-store.ts';
import { SharedAttempts } from './shared-attempts.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export class Lockouts {
  readonly #state: State;
  /** Authenticator id to the number of wrong passwords since the last correct one. */
  readonly #failures = new Map<string, number>();
  /** Ids of authenticators whose identity is being disabled. */
  readonly #locking = new Set<string>();
  readonly #shared: SharedAttempts;
  readonly #unsubscribe: () => void;

  constructor(state: State, attempts?: Attempts) {
    this.#state = state;
    this.#shared = new SharedAttempts(state.clock, attempts);
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
  passed({ id, identityId }: Authenticator): boolean {
    if (this.#locking.has(id)) return false;
    this.#failures.delete(id);
    const { authPolicy, identity } = this.#state.tables;
    const policy = authPolicy.get(identity.get(identityId)?.authPolicyId ?? '');
    if (policy && policy.primary.updb.maxAttempts > 0) this.#shared.clear(keyOf(id));
    return true;
  }

  async failed({ id, identityId }: Authenticator, { primary }: AuthPolicy): Promise<void> {
    const { maxAttempts, lockoutDurationMinutes: minutes } = primary.updb;
    if (maxAttempts <= 0 || this.#locking.has(id)) return;
    const own = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, own);
    const common = this.#shared.isCommon ? await this.#shared.add(keyOf(id), DAY) : 0;
    // A correct password at another controller begins the common count again.
    if (common > 0 && common < own) this.#failures.set(id, common);
    if ((common || own) < maxAttempts || this.#locking.has(id)) return;
    this.#failures.delete(id);
    this.#shared.clear(keyOf(id));
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

function keyOf(authenticatorId: string): string {
  return `password ${authenticatorId}`;
}
