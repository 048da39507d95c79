// Creates and counts the ends of circuits on this router. A closed end is removed from the forwarder and reported as a
// fault to the controller that owns the circuit (reference fact: link, section 2.3).

import type { Log } from '#lib/log/log.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import { HolderBudgets } from '#lib/queue/holder-budgets.ts';
import { onAbort } from '#lib/time/abort.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FaultSubject } from '#wire/gen/control_pb.js';
import type { CircuitEnd } from '../forwarder/destination.ts';
import type { Faulter } from '../forwarder/faulter.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { UsageTags } from '../metrics/usage.ts';
import { registryXgressMetrics } from './registry-metrics.ts';
import { XgressTicker } from './ticker.ts';
import type { Transferred } from './transferred.ts';
import { Xgress } from './xgress.ts';
import type { XgressClient } from './xgress-client.ts';
import type { OwnRight, XgressInit } from './xgress-components.ts';
import type { CircuitRole, XgressMetrics } from './xgress-metrics.ts';

export interface CircuitEndsComponents {
  clock: Clock;
  /** Memory for payloads. */
  buffers: BufferPool;
  log: Log;
  forwarder: Forwarder;
  metrics: MetricsRegistry;
  faulter: Pick<Faulter, 'reportEnd'>;
  onUnroutable(circuitId: string): void;
}

/** An end whose client does its own flow control. */
export interface RelayEnd extends CircuitEnd {
  readonly role: CircuitRole;
  readonly transferred: Transferred;
}

export class CircuitEnds {
  /** Counters shared by all ends. */
  readonly metrics: XgressMetrics;
  readonly #components: CircuitEndsComponents;
  readonly #ticker: XgressTicker;
  readonly #budget = new BufferBudget();
  readonly #holders = new HolderBudgets(this.#budget);
  readonly #open = new Set<Xgress>();
  /** Ends whose clients do their own flow control. */
  readonly #relays = new Set<RelayEnd>();
  readonly #whenEmpty = new Set<() => void>();

  constructor(components: CircuitEndsComponents) {
    this.#components = components;
    this.#ticker = new XgressTicker(components.clock);
    this.metrics = registryXgressMetrics(components.metrics, () => this.#open);
    components.metrics.gauge('xgress.buffered_bytes', () => this.bufferedBytes);
    components.metrics.usage.addSource(() => {
      for (const end of this.#open) this.#reportUsage(end, end.usageTags);
      for (const relay of this.#relays) this.#reportUsage(relay, this.#tagsOf(relay));
    });
  }

  /** Number of open ends. */
  get count(): number {
    return this.#open.size + this.#relays.size;
  }

  /** Bytes held for clients that read slowly and for peers that have not acknowledged them. */
  get bufferedBytes(): number {
    return this.#budget.used;
  }

  /** The bytes in both directions of each circuit whose client is at this router, since it opened. */
  carried(): Map<string, number> {
    const bytes = new Map<string, number>();
    for (const ends of [this.#open, this.#relays])
      for (const { circuitId, role, transferred } of ends)
        if (role === 'initiator') bytes.set(circuitId, transferred.total);
    return bytes;
  }

  /**
   * Creates an end and registers it at the forwarder. `owner` is the id of the circuit's controller. Start the end when
   * the client is ready. It is cut at once if the circuit was removed in the meantime.
   */
  open(init: XgressInit, client: XgressClient, owner: string): Xgress {
    const { clock, buffers, forwarder, onUnroutable } = this.#components;
    const held = client.holder === undefined ? undefined : this.#holders.use(client.holder);
    const xgress = new Xgress(
      {
        clock,
        buffers,
        forwarder,
        ticker: this.#ticker,
        budget: held?.budget ?? this.#budget,
        metrics: this.metrics,
        client,
        onUnroutable,
        onClosed: () => {
          held?.release();
          this.#onClosed(xgress, owner);
        },
      },
      init,
    );
    const circuit = forwarder.circuits.get(init.circuitId);
    xgress.usageTags = circuit?.tags ?? {};
    this.#open.add(xgress);
    forwarder.registerEnd(xgress);
    if (!circuit) xgress.abort();
    return xgress;
  }

  /** Registers an end whose client does its own flow control, until the returned function is called. */
  openRelay(relay: RelayEnd): () => void {
    this.#relays.add(relay);
    this.#components.forwarder.registerEnd(relay);
    const tags = this.#tagsOf(relay);
    return () => {
      if (!this.#relays.delete(relay)) return;
      this.#reportUsage(relay, tags);
      this.#components.forwarder.unregisterEnd(relay);
      this.#checkEmpty();
    };
  }

  /**
   * A later attempt of the controller creates another terminating end of the circuit: earlier ones, which nobody
   * starts, end without the circuit.
   */
  endEarlier(circuitId: string): void {
    const { forwarder } = this.#components;
    for (const end of forwarder.endsOf(circuitId)) {
      if (end.role !== 'terminator') continue;
      forwarder.unregisterEnd(end);
      end.unrouted();
    }
  }

  /**
   * This router cannot create the end of a circuit: removes the circuit here, and reports a fault so that its
   * controller removes it everywhere.
   */
  abandon(circuitId: string, role: CircuitRole, owner: string): void {
    this.#components.forwarder.remove(circuitId);
    this.#reportEnd(circuitId, role, owner);
  }

  /**
   * Resolves with true when all ends are closed, or with false after `milliseconds`. Rejects with the signal's reason.
   */
  whenEmpty(milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    if (this.count === 0) return Promise.resolve(true);
    if (milliseconds <= 0) return Promise.resolve(false);
    return new Promise<boolean>((resolve, reject) => {
      const settle = (act: () => void) => {
        timer.cancel();
        this.#whenEmpty.delete(onEmpty);
        ended();
        act();
      };
      const onEmpty = () => settle(() => resolve(true));
      const timer = this.#components.clock.after('drain circuits', milliseconds, () => settle(() => resolve(false)));
      this.#whenEmpty.add(onEmpty);
      const ended = onAbort(signal, (reason) => settle(() => reject(reason)));
    });
  }

  /** Cuts the ends whose right is lost. */
  cutWithout(isLost: (right: OwnRight) => boolean): void {
    for (const xgress of [...this.#open]) if (xgress.right && isLost(xgress.right)) xgress.abort();
  }

  /** Cuts all open ends. */
  cut(): void {
    for (const xgress of [...this.#open]) xgress.abort();
    for (const relay of [...this.#relays]) relay.unrouted();
  }

  #onClosed(xgress: Xgress, owner: string): void {
    this.#open.delete(xgress);
    this.#reportUsage(xgress, xgress.usageTags);
    const { forwarder, log } = this.#components;
    log.debug({ circuitId: xgress.circuitId, role: xgress.role }, 'circuit end closed');
    const isOfCircuit = forwarder.destination(xgress.address) === xgress; // else it was removed, or has a successor
    if (isOfCircuit) {
      const circuit = forwarder.circuits.get(xgress.circuitId);
      forwarder.unregisterEnd(xgress);
      forwarder.remove(xgress.circuitId);
      if (circuit) this.#reportEnd(xgress.circuitId, xgress.role, circuit.owner || owner);
    }
    this.#checkEmpty();
  }

  #checkEmpty(): void {
    if (this.count > 0) return;
    for (const onEmpty of [...this.#whenEmpty]) onEmpty();
  }

  /**
   * Reports the bytes of an end since the last report: `ingress.rx` from the dialing client, `egress.tx` to the host.
   */
  #reportUsage({ circuitId, role, transferred }: Xgress | RelayEnd, tags: UsageTags): void {
    const side = role === 'initiator' ? 'ingress' : 'egress';
    this.#components.metrics.usage.add(circuitId, side, transferred.takeUnreported(), tags);
  }

  #tagsOf({ circuitId }: RelayEnd): UsageTags {
    return this.#components.forwarder.circuits.get(circuitId)?.tags ?? {};
  }

  #reportEnd(circuitId: string, role: CircuitRole, owner: string): void {
    const subject = role === 'initiator' ? FaultSubject.INGRESS_FAULT : FaultSubject.EGRESS_FAULT;
    this.#components.faulter.reportEnd(circuitId, subject, owner);
  }
}
