// A file with the rules that an external diverter has inserted: only the program knows its rules, and deletes one by
// one. A killed router leaves them behind; the next start reads the file and calls the program, which then is trusted
// with the rights of the router, so the file must belong to the router's user.

import { readFileSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError, errorCode } from '#lib/errors.ts';
import { makePrivateFolder, removeUnfinished, writeFileAtomic } from '#lib/files/atomic-file.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Log } from '#lib/log/log.ts';

/** A rule, as the arguments that delete it. */
export interface RecordedRule {
  readonly program: string;
  readonly match: readonly string[];
}

/** Permission bits that let other users write. */
const WRITABLE_BY_OTHERS = 0o022;

export class DiversionRecord {
  readonly #path: string;
  readonly #log: Log;
  /** Rules of earlier processes that could not be deleted yet. */
  #kept: readonly RecordedRule[];

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    this.#kept = this.#load();
  }

  /** Rules of earlier processes. */
  get leftovers(): readonly RecordedRule[] {
    return this.#kept;
  }

  /** Replaces the rules of earlier processes by those that still exist. */
  async keep(rules: readonly RecordedRule[]): Promise<void> {
    this.#kept = rules;
    await this.save([]);
  }

  /** Records the rules of this process. Call it with added rules before they are inserted. */
  async save(rules: readonly RecordedRule[]): Promise<void> {
    const all = [...this.#kept, ...rules];
    try {
      if (all.length === 0) {
        rmSync(this.#path, { force: true });
        return;
      }
      makePrivateFolder(dirname(this.#path));
      await writeFileAtomic(this.#path, JSON.stringify(all));
    } catch (error) {
      this.#log.warn(
        { path: this.#path, error: describeError(error) },
        'rules of the external diverter cannot be recorded: if this router is killed, they remain',
      );
    }
  }

  #load(): readonly RecordedRule[] {
    try {
      removeUnfinished(this.#path);
      if (!isOwn(statSync(this.#path))) throw new TypeError('the file belongs to another user, or others may write it');
      const content = parseJson(readFileSync(this.#path, 'utf8'));
      if (!Array.isArray(content) || !content.every(isRule)) throw new TypeError('the file contains no list of rules');
      return content;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT')
        this.#log.warn(
          { path: this.#path, error: describeError(error) },
          'record of the external diverter cannot be used: rules of an earlier process may remain',
        );
      return [];
    }
  }
}

function isOwn({ uid, mode }: Stats): boolean {
  return uid === (process.getuid?.() ?? uid) && (mode & WRITABLE_BY_OTHERS) === 0;
}

function isRule(value: unknown): value is RecordedRule {
  const { program, match } = (value ?? {}) as Partial<Record<keyof RecordedRule, unknown>>;
  return typeof program === 'string' && Array.isArray(match) && match.every((each) => typeof each === 'string');
}
