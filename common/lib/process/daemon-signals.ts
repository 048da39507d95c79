// Signals that do not stop a daemon. SIGHUP asks it to reload its files, and arrives when a terminal closes. SIGQUIT
// asks for a report of its activity. Without a handler, SIGUSR1 would open Node's debugger and SIGUSR2 would end the
// process.

import { type Subscription, subscription } from '../subscription.ts';

const SURVIVED = ['SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** From this call on, these signals do not end the process. */
export function surviveSignals(): void {
  for (const signal of SURVIVED) process.on(signal, () => undefined);
}

/** Calls `listener` for each such signal from now on, until the subscription ends. */
export function onSignal(signal: 'SIGHUP' | 'SIGQUIT', listener: () => void): Subscription {
  process.on(signal, listener);
  return subscription(() => process.off(signal, listener));
}
