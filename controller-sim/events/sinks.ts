// Where events go outside of the process: a file or the standard output, one JSON object in a line.

import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { Events, Namespace } from './events.ts';

/** Bytes that may wait; events that come while more do are counted and lost, and the log says so. */
const LONGEST_QUEUE = 16 * 1024 * 1024;

export interface SinkOptions {
  /** A path; `-` for the standard output. */
  readonly file: string;
  /** All when empty. */
  readonly namespaces: readonly Namespace[];
}

/** Writes events until it is closed. Rejects when the file cannot be written. */
export async function openSink(events: Events, options: SinkOptions, log: Log): Promise<AsyncDisposable> {
  const isOutput = options.file === '-';
  const stream: WriteStream | NodeJS.WriteStream = isOutput
    ? process.stdout
    : createWriteStream(options.file, { flags: 'a', mode: 0o600 });
  if (!isOutput) await once(stream, 'open');
  let lost = 0;
  stream.on('error', (error) => log.error({ error: describeError(error) }, 'events cannot be written'));
  const unsubscribe = events.subscribe((event) => {
    if (stream.writableLength > LONGEST_QUEUE) {
      lost += 1;
      return;
    }
    if (lost > 0) log.warn({ lost }, 'events were lost: whoever reads them is too slow');
    lost = 0;
    stream.write(`${JSON.stringify(event)}\n`);
  }, options.namespaces);
  return {
    async [Symbol.asyncDispose]() {
      unsubscribe();
      if (!isOutput) await new Promise<void>((resolve) => stream.end(resolve));
    },
  };
}
