// Texts that operators name: tokens, certificates, keys, seeds. A name may lead to a device without an end, or to a
// disk image: reading stops at a limit. Pipes are read too, as the shell's `<(…)` passes them.

import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { ProjectError } from '../errors.ts';

/** More than any bundle of authorities: that of a system has 200 KiB. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const CHUNK = 64 * 1024;

/**
 * `maxBytes`: for texts that may be longer than those above. @throws ProjectError beyond the limit, and the system's
 * error
 */
export function readTextFileSync(path: string, maxBytes = MAX_TEXT_BYTES): string {
  const file = openSync(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const count = readSync(file, chunk, 0, CHUNK, null);
      if (count === 0) return Buffer.concat(chunks).toString('utf8');
      length += count;
      mustFit(length, maxBytes);
      chunks.push(chunk.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}

/** Rejects with ProjectError beyond the limit, and with the system's error. */
export function readTextFile(path: string): Promise<string> {
  return readText(createReadStream(path));
}

/** Reads a stream to its end. Rejects with ProjectError beyond the limit, and with the error of the stream. */
export async function readText(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    mustFit(length, MAX_TEXT_BYTES);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function mustFit(length: number, max: number): void {
  if (length > max) throw new ProjectError('FILE_TOO_LARGE', `it has more than ${max / 1024 / 1024} MiB`);
}
