// Tokens revoked before they expire: one token, all of an API session, or all of an identity issued so far.

import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { revocationOf } from '../../entities/revocation.ts';
import type { AccessClaims } from '../../pki/tokens.ts';
import type { Revocation } from '../../state/kinds/revocation.ts';
import type { State } from '../../state/state.ts';

export interface RevocationsComponents {
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this controller removes old revocations for all; default: always. */
  readonly isLeader?: () => boolean;
}

type RevocableClaims = Pick<AccessClaims, 'jti' | 'z_asid' | 'z_authid' | 'sub' | 'iat'>;

const STEP = 60_000;
/**
 * Milliseconds in which a used refresh token is accepted again: the answer may be lost, and the requests of a client
 * may cross. The reference revokes used tokens once a minute, so that they live for 30 seconds on average.
 */
const REUSE_INTERVAL = 30_000;

export class Revocations {
  readonly #components: RevocationsComponents;
  readonly #timer: Timer;

  constructor(components: RevocationsComponents) {
    this.#components = components;
    this.#timer = components.clock.every('revocations', STEP, () => this.#forget());
  }

  close(): void {
    this.#timer.cancel();
  }

  isRevoked({ jti, z_asid, z_authid, sub, iat }: RevocableClaims): boolean {
    const { revocation, authenticator } = this.#components.state.tables;
    if (this.#isFinal(revocation.get(jti)) || revocation.has(z_asid)) return true;
    // Sessions end with the authenticator that opened them. Tokens of other issuers open sessions without one.
    if (z_authid && !authenticator.has(z_authid)) return true;
    const ofIdentity = revocation.get(sub);
    return ofIdentity !== undefined && iat * 1000 <= Date.parse(ofIdentity.createdAt);
  }

  /** `id` names the token, the API session or the identity. */
  async revoke(id: string, type: Revocation['type']): Promise<void> {
    await this.#components.state.change((transaction) => {
      transaction.put('revocation', revocationOf(transaction, id, type));
    });
  }

  /**
   * Uses the refresh token `jti`: it is revoked, but accepted again for `REUSE_INTERVAL` after its first use. Returns
   * false if it was revoked before.
   */
  use(jti: string): Promise<boolean> {
    return this.#components.state.change((transaction) => {
      const earlier = transaction.get('revocation', jti);
      if (earlier) return !this.#isFinal(earlier);
      const reusableUntil = new Date(this.#components.clock.now() + REUSE_INTERVAL).toISOString();
      transaction.put('revocation', { ...revocationOf(transaction, jti, 'JTI'), reusableUntil });
      return true;
    });
  }

  #isFinal(revocation: Revocation | undefined): boolean {
    if (!revocation) return false;
    const { reusableUntil } = revocation;
    return reusableUntil === undefined || Date.parse(reusableUntil) <= this.#components.clock.now();
  }

  /** Removes revocations that are older than any valid token. */
  #forget(): void {
    const { state, clock, log, isLeader = () => true } = this.#components;
    if (!isLeader()) return;
    const isOld = ({ expiresAt }: Revocation) => Date.parse(expiresAt) < clock.now();
    const old = [...state.tables.revocation.values()].filter(isOld);
    if (old.length === 0) return;
    state
      .change((transaction) => {
        for (const { id } of old) {
          const current = transaction.get('revocation', id); // the identity may have been revoked again meanwhile
          if (current && isOld(current)) transaction.delete('revocation', id);
        }
      })
      .catch((error: unknown) => log.warn({ error: String(error) }, 'could not remove old revocations'));
  }
}
