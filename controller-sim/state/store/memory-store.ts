// Stores nothing: for a temporary simulator.

import { indexesAfter, type Prepare, type Store, type StoredState } from './store.ts';

export class MemoryStore implements Store {
  load(): Promise<StoredState> {
    return Promise.resolve({ index: 0n, entities: [], meta: new Map() });
  }

  async append(after: bigint, prepare: Prepare): Promise<bigint[]> {
    return indexesAfter(after, prepare([]));
  }

  putMeta(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
