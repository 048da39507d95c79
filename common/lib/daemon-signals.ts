// Signals that do not stop a daemon. SIGHUP is a request to read its files again, and what a terminal sends when it is closed; SIGUSR1 would
// open Node's debugger, and SIGUSR2 would end the process.

const IGNORED = ['SIGUSR1', 'SIGUSR2'] as const;

export interface DaemonSignals {
  /** Called for each SIGHUP from now on; those before have nothing to read again. */
  onHangup: (() => void) | undefined;
}

/** From this call on, these signals do not end the process. */
export function daemonSignals(): DaemonSignals {
  const signals: DaemonSignals = { onHangup: undefined };
  process.on('SIGHUP', () => signals.onHangup?.());
  for (const signal of IGNORED) process.on(signal, () => undefined);
  return signals;
}
