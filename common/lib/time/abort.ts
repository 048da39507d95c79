// Waits that a signal ends. They leave no listener on the signal, which may live as long as the process.

import { asError } from '../errors.ts';
import { type Subscription, subscription } from '../subscription.ts';

/**
 * Calls `listener` once with the reason when the signal aborts, or after the current task if it has aborted already,
 * unless the subscription ends before.
 */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: Error) => void): Subscription {
  let isOver = false;
  const call = () => {
    if (!isOver) listener(asError(signal?.reason));
  };
  if (signal?.aborted) queueMicrotask(call);
  else signal?.addEventListener('abort', call, { once: true });
  return subscription(() => {
    isOver = true;
    signal?.removeEventListener('abort', call);
  });
}

/** Settles as `work` does, or rejects with the reason of the signal. The work goes on; its later result is ignored. */
export function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = onAbort(signal, reject);
    work.then(resolve, reject).finally(ended);
  });
}
