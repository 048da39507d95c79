// Tokens revoked before they expire: one token, all of an API session, or all of an identity issued so far.

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
    // Sessions end with the authenticator that opened them. Tokens of other issuers open sessions without one.
    if (z_authid && !authenticator.has(z_authid)) return true;
    const ofIdentity = revocation.get(sub);
    return ofIdentity !== undefined && iat * 1000 <= Date.parse(ofIdentity.createdAt);
  }

  /** `id` names the token, the API session or the identity. Returns true only for the first of concurrent callers. */
  revoke(id: string, type: Revocation['type']): Promise<boolean> {
    return this.#components.state.change((transaction) => {
      const isNew = transaction.get('revocation', id) === undefined;
      transaction.put('revocation', revocationOf(transaction, id, type));
      return isNew;
    });
  }

  /** Removes revocations that are older than any valid token. */
  #forget(): void {
    const { state, clock, log } = this.#components;
    const old = [...state.tables.revocation.values()].filter(({ expiresAt }) => Date.parse(expiresAt) < clock.now());
    if (old.length === 0) return;
    state
      .change((transaction) => {
        for (const { id } of old) transaction.delete('revocation', id);
      })
      .catch((error: unknown) => log.warn({ error: String(error) }, 'could not remove old revocations'));
  }
}
