// Caches identities as JSON text: successive lists mostly repeat the same identities. A change of the identity, its
// authenticators, enrollments, sessions, second factor or connections evicts its text.

import type { Network } from '../../network/network.ts';
import type { Change } from '../../state/change.ts';
import type { State } from '../../state/state.ts';
import type { TextCache } from '../http/text-cache.ts';

/** About 30 MB. */
const MOST = 20_000;

/** A change of these kinds can affect the text of any identity. */
const IN_ALL: ReadonlySet<string> = new Set(['authPolicy', 'ca']);
/** Kinds that belong to one identity. */
const OWNED: ReadonlySet<string> = new Set(['authenticator', 'enrollment', 'apiSession', 'mfa']);

export class IdentityTexts implements TextCache {
  readonly #texts = new Map<string, string>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(state: State, network: Network) {
    this.#unsubscribe = [
      state.subscribe('observers', ({ changes }) => {
        for (const change of changes) this.#onChange(change);
      }),
      network.events.subscribe((event) => {
        if (event.kind === 'router') this.#texts.delete(event.routerId);
        if (event.kind === 'sdk') this.#texts.delete(event.identityId);
      }),
    ];
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#texts.clear();
  }

  textOf(id: string, make: () => string): string {
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const text = make();
    if (this.#texts.size >= MOST) this.#texts.clear();
    this.#texts.set(id, text);
    return text;
  }

  #onChange({ kind, id, before, after }: Change): void {
    if (kind === 'identity') this.#texts.delete(id);
    else if (IN_ALL.has(kind)) this.#texts.clear();
    else if (OWNED.has(kind)) {
      for (const entity of [before, after]) {
        const { identityId } = (entity ?? {}) as { identityId?: string | null };
        if (identityId) this.#texts.delete(identityId);
      }
    }
  }
}
