// Ends a daemon's process when its work is done, without waiting for what its libraries or the user's modules may have
// left open.

import type { Clock } from '../time/clock.ts';

/** Milliseconds for the output to reach the readers of the standard streams. */
const LAST_OUTPUT = 500;

/** Ends the process with `code` once its output is written, or after a short timeout. */
export async function endProcess(code: number, clock: Clock): Promise<never> {
  const late = Promise.withResolvers<void>();
  const timer = clock.after('last output', LAST_OUTPUT, late.resolve);
  const flushed = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  );
  await Promise.race([late.promise, Promise.all(flushed)]);
  timer.cancel();
  process.exit(code);
}
