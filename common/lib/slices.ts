// Long work in slices, between which the event loop does other work: it would stop the whole process otherwise.

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of a slice; a step of the work may be longer. */
const SLICE_MS = 5;

export { nextTurn };

/**
 * Returns a function to call between two steps: once the slice has ended, it resolves when other work had its turn.
 * `now` returns milliseconds.
 */
export function slices(now = () => performance.now()): () => Promise<void> | undefined {
  let end = now() + SLICE_MS;
  return () => {
    if (now() < end) return undefined;
    return nextTurn().then(() => {
      end = now() + SLICE_MS;
    });
  };
}

/** Takes the steps of the work in slices, and resolves with its result. `now` returns milliseconds. */
export async function inSlices<T>(work: Iterator<unknown, T>, now?: () => number): Promise<T> {
  const pause = slices(now);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    const pausing = pause();
    if (pausing) await pausing;
  }
}

/** Takes all steps of the work at once. */
export function atOnce<T>(work: Iterator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
