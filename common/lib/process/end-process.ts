// Ends a daemon's process. After the event loop is empty, Node waits for requests of its handles. A socket that was
// closed during a write can leave a request that never completes, and Node then spins forever (seen with Node 26:
// Environment::CleanupHandles). So a daemon ends itself when its work is done.

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
