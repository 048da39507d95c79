// Stores nothing: for a temporary simulator.

import type { Store, StoredState } from './store.ts';

export class MemoryStore implements Store {
  readonly isShared = false;
  #index = 0n;

  load(): Promise<StoredState> {
    return Promise.resolve({ index: this.#index, entities: [], meta: new Map() });
  }

  commit(sets: readonly unknown[]): Promise<bigint[]> {
    return Promise.resolve(
      sets.map(() => {
        this.#index += 1n;
        return this.#index;
      }),
    );
  }

  putMeta(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
