// Being asked to stop. One request may arrive several times: a terminal, `timeout` and systemd signal every process of a group, and each of
// those that wait for another one passes the signal on. So repeats are no second request.

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGQUIT'] as const;
/** Milliseconds after which another Ctrl-C is no echo of the first, but comes from somebody who has waited long enough. */
const ECHO = 2_000;

export interface StopSignalOptions {
  /** Whether such a later Ctrl-C ends the process at once; true when left out. */
  endsAtOnce?: boolean;
}

/** Resolves with the first signal that asks to stop. From this call on, signals do not end the process by themselves. */
export function stopSignal({ endsAtOnce = true }: StopSignalOptions = {}): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      since ??= performance.now();
      resolve(signal);
      if (!endsAtOnce || signal !== 'SIGINT' || performance.now() - since < ECHO) return;
      process.off(signal, onSignal);
      process.kill(process.pid, signal);
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
  });
}
