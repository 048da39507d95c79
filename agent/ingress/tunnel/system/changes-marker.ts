// A file that exists while the tunneler may have changed rules, routes or hosts files of this machine; it contains the
// paths of the latter. A killed router leaves its changes behind: the next start finds the file and reverts them, even
// if its configuration no longer intercepts.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError } from '#lib/errors.ts';
import { makePrivateFolder } from '#lib/files/atomic-file.ts';
import { writeProblem } from '#lib/files/writable.ts';
import type { Log } from '#lib/log/log.ts';
import { DiversionRecord } from './diversion-record.ts';

const OWNER_ONLY = 0o600;

export class ChangesMarker {
  /** Rules of an external diverter, in a file of their own. */
  readonly diversions: DiversionRecord;
  readonly #path: string;
  readonly #log: Log;
  #isSet: boolean;
  #hostsFiles: readonly string[] = [];
  #hasFailed = false;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    this.#isSet = this.#load();
    this.diversions = new DiversionRecord(`${path}.diverter`, log);
  }

  get isSet(): boolean {
    return this.#isSet;
  }

  /** Paths of hosts files that may contain names of the tunneler. */
  get hostsFiles(): readonly string[] {
    return this.#hostsFiles;
  }

  /** Call before a change: the router may be killed directly afterwards. */
  set(hostsFile?: string): void {
    const isKnown = hostsFile === undefined || this.#hostsFiles.includes(hostsFile);
    if (this.#isSet && isKnown) return;
    this.#isSet = true;
    if (!isKnown) this.#hostsFiles = [...this.#hostsFiles, hostsFile];
    try {
      makePrivateFolder(dirname(this.#path));
      const content = this.#hostsFiles.map((each) => `${each}\n`).join('');
      writeFileSync(this.#path, content, { mode: OWNER_ONLY, flush: true });
    } catch (error) {
      this.#log.warn(
        { path: this.#path, error: writeProblem(this.#path, error) },
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
    this.#hostsFiles = [];
    try {
      rmSync(this.#path, { force: true });
    } catch (error) {
      this.#log.warn(
        { path: this.#path, error: describeError(error) },
        'the record of changes to this machine cannot be removed',
      );
    }
  }

  /** Returns whether the file exists. */
  #load(): boolean {
    try {
      this.#hostsFiles = readFileSync(this.#path, 'utf8').split('\n').filter(Boolean);
      return true;
    } catch {
      return false; // it is missing, or belongs to another user, whose changes this one cannot revert
    }
  }
}
