// The end of a daemon's process. Node by itself waits for requests of its handles after the event loop is empty; a socket
// that was cut in the middle of a write can leave one that never completes, and Node then spins for ever (seen with
// Node 26: Environment::CleanupHandles). So a daemon whose work is done ends itself.

import type { Clock } from './clock.ts';

/** Milliseconds for what was written to the standard streams to reach its reader. */
const LAST_OUTPUT = 500;

/** Ends the process with `code` when its output has left, at the latest after a moment. */
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
