// Tokens that count no more though they are still valid by time: one token, all of an API session, all of an identity until now.

import type { Clock, Timer } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import { revocationOf } from '../entities/revocation.ts';
import type { AccessClaims } from '../pki/tokens.ts';
import type { State } from '../state/state.ts';
import type { Revocation } from '../state/types.ts';

export interface RevocationsComponents {
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
}

type RevocableClaims = Pick<AccessClaims, 'jti' | 'z_asid' | 'z_authid' | 'sub' | 'iat'>;

const STEP = 60_000;
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
    if (revocation.has(jti) || revocation.has(z_asid)) return true;
    // With the authenticator go the sessions that it opened. Tokens of other issuers open some without.
    if (z_authid && !authenticator.has(z_authid)) return true;
    const ofIdentity = revocation.get(sub);
    return ofIdentity !== undefined && iat * 1000 <= Date.parse(ofIdentity.createdAt);
  }

  /** `id` is that of the token, the API session or the identity. Answers whether it counted until now: of two who come at once, one is told so. */
  revoke(id: string, type: Revocation['type']): Promise<boolean> {
    return this.#components.state.change((transaction) => {
      const isNew = transaction.get('revocation', id) === undefined;
      transaction.put('revocation', revocationOf(transaction, id, type));
      return isNew;
    });
  }

  /** Those that no token outlives. */
  #forget(): void {
    const { state, clock, log } = this.#components;
    const old = [...state.tables.revocation.values()].filter(({ expiresAt }) => Date.parse(expiresAt) < clock.now());
    if (old.length === 0) return;
    state
      .change((transaction) => {
        for (const { id } of old) transaction.delete('revocation', id);
      })
      .catch((error: unknown) => log.warn({ error: String(error) }, 'old revocations could not be removed'));
  }
}
