// Loaded first in each process of a test run: ends it when the runner has ended, for example by `kill -9`. The programs
// that a test has started end for the same reason (EDGEWEAVE_EXIT_WITH_PARENT).

/** Milliseconds between two looks at the runner. */
const INTERVAL = 500;

const runner = process.ppid;
setInterval(() => {
  if (process.ppid !== runner) process.exit(1);
}, INTERVAL).unref();
