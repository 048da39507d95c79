// The resolver `file:///etc/hosts`: writes the names of services to a hosts file, marking each line. A hosts file
// cannot contain wildcards (reference fact: tunnel, section 3.8).

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { errorCode } from '#lib/errors.ts';
import { tryRemoveUnfinished, writeFileAtomic } from '#lib/files/atomic-file.ts';
import { linkedFile } from '#lib/files/symbolic-links.ts';
import { readTextFile } from '#lib/files/text-file.ts';

/** Permission bits of a new hosts file: all users read it. */
const MODE = 0o644;
/**
 * The file cannot be renamed, or its folder not written: containers mount a single file, also on a read-only system.
 */
const NOT_REPLACEABLE = new Set(['EBUSY', 'EXDEV', 'EROFS', 'EACCES', 'EPERM']);
const MARK = '# edgeweave';
/** Lists of blocked names have some MiB. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export class HostsFile {
  readonly #path: string;
  readonly #mark: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, routerId: string) {
    this.#path = path;
    this.#mark = `${MARK} ${routerId}`;
  }

  /** Replaces the lines of this router, including those of an earlier process. Rejects with the system's error. */
  write(addresses: ReadonlyMap<string, string>): Promise<void> {
    const before = this.#writing.catch(() => undefined);
    this.#writing = before.then(() => this.#write(addresses));
    return this.#writing;
  }

  async #write(addresses: ReadonlyMap<string, string>): Promise<void> {
    tryRemoveUnfinished(linkedFile(this.#path));
    const text = await this.#read();
    const others = text.split('\n').filter((line) => !line.endsWith(this.#mark));
    while (others.at(-1) === '') others.pop();
    const own = [...addresses].map(([name, address]) => `${address}\t${name}\t${this.#mark}`);
    const lines = [...others, ...own];
    const next = lines.length === 0 ? '' : `${lines.join('\n')}\n`;
    if (next !== text) await replace(linkedFile(this.#path), next);
  }

  async #read(): Promise<string> {
    try {
      return await readTextFile(this.#path, MAX_FILE_BYTES);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return '';
      throw error;
    }
  }
}

/** Renames a new file to `path`, or writes in place if that is impossible. */
async function replace(path: string, text: string): Promise<void> {
  try {
    await writeFileAtomic(path, text, { mode: MODE, keepsOwner: true });
  } catch (error) {
    if (!NOT_REPLACEABLE.has(errorCode(error) ?? '')) throw error;
    await overwrite(path, text);
  }
}

/** Shortens the file last: if the write fails, the lines of others, which come first, are still there. */
async function overwrite(path: string, text: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT, MODE);
  try {
    await file.writeFile(text);
    await file.truncate(Buffer.byteLength(text));
    await file.sync();
  } finally {
    await file.close();
  }
}
