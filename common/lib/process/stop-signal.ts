// Requests to stop. One request may arrive several times: a terminal, `timeout` and systemd signal every process of a
// group, and parents forward the signal to their children. So repeats within a short time are not a second request.
//
//   first: drain and stop ─► second: stop without waiting ─► third: end at once

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Milliseconds within which a further signal counts as a repeat. */
const ECHO = 1_000;

export interface StopSignals {
  /** Resolves with the first stop signal. */
  readonly first: Promise<NodeJS.Signals>;
  /** Aborts with the second signal: its sender does not want to wait. */
  readonly second: AbortSignal;
}

export interface StopSignalOptions {
  /** Whether a third signal ends the process at once; default true. */
  endsAtOnce?: boolean;
  /** Whether SIGQUIT is a stop signal, too; default false. */
  quits?: boolean;
}

/** From this call on, the handlers replace the default action of the signals. */
export function stopSignals({ endsAtOnce = true, quits = false }: StopSignalOptions = {}): StopSignals {
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
  for (const signal of quits ? ([...SIGNALS, 'SIGQUIT'] as const) : SIGNALS) process.on(signal, onSignal);
  return { first: first.promise, second: second.signal };
}
