// Finds circuits whose other end is gone. A disconnected controller may have removed circuits without this router's
// knowledge; a restarted controller knows none of the working circuits, so this router must not ask about those. A
// trace route through the circuit distinguishes the two cases: only the end of a live circuit answers it. Circuits that
// only pass through this router have no end here to ask from; the idle scan handles them.

import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Circuit } from './circuit-table.ts';
import type { CircuitEnd } from './destination.ts';
import type { Forwarder } from './forwarder.ts';
import { traceRouteQuestion } from './trace-route.ts';

export interface LivenessCheckComponents {
  clock: Clock;
  forwarder: Forwarder;
}

/** Milliseconds within which the other end must answer. */
const ANSWER_TIMEOUT = 5_000;
/** Requests in one batch: more could displace traffic from the link queues. */
const MAX_CONCURRENT = 200;
/** Milliseconds between such batches. */
const BATCH_INTERVAL = 50;

export class LivenessCheck {
  readonly #components: LivenessCheckComponents;
  readonly #onSilent: (circuits: readonly Circuit[]) => void;
  /** One timer per owner: a new check replaces the previous one. */
  readonly #timers = new Map<string, Timer>();

  /** `onSilent` is called once for each check that found silent circuits. */
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
    const batch = circuits.slice(asked, asked + MAX_CONCURRENT);
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

  /** Skips circuits that the controller has routed since the check began: it knows them. */
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
