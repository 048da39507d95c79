// Being asked to stop. One request may arrive several times: a terminal, `timeout` and systemd signal every process of a group, and each of
// those that wait for another one passes the signal on. So repeats within a moment are no second request.
//
//   first: stop in order ─► second: do not wait any more ─► third: end at once

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGQUIT'] as const;
/** Milliseconds after which another signal is no echo of the one before. */
const ECHO = 1_000;

export interface StopSignals {
  /** Resolves with the first signal that asks to stop. */
  readonly first: Promise<NodeJS.Signals>;
  /** Aborts with the second: whoever sends it does not want to wait. */
  readonly second: AbortSignal;
}

export interface StopSignalOptions {
  /** Whether a third signal ends the process at once; true when left out. */
  endsAtOnce?: boolean;
}

/** From this call on, signals do not end the process by themselves. */
export function stopSignals({ endsAtOnce = true }: StopSignalOptions = {}): StopSignals {
  const first = Promise.withResolvers<NodeJS.Signals>();
  const second = new AbortController();
  let last: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    const isEcho = last !== undefined && now - last < ECHO;
    const isFirst = last === undefined;
    if (isEcho) return;
    last = now;
    if (isFirst) first.resolve(signal);
    else if (!second.signal.aborted) second.abort();
    else if (endsAtOnce) {
      process.off(signal, onSignal);
      process.kill(process.pid, signal);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { first: first.promise, second: second.signal };
}
