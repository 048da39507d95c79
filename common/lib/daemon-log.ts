// The log of a program that runs for long: repeats are summarised, and a reader that stops reading costs lines, not the
// program's work.

import type { Clock } from './clock.ts';
import { describeError } from './errors.ts';
import { LineOutput, type LineSink } from './line-output.ts';
import { createLog, type Log, type LogLevel } from './log.ts';
import { LogFile } from './log-file.ts';
import { LogLevels } from './log-levels.ts';
import { LogRepeats } from './log-repeats.ts';

export interface DaemonLogOptions {
  level: LogLevel;
  format: 'json' | 'text';
  clock: Clock;
  /** A file instead of standard error. */
  file?: string | undefined;
  /** Where lines go instead, in tests. */
  sink?: LineSink;
}

/** Milliseconds that the reader gets for the last lines. */
const LAST_LINES = 500;

export class DaemonLog {
  readonly log: Log;
  readonly levels: LogLevels;
  readonly #output: LineOutput;
  readonly #repeats: LogRepeats;
  readonly #clock: Clock;
  readonly #file: LogFile | undefined;

  /** Throws the system's error when the file cannot be opened. */
  constructor({ level, format, clock, file, sink }: DaemonLogOptions) {
    this.#clock = clock;
    this.#file = file === undefined ? undefined : new LogFile(file, clock, complain);
    this.#output = new LineOutput({
      sink: sink ?? this.#file ?? 'stderr',
      onDropped: (lines) => this.log.warn({ lines }, 'log lines dropped: nobody read them'),
    });
    this.#repeats = new LogRepeats({
      clock,
      summarise: (phrase, suppressed, seconds) =>
        this.log.warn({ phrase, suppressed, seconds }, 'log lines suppressed: they repeat'),
    });
    this.levels = new LogLevels(level);
    this.log = createLog({
      levels: this.levels,
      format,
      write: (line) => this.#output.write(line),
      admit: (phrase) => this.#repeats.admit(phrase),
    });
  }

  /** Goes on in a new file when the log file was renamed. When that fails, it logs an error, and lines go where they went. */
  reopen(): void {
    try {
      this.#file?.reopen();
    } catch (error) {
      this.log.error({ error: describeError(error) }, 'log file cannot be opened: the old one stays');
    }
  }

  /** Writes what is left, for a bounded time; then nothing of the log keeps the process alive. */
  async close(): Promise<void> {
    this.#repeats.summarise();
    await this.#output.close(this.#clock, LAST_LINES);
  }
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}
