// Runs several test files in this process, one after another. They share the loaded modules and V8's compiled code, so
// they need about half the processor time of separate processes. A comment in the report precedes the tests of each
// file.
//
// Arguments: the name of the group, from which tap derives the names of its temporary folders. Environment: TEST_FILES,
// a path per line; TAP_TIMEOUT, the seconds that may pass until the next test ends.

import { resolve } from 'node:path';
import t from 'tap';
import { FILE_MARK } from './test-runner.ts';

const MILLISECONDS = 1_000;

/** Milliseconds for what a failed test left behind, and for the last output. */
const LAST = 2_000;

const timeout = Number(process.env.TAP_TIMEOUT) * MILLISECONDS;
let isLoaded = false;
let waiting = 0;
t.on('subtestAdd', () => {
  waiting += 1;
});
t.on('subtestEnd', () => {
  waiting -= 1;
  t.setTimeout(timeout);
  endIfFailed();
});
for (const file of (process.env.TEST_FILES ?? '').split('\n')) {
  t.comment(`${FILE_MARK}${file}`);
  try {
    await import(resolve(file));
  } catch (error) {
    t.test('the file can be loaded', async () => {
      throw error;
    });
  }
}
isLoaded = true;
endIfFailed();

/**
 * A failed test can leave servers and timers, which would keep this process until its time limit and fail the last
 * file, too. If all tests passed, tap waits for what they left, and reports it at the time limit.
 */
function endIfFailed(): void {
  if (!isLoaded || waiting > 0 || t.passing()) return;
  t.once('end', () => setTimeout(() => process.exit(1), LAST));
  t.end();
}
