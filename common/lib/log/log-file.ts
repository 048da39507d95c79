// A log, of lines or events, in a file that others may rename: `reopen` continues in a new file, so that logrotate
// needs no copy. Lines for an unwritable file are dropped and counted, and the file is retried.

import { type AppendStream, openAppendStream } from '../files/append-stream.ts';
import type { Clock, Timer } from '../time/clock.ts';
import type { LineSink } from './line-output.ts';

/** Milliseconds until a failed file is retried: the disk may have space again. */
const RETRY_INTERVAL = 60_000;

export class LogFile implements LineSink {
  readonly destroyed = false;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #report: (error: Error) => void;
  readonly #onDrain: (() => void)[] = [];
  #stream: AppendStream['stream'] | undefined;
  /** The renamed file, while its last lines are still being written. */
  #ending: AppendStream['stream'] | undefined;
  #retry: Timer | undefined;

  /**
   * Appends. @throws the system's error if the file cannot be opened. `report` receives the error if it cannot be
   * written later.
   */
  constructor(path: string, clock: Clock, report: (error: Error) => void) {
    this.#path = path;
    this.#clock = clock;
    this.#report = report;
    this.#stream = this.#open();
  }

  /** Without a file no line fits. */
  get writableLength(): number {
    return this.#stream?.writableLength ?? Number.POSITIVE_INFINITY;
  }

  write(text: string, written?: () => void): boolean {
    if (this.#stream) return this.#stream.write(text, () => written && this.#afterRenamed(written));
    written?.(); // nothing waits for the disk
    return false;
  }

  on(event: 'drain' | 'error', listener: () => void): void {
    if (event === 'drain') this.#onDrain.push(listener);
  }

  /**
   * Reopens the path, because the file may have been renamed. @throws the system's error; the old file then stays in
   * use.
   */
  reopen(): void {
    const before = this.#stream;
    this.#stream = this.#open();
    this.#retry?.cancel();
    if (before) this.#end(before);
    this.#drained();
  }

  /** Discards lines that are not written yet. */
  destroy(): void {
    this.#retry?.cancel();
    this.#stream?.destroy();
    this.#stream = undefined;
    this.#ending?.destroy();
  }

  /** A file that still waits since the last time, for example a pipe without a reader, loses its lines. */
  #end(stream: AppendStream['stream']): void {
    this.#ending?.destroy();
    this.#ending = stream;
    stream.once('close', () => {
      if (this.#ending === stream) this.#ending = undefined;
    });
    stream.end();
  }

  /** Calls `written` once the renamed file has its lines, which are earlier than those of the current file. */
  #afterRenamed(written: () => void): void {
    if (this.#ending) this.#ending.once('close', () => this.#afterRenamed(written));
    else written();
  }

  #open(): AppendStream['stream'] {
    const { stream } = openAppendStream(this.#path);
    stream.on('drain', () => this.#drained());
    stream.on('error', (error) => this.#stream === stream && this.#onError(error));
    return stream;
  }

  #onError(error: Error): void {
    this.#stream = undefined;
    this.#report(error);
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
