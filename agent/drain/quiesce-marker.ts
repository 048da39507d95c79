// A file that exists while a controller may have quiesced this router. The controller keeps that state after a crash of
// the router, and routers cannot query it: a router that finds the file at its start asks the controller to restore its
// terminators.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { describeError } from '#lib/errors.ts';
import { writeProblem } from '#lib/files/writable.ts';
import type { Log } from '#lib/log/log.ts';

const OWNER_ONLY = 0o600;

export class QuiesceMarker {
  readonly #path: string;
  readonly #log: Log;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  get isSet(): boolean {
    return existsSync(this.#path);
  }

  /** Call before the request: the router may be killed before the answer. */
  set(): void {
    try {
      writeFileSync(this.#path, '', { mode: OWNER_ONLY, flush: true });
    } catch (error) {
      this.#log.warn(
        { path: this.#path, error: writeProblem(this.#path, error) },
        'draining cannot be recorded: if this router is killed, its terminators remain failed until it drains again',
      );
    }
  }

  clear(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch (error) {
      this.#log.warn({ path: this.#path, error: describeError(error) }, 'the record of draining cannot be removed');
    }
  }
}
