// Writes events outside of the process: to a file or to standard output, one JSON object per line.

import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import type { Clock } from '#lib/clock.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import { LineOutput } from '#lib/line-output.ts';
import type { Log } from '#lib/log.ts';
import type { Events, Namespace } from './events.ts';

/** Limit in bytes on queued events; later ones are dropped, counted and logged. */
const LONGEST_QUEUE = 16 * 1024 * 1024;
/** Milliseconds to write queued events on close. */
const LAST_EVENTS = 2_000;

export interface SinkOptions {
  /** A path, or `-` for standard output. */
  readonly file: string;
  /** All if empty. */
  readonly namespaces: readonly Namespace[];
}

/** Writes events until it is closed. Rejects if the file is not writable. */
export async function openSink(
  events: Events,
  options: SinkOptions,
  { log, clock }: { log: Log; clock: Clock },
): Promise<AsyncDisposable> {
  const output = new LineOutput({
    sink: options.file === '-' ? 'stdout' : await openFile(options.file, log),
    limit: LONGEST_QUEUE,
    onDropped: (lost) => log.warn({ lost }, 'events dropped: the reader is too slow'),
  });
  const unsubscribe = events.subscribe((event) => output.write(`${JSON.stringify(event)}\n`), options.namespaces);
  return {
    async [Symbol.asyncDispose]() {
      unsubscribe();
      await output.close(clock, LAST_EVENTS);
    },
  };
}

async function openFile(file: string, log: Log): Promise<WriteStream> {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  try {
    await once(stream, 'open');
  } catch (error) {
    const why = `the events file ${file} cannot be opened: ${describeError(error)}; name one in a writable folder`;
    throw new ProjectError('EVENTS_FILE', why, { cause: error });
  }
  stream.on('error', (error) => {
    const what = 'no further events are written to the file: repair it and restart the simulator';
    log.error({ file, error: describeError(error) }, what);
  });
  return stream;
}
