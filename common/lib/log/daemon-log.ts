// The log of a long-running program. Repeated lines are summarized; a stalled reader loses lines, but does not delay
// the program.

import { describeError, ProjectError } from '../errors.ts';
import { isSameFile } from '../files/symbolic-links.ts';
import { writeObstacle, writeProblem } from '../files/writable.ts';
import { inOneLine } from '../text/shown-text.ts';
import type { Clock } from '../time/clock.ts';
import { isReadByJournal } from './journal.ts';
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
  /** Replaces the output in tests. */
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
  readonly #isText: boolean;
  /** Has no level and no limit on repetitions. */
  readonly #reports: Log;

  /** @throws ProjectError with the reason if the file cannot be opened */
  constructor({ level, format, clock, file, sink }: DaemonLogOptions) {
    this.#clock = clock;
    this.#file = file === undefined ? undefined : openFile(file, clock);
    this.#output = new LineOutput({
      sink: sink ?? this.#file ?? 'stderr',
      onDropped: (lines) => this.log.warn({ lines }, 'log lines dropped, the reader was too slow'),
    });
    this.#repeats = new LogRepeats({
      clock,
      summarise: (phrase, suppressed, seconds) =>
        this.log.warn({ phrase, suppressed, seconds }, 'repeated log lines suppressed'),
    });
    this.levels = new LogLevels(level);
    const common = {
      format,
      hasPriorities: !sink && !this.#file && isReadByJournal(process.stderr.fd),
      write: (line: string) => this.#output.write(line),
    };
    this.log = createLog({ ...common, levels: this.levels, admit: (phrase) => this.#repeats.admit(phrase) });
    this.#reports = createLog(common);
    this.#isText = format === 'text';
  }

  /** Continues in a new file after the log file was renamed. On failure it logs an error and keeps the old file. */
  reopen(): void {
    try {
      this.#file?.reopen();
    } catch (error) {
      this.log.error({ error: describeError(error) }, 'log file cannot be opened, the old one stays in use');
    }
  }

  /** Writes a report that an operator requested, at any log level: as readable lines, or in one line of JSON. */
  report(title: string, lines: readonly string[]): void {
    const all = [`=== ${title} ===`, ...lines, `=== end of ${title} ===`];
    if (this.#isText) this.#output.write(all.map((line) => `${inOneLine(line)}\n`).join(''));
    else this.#reports.info({ report: lines }, title);
  }

  /** Writes the remaining lines within a bounded time; afterwards the log does not keep the process alive. */
  async close(): Promise<void> {
    this.#repeats.summarise();
    await this.#output.close(this.#clock, LAST_LINES);
  }
}

/**
 * Why a log cannot be written to this file: it is one of the program's other files, which a log would destroy.
 *
 * @param others What each of them is, for example `the file of identity.key`, and its path.
 */
export function logFileProblem(
  logFile: string | undefined,
  others: Iterable<readonly [what: string, path: string]>,
): string | undefined {
  if (logFile === undefined) return undefined;
  for (const [what, path] of others)
    if (isSameFile(path, logFile))
      return `the log needs a file of its own: ${logFile} is also ${what}; choose another one with --log-file`;
  return undefined;
}

function openFile(path: string, clock: Clock): LogFile {
  try {
    return new LogFile(path, clock, (error) => {
      process.stderr.write(`the log file ${writeProblem(path, error)}\n`);
    });
  } catch (error) {
    throw new ProjectError('LOG_FILE', writeObstacle(path) ?? writeProblem(path, error));
  }
}
