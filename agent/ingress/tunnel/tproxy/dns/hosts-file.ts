// The resolver `file:///etc/hosts`: writes the names of services to a hosts file, marking each line. A hosts file
// cannot contain wildcards (reference fact: tunnel, section 3.8).

import { readFile, writeFile } from 'node:fs/promises';
import { errorCode } from '#lib/errors.ts';

const MARK = '# edgeweave';

export class HostsFile {
  readonly #path: string;
  readonly #mark: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, routerId: string) {
    this.#path = path;
    this.#mark = `${MARK} ${routerId}`;
  }

  /**
   * Replaces the lines of this router, including those of an earlier process. Rejects with the system's error. Writes
   * the file in place, because containers do not allow renaming it.
   */
  write(addresses: ReadonlyMap<string, string>): Promise<void> {
    const before = this.#writing.catch(() => undefined);
    this.#writing = before.then(() => this.#write(addresses));
    return this.#writing;
  }

  async #write(addresses: ReadonlyMap<string, string>): Promise<void> {
    const text = await this.#read();
    const others = text.split('\n').filter((line) => !line.endsWith(this.#mark));
    while (others.at(-1) === '') others.pop();
    const own = [...addresses].map(([name, address]) => `${address}\t${name}\t${this.#mark}`);
    const lines = [...others, ...own];
    const next = lines.length === 0 ? '' : `${lines.join('\n')}\n`;
    if (next !== text) await writeFile(this.#path, next);
  }

  async #read(): Promise<string> {
    try {
      return await readFile(this.#path, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return '';
      throw error;
    }
  }
}
