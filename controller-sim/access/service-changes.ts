// When the services that an identity sees last changed: clients ask for that before they ask for the services.

import type { Clock } from '#lib/clock.ts';
import type { Change } from '../state/change.ts';
import type { State } from '../state/state.ts';
import type { EntityKind, Identity } from '../state/types.ts';
import type { Access } from './access.ts';

/** Kinds of which a change matters to everybody: they are few and seldom changed. */
const FOR_ALL: ReadonlySet<EntityKind> = new Set(['config', 'configType', 'postureCheck']);

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

  /** `access` must have been made before: it has to hear of a change first. */
  constructor(components: ServiceChangesComponents) {
    const { state, access, clock } = components;
    this.#components = components;
    this.#forAll = clock.now();
    this.#unsubscribe = [
      state.subscribe(({ changes }) => {
        for (const change of changes) this.#onChange(change);
      }),
      access.subscribe((moves) => {
        for (const { kind, policyId, side, id } of moves) {
          if (kind !== 'servicePolicy') continue;
          if (side === 'left') this.touch(id);
          else for (const identityId of access.membership(policyId).left) this.touch(identityId);
        }
      }),
    ];
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#byIdentity.clear();
  }

  /** Milliseconds since the epoch. */
  lastOf({ id }: Identity): number {
    return Math.max(this.#forAll, this.#byIdentity.get(id) ?? 0);
  }

  /** Something that the identity sees of its services is another one now. */
  touch(identityId: string): void {
    this.#byIdentity.set(identityId, this.#components.clock.now());
  }

  #onChange({ kind, id, before, after }: Change): void {
    const { access, clock } = this.#components;
    if (FOR_ALL.has(kind)) this.#forAll = clock.now();
    if (kind === 'service') for (const identity of access.identitiesOf(id)) this.touch(identity.id);
    if (kind === 'servicePolicy') for (const identityId of access.membership(id).left) this.touch(identityId);
    if (kind === 'identity' && !after) this.#byIdentity.delete(id);
    const configsOf = (entity: Change['after']) => JSON.stringify((entity as Identity | undefined)?.serviceConfigs);
    if (kind === 'identity' && before && after && configsOf(before) !== configsOf(after)) this.touch(id);
  }
}
