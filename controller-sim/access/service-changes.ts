// Tracks when an identity's view of its services last changed. Clients poll this before they fetch services.

import type { Clock } from '#lib/time/clock.ts';
import type { Change } from '../state/change.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { EntityKind } from '../state/kinds.ts';
import type { State } from '../state/state.ts';
import type { Access } from './access.ts';
import type { MembershipChange } from './memberships.ts';

/** Kinds whose changes affect every identity: they are few and rarely changed. */
const FOR_ALL: ReadonlySet<EntityKind> = new Set(['configType', 'postureCheck']);

export interface ServiceChangesComponents {
  readonly state: State;
  readonly access: Access;
  readonly clock: Clock;
}

export class ServiceChanges {
  readonly #components: ServiceChangesComponents;
  readonly #byIdentity = new Map<string, number>();
  readonly #unsubscribe: readonly (() => void)[];
  #forAll: number;

  constructor(components: ServiceChangesComponents) {
    const { state, access, clock } = components;
    this.#components = components;
    this.#forAll = clock.now();
    this.#unsubscribe = [
      state.subscribe('derived', ({ changes }) => {
        for (const change of changes) this.#onChange(change);
      }),
      access.subscribe((moves) => this.#onMoves(moves)),
    ];
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#byIdentity.clear();
  }

  /**
   * Milliseconds since the epoch. Until a change, the value is the start of the identity's session (reference fact:
   * clients compare the time with that of their session).
   */
  lastOf({ id }: Identity, sessionCreatedAt: string): number {
    return Math.max(this.#forAll, this.#byIdentity.get(id) ?? Date.parse(sessionCreatedAt));
  }

  /** Records a change in the identity's view of its services. */
  touch(identityId: string): void {
    this.#byIdentity.set(identityId, this.#components.clock.now());
  }

  /** A config affects identities that may use a service with it, or that override another config with it. */
  #onConfig(id: string): void {
    const { access, state } = this.#components;
    for (const service of state.tables.service.referring('configs', id))
      for (const identity of access.identitiesOf(service.id)) this.touch(identity.id);
    for (const identity of state.tables.identity.referring('configs', id)) this.touch(identity.id);
  }

  /** A policy without services does not affect any identity. */
  #onMoves(moves: readonly MembershipChange[]): void {
    const { access } = this.#components;
    const relevant = moves.filter(({ kind }) => kind === 'servicePolicy');
    const changed = new Set(relevant.filter(({ side }) => side === 'right').map(({ policyId }) => policyId));
    for (const policyId of changed) for (const identityId of access.membership(policyId).left) this.touch(identityId);
    for (const { policyId, side, id } of relevant)
      if (side === 'left' && (changed.has(policyId) || access.membership(policyId).right.size > 0)) this.touch(id);
  }

  #onChange({ kind, id, before, after }: Change): void {
    const { access, clock } = this.#components;
    if (FOR_ALL.has(kind)) this.#forAll = clock.now();
    if (kind === 'service') for (const identity of access.identitiesOf(id)) this.touch(identity.id);
    if (kind === 'servicePolicy' && access.membership(id).right.size > 0)
      for (const identityId of access.membership(id).left) this.touch(identityId);
    if (kind === 'config') this.#onConfig(id);
    if (kind === 'identity' && !after) this.#byIdentity.delete(id);
    const configsOf = (entity: Change['after']) => JSON.stringify((entity as Identity | undefined)?.serviceConfigs);
    if (kind === 'identity' && before && after && configsOf(before) !== configsOf(after)) this.touch(id);
  }
}
