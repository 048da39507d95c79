// Certificates that a controller has issued but not yet confirmed, in files beside those in use. The confirmation, or
// its answer, can be lost with a connection, the controller or this router. Then only the next hello tells which of the
// two the controller expects.

import type { KeyObject, X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { errorCode, ProjectError } from '#lib/errors.ts';
import { linkedFile } from '#lib/files/symbolic-links.ts';
import { readTextFile } from '#lib/files/text-file.ts';
import { parsePemCertificates } from '#pki/certificates.ts';
import { replaceFiles } from './file-set.ts';

export interface CertificateFile {
  /** The file in use. */
  readonly path: string;
  readonly key: KeyObject;
}

/** The file cannot be used with the key. */
export class CertificateFileError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('CERTIFICATE_FILE', message, options);
  }
}

export class PendingCertificates {
  readonly #files: readonly CertificateFile[];

  constructor(files: readonly CertificateFile[]) {
    this.#files = files;
  }

  /**
   * Writes new certificates durably, in the order of the files, and reads them back: a confirmed certificate must be
   * usable. @throws FileSetError, CertificateFileError
   */
  async write(contents: readonly string[]): Promise<void> {
    const files = this.#files.map(({ path }, index) => ({ path: pendingOf(path), content: contents[index] ?? '' }));
    await replaceFiles(files, async (written) => {
      for (const [index, { path, key }] of this.#files.entries())
        leafOf(path, await readTextFile(written[index] ?? ''), key);
    });
  }

  /** The client certificate, if all files exist and belong to the keys. Others are from an earlier enrollment. */
  async certificate(): Promise<X509Certificate | undefined> {
    try {
      const contents = await this.#read();
      const [leaf] = this.#files.map(({ path, key }, index) => leafOf(path, contents[index] ?? '', key));
      return leaf;
    } catch (error) {
      if (error instanceof CertificateFileError) await this.discard();
      else if (errorCode(error) !== 'ENOENT') throw error;
      return undefined;
    }
  }

  /**
   * Puts the pending files in use, and keeps none. Needs no space on the disk: the controller already rejects those in
   * use. @throws FileSetError
   */
  async install(): Promise<void> {
    const contents = await this.#read();
    await replaceFiles(
      this.#files.map(({ path }, index) => ({ path, content: contents[index] ?? '', source: pendingOf(path) })),
      async () => undefined,
    );
    await this.discard();
  }

  /** Puts the pending files in use, and keeps those in use as the pending ones. Needs no space. @throws FileSetError */
  async exchange(): Promise<void> {
    const pending = await this.#read();
    const used = await Promise.all(this.#files.map(({ path }) => readTextFile(path)));
    await replaceFiles(
      this.#files.flatMap(({ path }, index) => [
        { path, content: pending[index] ?? '', source: pendingOf(path) },
        { path: pendingOf(path), content: used[index] ?? '', source: linkedFile(path) },
      ]),
      async () => undefined,
    );
  }

  async discard(): Promise<void> {
    for (const { path } of this.#files) await rm(pendingOf(path), { force: true });
  }

  #read(): Promise<string[]> {
    return Promise.all(this.#files.map(({ path }) => readTextFile(pendingOf(path))));
  }
}

function pendingOf(path: string): string {
  return `${linkedFile(path)}.pending`;
}

function leafOf(path: string, pem: string, key: KeyObject): X509Certificate {
  let leaf: X509Certificate | undefined;
  try {
    [leaf] = parsePemCertificates(pem);
  } catch (error) {
    throw new CertificateFileError(`the new certificate for ${path} cannot be read`, { cause: error });
  }
  if (leaf?.checkPrivateKey(key)) return leaf;
  throw new CertificateFileError(`the new certificate for ${path} does not belong to its key`);
}
