// Counts consecutive wrong passwords. At the auth policy's limit the identity is disabled for a time, or until it is
// enabled again. Passwords are checked concurrently: once the limit is reached, even correct ones are rejected before
// the lock is committed. Controllers with a common store count together, those of a day.
//
// The counts need no store. While it takes no changes, each controller counts alone, and a lock holds in its memory:
// correct passwords are rejected there, and the lock is stored as soon as possible.

import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import { realClock } from '#lib/time/advancing-clock.ts';
import type { Timer } from '#lib/time/clock.ts';
import { disableIdentity, isDisabled } from '../entities/identity.ts';
import type { AuthPolicy } from '../state/kinds/auth-policy.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import type { State } from '../state/state.ts';
import type { Attempts } from '../state/store/shared-store.ts';
import { SharedAttempts } from './shared-attempts.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Milliseconds until locks that were not stored are tried again, and how many in one change. */
const RETRY = 2_000;
const MAX_AT_ONCE = 100;

/** A lock that is not stored yet. */
interface Lock {
  readonly identityId: string;
  /** Milliseconds since the epoch; undefined: until the identity is enabled. */
  readonly until: number | undefined;
}

export class Lockouts {
  readonly #state: State;
  /** Authenticator id to the number of wrong passwords since the last correct one. */
  readonly #failures = new Map<string, number>();
  /** By authenticator id. */
  readonly #locks = new Map<string, Lock>();
  #retry: Timer | undefined;
  #isClosed = false;
  readonly #shared: SharedAttempts;
  readonly #unsubscribe: () => void;

  constructor(state: State, attempts?: Attempts) {
    this.#state = state;
    this.#shared = new SharedAttempts(state.clock, attempts);
    this.#unsubscribe = state.subscribe('derived', ({ changes }) => {
      for (const { kind, id, after } of changes) if (kind === 'authenticator' && !after) this.#forget(id);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#retry?.cancel();
    this.#locks.clear();
    this.#failures.clear();
  }

  /** Forgets counts and locks: a restore has replaced the data that they refer to. */
  clear(): void {
    for (const id of new Set([...this.#failures.keys(), ...this.#locks.keys()])) this.#shared.clear(keyOf(id));
    this.#locks.clear();
    this.#failures.clear();
  }

  #forget(authenticatorId: string): void {
    this.#failures.delete(authenticatorId);
    this.#locks.delete(authenticatorId);
  }

  /** Whether even correct passwords are rejected, although the lock may not be stored yet. */
  isLocked(authenticatorId: string): boolean {
    const lock = this.#locks.get(authenticatorId);
    if (!lock) return false;
    if (lock.until === undefined || this.#state.clock.now() < lock.until) return true;
    this.#forget(authenticatorId);
    return false;
  }

  /** @returns false if the identity is being locked, even for a correct password */
  passed({ id, identityId }: Authenticator): boolean {
    if (this.isLocked(id)) return false;
    this.#failures.delete(id);
    const { authPolicy, identity } = this.#state.tables;
    const policy = authPolicy.get(identity.get(identityId)?.authPolicyId ?? '');
    if (policy && policy.primary.updb.maxAttempts > 0) this.#shared.clear(keyOf(id));
    return true;
  }

  /** Does not reject if the store takes no changes. */
  async failed({ id, identityId }: Authenticator, { primary }: AuthPolicy): Promise<void> {
    const { maxAttempts, lockoutDurationMinutes: minutes } = primary.updb;
    if (maxAttempts <= 0 || this.isLocked(id)) return;
    const own = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, own);
    const common = this.#shared.isCommon ? await this.#shared.add(keyOf(id), DAY) : 0;
    // A correct password at another controller begins the common count again.
    if (common > 0 && common < own) this.#failures.set(id, common);
    if ((common || own) < maxAttempts || this.isLocked(id)) return;
    this.#failures.delete(id);
    const until = minutes > 0 ? this.#state.clock.now() + minutes * MINUTE : undefined;
    const lock: Lock = { identityId, until };
    this.#locks.set(id, lock);
    await this.#store([[id, lock]]);
  }

  /** @returns false if the store did not take them: they are tried again later */
  async #store(locks: readonly (readonly [authenticatorId: string, lock: Lock])[]): Promise<boolean> {
    const { clock, log } = this.#state;
    try {
      await this.#state.change((transaction) => {
        for (const [id, lock] of locks) {
          if (this.#locks.get(id) !== lock) continue; // cleared while this change waited
          const { identityId, until } = lock;
          const identity = transaction.get('identity', identityId);
          if (identity && !isDisabled(identity, clock.now())) disableIdentity(transaction, identity, until);
        }
      });
    } catch (error) {
      if (this.#isClosed) return false;
      const what = 'the locks of identities could not be stored, retrying';
      log.warn({ identities: locks.map(([, { identityId }]) => identityId), error: describeError(error) }, what);
      this.#retry ??= realClock(clock).after('locks of identities', RETRY, () => {
        this.#retry = undefined;
        background(log, 'locks of identities', this.#storeAll());
      });
      return false;
    }
    for (const [id, lock] of locks) {
      if (this.#locks.get(id) === lock) this.#locks.delete(id);
      this.#shared.clear(keyOf(id));
    }
    return true;
  }

  async #storeAll(): Promise<void> {
    const some = () => [...this.#locks].filter(([id]) => this.isLocked(id)).slice(0, MAX_AT_ONCE);
    for (let locks = some(); locks.length > 0; locks = some()) if (!(await this.#store(locks))) return;
  }
}

function keyOf(authenticatorId: string): string {
  return `password ${authenticatorId}`;
}
