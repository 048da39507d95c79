// Copies of the data in files that a simulator can start from.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ApiError, invalidField } from '../errors/errors.ts';
import type { State } from './state.ts';
import { SqliteStore } from './store/sqlite-store.ts';
import { StoreWriteError } from './store/store.ts';

/** reference fact: one snapshot a minute. */
const MIN_PAUSE_MS = 60_000;

export class Snapshots {
  readonly #state: State;
  readonly #clock: Clock;
  /** The directory of the data file; for data in memory, a temporary directory. */
  readonly #directory: () => string;
  #last = Number.NEGATIVE_INFINITY;

  constructor(state: State, clock: Clock, dataFile: string | undefined) {
    this.#state = state;
    this.#clock = clock;
    const own = dataFile === undefined ? undefined : resolve(dataFile, '..');
    this.#directory = () => own ?? mkdtempSync(join(tmpdir(), 'edgeweave-snapshot-'));
  }

  /** Writes a copy and returns its path. Throws ApiError if the file exists or is not writable. */
  async take(path?: string): Promise<string> {
    const now = this.#clock.now();
    if (now - this.#last < MIN_PAUSE_MS) throw new ApiError('RATE_LIMITED');
    const last = this.#last;
    this.#last = now;
    const stamp = new Date(now).toISOString().replace(/[:.]/g, '-');
    const file = path ? resolve(path) : join(this.#directory(), `snapshot-${stamp}.db`);
    try {
      await SqliteStore.copy(file, this.#state.snapshot());
    } catch (error) {
      this.#last = last; // nothing was written, so the next attempt need not wait
      if (error instanceof StoreWriteError) throw error;
      throw invalidField('path', describeError(error), file);
    }
    return file;
  }
}
