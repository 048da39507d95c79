// Output that nobody reads to its end, as in `… | head`.

import { errorCode } from '../errors.ts';

/** From this call on, it is no error of a program when its reader has gone: who reads no more has read enough. */
export function tolerateClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (errorCode(error) !== 'EPIPE') throw error;
    });
}
