// A log in a file that others may rename: `reopen` goes on in a new one, so that logrotate needs no copy. A file that cannot be written costs
// lines, which are counted, and is tried again.

import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import type { Clock, Timer } from './clock.ts';
import { describeError } from './errors.ts';
import type { LineSink } from './line-output.ts';

/** Milliseconds until a file that could not be written is tried again: a full disk may be cleaned up. */
const RETRY_INTERVAL = 60_000;

export class LogFile implements LineSink {
  readonly destroyed = false;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #complain: (text: string) => void;
  readonly #onDrain: (() => void)[] = [];
  #stream: WriteStream | undefined;
  #retry: Timer | undefined;

  /** Appends. Throws the system's error when the file cannot be opened. `complain` gets a sentence when it cannot be written later. */
  constructor(path: string, clock: Clock, complain: (text: string) => void) {
    this.#path = path;
    this.#clock = clock;
    this.#complain = complain;
    this.#stream = this.#open();
  }

  /** Without a file nothing more fits. */
  get writableLength(): number {
    return this.#stream?.writableLength ?? Number.POSITIVE_INFINITY;
  }

  write(text: string, written?: () => void): boolean {
    return this.#stream?.write(text, () => written?.()) ?? false;
  }

  on(event: 'drain' | 'error', listener: () => void): void {
    if (event === 'drain') this.#onDrain.push(listener);
  }

  /** Opens the file of this name, which may be another one by now. Throws the system's error; then lines go where they went. */
  reopen(): void {
    const before = this.#stream;
    this.#stream = this.#open();
    this.#retry?.cancel();
    before?.end();
    this.#drained();
  }

  destroy(): void {
    this.#retry?.cancel();
    this.#stream?.end();
    this.#stream = undefined;
  }

  #open(): WriteStream {
    const stream = createWriteStream(this.#path, { fd: openSync(this.#path, 'a', 0o600) });
    stream.on('drain', () => this.#drained());
    stream.on('error', (error) => this.#stream === stream && this.#onError(error));
    return stream;
  }

  #onError(error: Error): void {
    this.#stream = undefined;
    this.#complain(`the log file ${this.#path} cannot be written: ${describeError(error)}`);
    this.#retry = this.#clock.after('log file', RETRY_INTERVAL, () => {
      try {
        this.reopen();
      } catch (again) {
        this.#onError(again as Error);
      }
    });
  }

  #drained(): void {
    for (const listener of this.#onDrain) listener();
  }
}
