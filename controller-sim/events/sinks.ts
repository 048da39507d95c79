// Writes events outside of the process: to a file or to standard output, one JSON object per line.

import { describeError, ProjectError } from '#lib/errors.ts';
import { writeProblem } from '#lib/files/writable.ts';
import { LineOutput } from '#lib/log/line-output.ts';
import type { Log } from '#lib/log/log.ts';
import { LogFile } from '#lib/log/log-file.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Events, Namespace } from './events.ts';

/** Limit in bytes on queued events; later ones are dropped, counted and logged. */
const MAX_QUEUE_BYTES = 16 * 1024 * 1024;
/** Milliseconds to write queued events on close. */
const LAST_EVENTS = 2_000;

export interface SinkOptions {
  /** A path, or `-` for standard output. */
  readonly file: string;
  /** All if empty. */
  readonly namespaces: readonly Namespace[];
}

export interface Sink extends AsyncDisposable {
  /** Continues in a new file after the file was renamed. On failure it logs an error and keeps the old file. */
  reopen(): void;
}

/** Writes events until it is closed. @throws ProjectError if the file is not writable */
export function openSink(events: Events, options: SinkOptions, { log, clock }: { log: Log; clock: Clock }): Sink {
  const file = options.file === '-' ? undefined : openFile(options.file, log, clock);
  const output = new LineOutput({
    sink: file ?? 'stdout',
    limit: MAX_QUEUE_BYTES,
    onDropped: (lost) =>
      log.warn(
        { lost },
        `events dropped: ${file ? 'the file could not be written in time' : 'the reader was too slow'}`,
      ),
  });
  const unsubscribe = events.subscribe((event) => output.write(`${JSON.stringify(event)}\n`), options.namespaces);
  let isClosed = false;
  return {
    reopen() {
      if (isClosed) return; // a file that is opened now would never be closed
      try {
        file?.reopen();
      } catch (error) {
        const what = 'events file cannot be opened, the old one stays in use';
        log.error({ file: options.file, error: describeError(error) }, what);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      unsubscribe();
      await output.close(clock, LAST_EVENTS);
    },
  };
}

function openFile(path: string, log: Log, clock: Clock): LogFile {
  try {
    return new LogFile(path, clock, (error) => {
      const what = 'events are dropped: the file cannot be written, and is retried every minute';
      log.error({ file: path, error: writeProblem(path, error) }, what);
    });
  } catch (error) {
    throw new ProjectError('EVENTS_FILE', `the events file ${writeProblem(path, error)}`);
  }
}
