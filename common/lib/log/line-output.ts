// Writes lines to standard output or standard error without waiting for the reader. A pipe may be in blocking mode,
// which other processes with the same pipe can change; an unread pipe would then stop the event loop. Lines beyond the
// bounded buffer are dropped and counted.

import { constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { errorCode } from '../errors.ts';
import type { Clock } from '../time/clock.ts';

/** The errors of a full disk. Space may become free again. */
const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);
/** Bytes that may wait for the reader. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;

export interface LineSink {
  readonly writableLength: number;
  readonly destroyed: boolean;
  /** Calls `written` once this and all earlier text was written, or with the error. */
  write(text: string, written?: (error?: Error | null) => void): boolean;
  destroy(): unknown;
  on(event: 'drain' | 'error', listener: (error?: Error) => void): unknown;
}

export interface LineOutputOptions {
  /** A standard stream of the process, or another sink. */
  sink: 'stdout' | 'stderr' | LineSink;
  /** Bytes that may wait for the reader; 4 MiB by default. */
  limit?: number;
  /** Receives the number of dropped lines once the reader accepts lines again. */
  onDropped?: (count: number) => void;
}

export class LineOutput {
  readonly #sink: LineSink;
  readonly #limit: number;
  readonly #onDropped: (count: number) => void;
  #dropped = 0;
  #total = 0;
  #broken = false;
  /** The last line did not fit on the disk. */
  #isFull = false;
  readonly #onRetried = (error?: Error | null) => {
    if (error) return;
    this.#isFull = false;
    this.#report();
  };

  constructor(options: LineOutputOptions) {
    this.#sink = typeof options.sink === 'string' ? standardStream(options.sink) : options.sink;
    this.#limit = options.limit ?? MAX_BACKLOG_BYTES;
    this.#onDropped = options.onDropped ?? (() => undefined);
    this.#sink.on('drain', () => this.#report());
    this.#sink.on('error', (error) => {
      this.#isFull = FULL.has(errorCode(error));
      if (this.#isFull) this.#drop();
      else this.#broken = true; // the reader closed the pipe (EPIPE); the program continues without it
    });
  }

  /** Number of dropped lines. */
  get dropped(): number {
    return this.#total;
  }

  /** Bytes that wait for the reader. */
  get waiting(): number {
    return this.#sink.writableLength;
  }

  write(line: string): void {
    if (!this.#broken && !this.#sink.destroyed && this.#sink.writableLength + line.length <= this.#limit) {
      if (this.#isFull) this.#sink.write(line, this.#onRetried);
      else this.#sink.write(line);
      return;
    }
    this.#drop();
  }

  /** Waits at most `milliseconds` until all lines are written, then discards the rest. */
  async close(clock: Clock, milliseconds: number): Promise<void> {
    if (this.#broken || this.#sink.destroyed) return;
    await new Promise<void>((resolve) => {
      const timer = clock.after('output flush', milliseconds, resolve);
      this.#sink.write('', () => (timer.cancel(), resolve()));
    });
    this.#broken = true;
    this.#sink.destroy();
  }

  #drop(): void {
    this.#dropped++;
    this.#total++;
  }

  #report(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#onDropped(dropped);
  }
}

/**
 * A file or terminal keeps Node's mode; a pipe is opened a second time, so that other processes cannot change its mode.
 */
function standardStream(name: 'stdout' | 'stderr'): LineSink {
  const fd = process[name].fd;
  try {
    if (!fstatSync(fd).isFIFO()) return process[name];
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd: own, readable: false, writable: true });
  } catch {
    return process[name]; // without /proc, only Node's own stream is available
  }
}
