// Errors without stacks, for parsers that make one for each mistake of a text: a stack takes ten times the memory of
// its error, and a text may have 300,000 mistakes.

/** Returns the result of `work`, or rethrows its error. Errors that it creates have no stack. */
export function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
