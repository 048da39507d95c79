// Finds the circuits whose other end is gone. A controller that was away may have taken circuits down without this router hearing of
// it; one that was restarted knows none of the circuits that work, so they must not be asked about. A trace route through the circuit
// tells the two apart: only the end of a living circuit answers it. Circuits that only pass through this router have no end here from
// which to ask; those wait for the idle scan.

import type { Clock, Timer } from '#lib/clock.ts';
import type { Circuit } from './circuit-table.ts';
import type { CircuitEnd } from './destination.ts';
import type { Forwarder } from './forwarder.ts';
import { traceRouteQuestion } from './trace-route.ts';

export interface LivenessCheckComponents {
  clock: Clock;
  forwarder: Forwarder;
}

/** Milliseconds that the other end has to answer. */
const ANSWER_TIMEOUT = 5_000;
/** Questions that are sent at once, so that they do not displace traffic from the queues of links. */
const MOST_AT_ONCE = 200;
/** Milliseconds between such batches. */
const BATCH_INTERVAL = 50;

export class LivenessCheck {
  readonly #components: LivenessCheckComponents;
  readonly #onSilent: (circuits: readonly Circuit[]) => void;
  /** One per owner: a check that begins again replaces the one before. */
  readonly #timers = new Map<string, Timer>();

  /** `onSilent` is called once for each check that found circuits without a sign of life. */
  constructor(components: LivenessCheckComponents, onSilent: (circuits: readonly Circuit[]) => void) {
    this.#components = components;
    this.#onSilent = onSilent;
  }

  /** Checks circuits of one owner. */
  start(owner: string, circuits: readonly Circuit[]): void {
    this.#timers.get(owner)?.cancel();
    const began = this.#components.clock.monotonic();
    const waiting = circuits.filter(({ id }) => this.#components.forwarder.endsOf(id).length > 0);
    this.#ask(owner, waiting, 0, began);
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #ask(owner: string, circuits: readonly Circuit[], asked: number, began: number): void {
    const { forwarder } = this.#components;
    const batch = circuits.slice(asked, asked + MOST_AT_ONCE);
    for (const { id } of batch) {
      const [end] = forwarder.endsOf(id);
      if (end && end.lastReceived < began) forwarder.forwardControl(end.address, traceRouteQuestion(id));
    }
    const done = asked + batch.length;
    if (done < circuits.length) this.#after(owner, BATCH_INTERVAL, () => this.#ask(owner, circuits, done, began));
    else if (circuits.length > 0) this.#after(owner, ANSWER_TIMEOUT, () => this.#report(circuits, began));
  }

  #after(owner: string, milliseconds: number, task: () => void): void {
    const timer = this.#components.clock.after('liveness of circuits', milliseconds, () => {
      this.#timers.delete(owner);
      task();
    });
    this.#timers.set(owner, timer);
  }

  /** A circuit that the controller has routed since is known to it. */
  #report(circuits: readonly Circuit[], began: number): void {
    const { forwarder } = this.#components;
    const isSilent = (end: CircuitEnd) => end.lastReceived < began;
    const silent = circuits.filter(
      (circuit) =>
        forwarder.circuits.get(circuit.id) === circuit &&
        circuit.routedAt < began &&
        forwarder.endsOf(circuit.id).every(isSilent),
    );
    if (silent.length > 0) this.#onSilent(silent);
  }
}
