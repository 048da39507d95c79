// Files that operators name: tokens, certificates, keys, seeds, states. A name may lead to a device without an end, or
// to a disk image: reading stops at a limit. Pipes are read too, as the shell's `<(…)` passes them, for a limited time:
// an ordinary open waits for a writer, which may never come, and nothing ends that wait.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, ProjectError } from '../errors.ts';

/** More than any bundle of authorities: that of a system has 200 KiB. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const CHUNK = 64 * 1024;
/** Milliseconds until the writer of a pipe must have written everything. A person may type a password meanwhile. */
const PIPE_TIMEOUT = 30_000;
/** The time for files that the program itself writes: they are not pipes. */
export const NO_PIPE = 0;
/** Milliseconds between two looks at a pipe. */
const POLL = 10;
/** Without O_NONBLOCK (unknown on Windows), opening a pipe waits for its writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The bytes of a file so far. */
class Content {
  readonly #chunks: Buffer[] = [];
  readonly #maxBytes: number;
  readonly #deadline: number;
  readonly #timeout: number;
  readonly #isPipe: boolean;
  #length = 0;

  constructor(stats: Stats, maxBytes: number, timeout: number) {
    this.#maxBytes = maxBytes;
    this.#isPipe = stats.isFIFO();
    this.#timeout = timeout;
    this.#deadline = performance.now() + timeout;
  }

  /** @throws ProjectError beyond the limit */
  add(chunk: Buffer, count: number): void {
    this.#length += count;
    mustFit(this.#length, this.#maxBytes);
    this.#chunks.push(chunk.subarray(0, count));
  }

  /** Nothing was read. Returns whether that is the end; a pipe without a writer may get one. @throws ProjectError */
  isOver(): boolean {
    if (!this.#isPipe || this.#length > 0) return true;
    this.wait();
    return false;
  }

  /** Nothing is there yet. @throws ProjectError if the time is over */
  wait(): void {
    if (performance.now() < this.#deadline) return;
    throw new ProjectError('PIPE_TIMEOUT', `its writer did not end within ${this.#timeout / 1_000} s`);
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

/**
 * `maxBytes`: for texts that may be longer than those above. @throws ProjectError beyond a limit, and the system's
 * error
 */
export function readTextFileSync(path: string, maxBytes = MAX_TEXT_BYTES, timeout = PIPE_TIMEOUT): string {
  const file = openToRead(path);
  try {
    const content = new Content(fstatSync(file), maxBytes, timeout);
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const count = unlessLater(content, () => readSync(file, chunk, 0, CHUNK, null));
      if (count) content.add(chunk, count);
      else if (count === 0 && content.isOver()) return content.toBuffer().toString('utf8');
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL);
    }
  } finally {
    closeSync(file);
  }
}

/** Rejects with ProjectError beyond a limit, and with the system's error. */
export async function readTextFile(path: string, maxBytes?: number, timeout?: number): Promise<string> {
  return (await readFileBytes(path, maxBytes, timeout)).toString('utf8');
}

/** As readTextFile. */
export async function readFileBytes(path: string, maxBytes = MAX_TEXT_BYTES, timeout = PIPE_TIMEOUT): Promise<Buffer> {
  await using file = await open(path, FLAGS);
  const content = new Content(await file.stat(), maxBytes, timeout);
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const { bytesRead: count } = await file
      .read(chunk, 0, CHUNK, null)
      .catch((error: unknown) => later(content, error));
    if (count) content.add(chunk, count);
    else if (count === 0 && content.isOver()) return content.toBuffer();
    else await sleep(POLL);
  }
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

/** Opens a file without a wait for the writer of a pipe. */
export function openToRead(path: string): number {
  return openSync(path, FLAGS);
}

/** Undefined if the bytes of a pipe are not there yet. */
function unlessLater(content: Content, read: () => number): number | undefined {
  try {
    return read();
  } catch (error) {
    return later(content, error).bytesRead;
  }
}

function later(content: Content, error: unknown): { readonly bytesRead?: undefined } {
  if (errorCode(error) !== 'EAGAIN') throw error;
  content.wait();
  return {};
}

function mustFit(length: number, max: number): void {
  if (length > max) throw new ProjectError('FILE_TOO_LARGE', `it has more than ${max / 1024 / 1024} MiB`);
}
