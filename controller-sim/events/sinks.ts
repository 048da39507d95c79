// Where events go outside of the process: a file or the standard output, one JSON object in a line.

import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import type { Clock } from '#lib/clock.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import { LineOutput } from '#lib/line-output.ts';
import type { Log } from '#lib/log.ts';
import type { Events, Namespace } from './events.ts';

/** Bytes that may wait; events that come while more do are counted and lost, and the log says so. */
const LONGEST_QUEUE = 16 * 1024 * 1024;
/** Milliseconds for what waits when the sink is closed. */
const LAST_EVENTS = 2_000;

export interface SinkOptions {
  /** A path; `-` for the standard output. */
  readonly file: string;
  /** All when empty. */
  readonly namespaces: readonly Namespace[];
}

/** Writes events until it is closed. Rejects when the file cannot be written. */
export async function openSink(
  events: Events,
  options: SinkOptions,
  { log, clock }: { log: Log; clock: Clock },
): Promise<AsyncDisposable> {
  const output = new LineOutput({
    sink: options.file === '-' ? 'stdout' : await openFile(options.file, log),
    limit: LONGEST_QUEUE,
    onDropped: (lost) => log.warn({ lost }, 'events were lost: whoever reads them is too slow'),
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
    const why = `the events file ${file} cannot be opened: ${describeError(error)}; name one in a folder that you may write`;
    throw new ProjectError('EVENTS_FILE', why, { cause: error });
  }
  stream.on('error', (error) => log.error({ error: describeError(error) }, 'events cannot be written'));
  return stream;
}
