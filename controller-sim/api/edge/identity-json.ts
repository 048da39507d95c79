// Caches identities as JSON: successive lists mostly repeat the same identities. A change of the identity, its
// authenticators, enrollments, sessions, second factor or connections evicts it.

import type { Network } from '../../network/network.ts';
import type { Change } from '../../state/change.ts';
import type { State } from '../../state/state.ts';
import { type JsonCache, toJson } from '../answers/json-cache.ts';

/** About 30 MB. */
const MAX_ROLES = 20_000;

/** A change of these kinds can affect any identity. */
const IN_ALL: ReadonlySet<string> = new Set(['authPolicy', 'ca']);
/** Kinds that belong to one identity. */
const OWNED: ReadonlySet<string> = new Set(['authenticator', 'enrollment', 'apiSession', 'mfa']);

export class IdentityJson implements JsonCache {
  readonly #cached = new Map<string, Buffer>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(state: State, network: Network) {
    this.#unsubscribe = [
      state.subscribe('observers', ({ changes }) => {
        for (const change of changes) this.#onChange(change);
      }),
      network.events.subscribe((event) => {
        if (event.kind === 'router') this.#cached.delete(event.routerId);
        if (event.kind === 'sdk') this.#cached.delete(event.identityId);
      }),
    ];
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#cached.clear();
  }

  jsonOf(id: string, show: () => unknown): Buffer {
    const known = this.#cached.get(id);
    if (known !== undefined) return known;
    const json = toJson(show());
    if (this.#cached.size >= MAX_ROLES) this.#cached.clear();
    this.#cached.set(id, json);
    return json;
  }

  #onChange({ kind, id, before, after }: Change): void {
    if (kind === 'identity' || kind === 'router') this.#cached.delete(id);
    else if (IN_ALL.has(kind)) this.#cached.clear();
    else if (OWNED.has(kind)) {
      for (const entity of [before, after]) {
        const { identityId } = (entity ?? {}) as { identityId?: string | null };
        if (identityId) this.#cached.delete(identityId);
      }
    }
  }
}
