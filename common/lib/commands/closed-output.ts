// Output to a reader that stops early, as in `… | head`.

import { errorCode } from '../errors.ts';

/** Ignores EPIPE on stdout and stderr from this call on: a reader that closes the pipe has read enough. */
export function tolerateClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (errorCode(error) !== 'EPIPE') throw error;
    });
}
