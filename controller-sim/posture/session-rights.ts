// Ends sessions whose right has ended: no policy grants the service any longer, or the client's posture fails all
// policies that do. posture.ts evaluates posture; control-channel/legacy-sessions.ts notifies routers.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { ChangeSet } from '../state/change.ts';
import type { Session } from '../state/kinds/session.ts';
import type { State } from '../state/state.ts';
import type { Posture } from './posture.ts';

/**
 * An identity (left) or service (right) that joined or left a service policy, or a member of another kind of policy.
 */
interface MembershipChange {
  readonly kind: string;
  readonly side: 'left' | 'right';
  readonly id: string;
  readonly joined: boolean;
}

/** The members of policies and their changes: the room access tracks them. */
export interface PolicyMembers {
  subscribe(listener: (changes: readonly MembershipChange[]) => void): () => void;
  membership(policyId: string): { readonly right: ReadonlySet<string> };
}

export interface SessionRightsComponents {
  readonly state: State;
  readonly access: PolicyMembers;
  readonly posture: Posture;
  readonly log: Log;
}

export class SessionRights {
  readonly #components: SessionRightsComponents;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(components: SessionRightsComponents) {
    this.#components = components;
    const { state, access, posture } = components;
    this.#unsubscribe = [
      access.subscribe((moves) => this.#onMoves(moves)),
      state.subscribe('derived', (set) => this.#onChange(set)),
      posture.subscribe((identityId) => this.#review(state.tables.session.referring('identityId', identityId))),
    ];
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #onMoves(moves: readonly MembershipChange[]): void {
    const { session } = this.#components.state.tables;
    for (const { kind, side, id, joined } of moves) {
      if (kind === 'servicePolicy' && !joined)
        this.#review(session.referring(side === 'left' ? 'identityId' : 'serviceId', id));
    }
  }

  /**
   * Reacts to a changed type or posture checks of a policy, and changed demands of a check. Both are rare. Also reviews
   * new sessions: a change that was committed together with one may have ended its right.
   */
  #onChange({ changes }: ChangeSet): void {
    const { access, state } = this.#components;
    const { session } = state.tables;
    for (const { kind, id, before, after } of changes) {
      if (kind === 'postureCheck') return this.#review([...session.values()]);
      if (kind === 'session' && !before && after) this.#review([after]);
      if (kind === 'servicePolicy' && before && after)
        for (const serviceId of access.membership(id).right) this.#review(session.referring('serviceId', serviceId));
    }
  }

  #review(sessions: readonly Session[]): void {
    const { posture, state, log } = this.#components;
    const lost = sessions.filter(
      ({ apiSessionId, identityId, serviceId, type }) =>
        !posture.mayUse({ id: apiSessionId, identityId }, serviceId, type),
    );
    if (lost.length === 0) return;
    state
      .change((transaction) => {
        for (const { id } of lost) transaction.delete('session', id);
      })
      .catch((error: unknown) => log.error({ error: describeError(error) }, 'could not end sessions without a right'));
  }
}
