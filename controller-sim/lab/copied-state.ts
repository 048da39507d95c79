// A copy of the data in memory, whose changes are kept nowhere: for plans and comparisons.

import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import type { StoredState } from '../state/store/store.ts';

class CopyStore extends MemoryStore {
  readonly #data: StoredState;

  constructor(data: StoredState) {
    super();
    this.#data = data;
  }

  override load(): Promise<StoredState> {
    return Promise.resolve(this.#data);
  }
}

/** The caller closes the copy. */
export async function copyOf(state: State): Promise<State & AsyncDisposable> {
  const { clock, ids } = state;
  const copy = await State.open({ store: new CopyStore(state.snapshot()), clock, ids });
  return Object.assign(copy, { [Symbol.asyncDispose]: () => copy.close() });
}
