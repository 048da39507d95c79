// Signals that do not stop a daemon. SIGHUP asks it to reload its files, and arrives when a terminal closes. SIGQUIT asks
// for a report of its activity. Without a handler, SIGUSR1 would open Node's debugger and SIGUSR2 would end the process.

const IGNORED = ['SIGUSR1', 'SIGUSR2'] as const;

export interface DaemonSignals {
  /** Called for each SIGHUP from now on; earlier signals need no reload. */
  onHangup: (() => void) | undefined;
  /** Called for each SIGQUIT from now on. */
  onQuit: (() => void) | undefined;
}

/** From this call on, these signals do not end the process. */
export function daemonSignals(): DaemonSignals {
  const signals: DaemonSignals = { onHangup: undefined, onQuit: undefined };
  process.on('SIGHUP', () => signals.onHangup?.());
  process.on('SIGQUIT', () => signals.onQuit?.());
  for (const signal of IGNORED) process.on(signal, () => undefined);
  return signals;
}
