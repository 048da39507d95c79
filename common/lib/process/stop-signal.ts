// Requests to stop. One request may arrive several times: a terminal, `timeout` and systemd signal every process of a
// group, and parents forward the signal to their children. So repeats within a short time are not a second request.
//
//   first: drain and stop ─► second: stop without waiting ─► third: end at once

import { constants } from 'node:os';

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

/** Signals that wait until they are released, for example at the end of an `await using`. */
export interface HeldSignals extends AsyncDisposable {
  /** The first signal takes effect, if one has come: the process ends, unless it has other handlers. */
  release(): Promise<void>;
}

/**
 * From this call on, stop signals wait: the process does something that must not end halfway, such as the use of a
 * one-time token. It has an end of its own in a limited time. `report` receives the first signal. A further one that is
 * not a repeat ends the process at once.
 */
export function holdStopSignals(report: (signal: NodeJS.Signals) => void): HeldSignals {
  let held: NodeJS.Signals | undefined;
  let last = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (held !== undefined && now - last < ECHO) return;
    last = now;
    if (held !== undefined) {
      end();
      return;
    }
    held = signal;
    report(signal);
  };
  const end = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    if (held !== undefined && !isHandled(held)) endBy(held);
    held = undefined;
  };
  const release = async () => {
    // A signal that the system has delivered is lost if its handler is removed before the loop comes to it.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    end();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { release, [Symbol.asyncDispose]: release };
}

/**
 * Ends the process if a stop signal arrives that nothing else handles. The system does so for every process but the
 * first one, such as that of a container: it ignores signals without a handler.
 */
export function stopFirstProcess(): void {
  if (process.pid !== 1) return;
  for (const signal of SIGNALS) {
    process.removeAllListeners(signal); // that of bin/start.mjs
    process.on(signal, endUnhandled);
  }
}

function endUnhandled(signal: NodeJS.Signals): void {
  if (!isHandled(signal)) endBy(signal);
}

function isHandled(signal: NodeJS.Signals): boolean {
  return process.listeners(signal).some((listener) => listener !== endUnhandled);
}

/** Ends the process as the system would. */
function endBy(signal: NodeJS.Signals): void {
  process.stderr.write(`stopped by ${signal}\n`);
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
  process.kill(process.pid, signal);
}
