// A file that exists while the tunneler may have changed rules or routes of this machine. A killed router leaves them
// behind: the next start finds the file and removes them, even if its configuration no longer intercepts.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';

const OWNER_ONLY = 0o600;

export class ChangesMarker {
  readonly #path: string;
  readonly #log: Log;
  #isSet = false;
  #hasFailed = false;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    this.#isSet = existsSync(path);
  }

  get isSet(): boolean {
    return this.#isSet;
  }

  /** Call before a change: the router may be killed directly afterwards. */
  set(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    try {
      writeFileSync(this.#path, '', { mode: OWNER_ONLY, flush: true });
    } catch (error) {
      this.#log.warn(
        { path: this.#path, error: describeError(error) },
        'changes to this machine cannot be recorded: if this router is killed, only a router that intercepts removes them',
      );
    }
  }

  /** A change could not be reverted, so the next start retries it. */
  failed(): void {
    this.#hasFailed = true;
  }

  /** All changes are reverted. */
  clear(): void {
    if (!this.#isSet || this.#hasFailed) return;
    this.#isSet = false;
    try {
      rmSync(this.#path, { force: true });
    } catch (error) {
      this.#log.warn(
        { path: this.#path, error: describeError(error) },
        'the record of changes to this machine cannot be removed',
      );
    }
  }
}
