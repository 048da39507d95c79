// The receiving half of a circuit end: acknowledges payloads, orders them, and passes their data to the client until it
// pauses. It does not know the state of the circuit: xgress.ts decides which data the client still needs.
//
//   payloads ─► receive ─► ReceiveBuffer ─► next ─► handOver ─► client      acknowledgements ◄─ Acknowledger

import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { EndBudget } from '#lib/queue/holder-budgets.ts';
import type { Clock } from '#lib/time/clock.ts';
import { PayloadFlag } from '#wire/gen/numbers.ts';
import type { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import type { ForwardOutcome } from '../forwarder/destination.ts';
import { Acknowledger } from './acknowledger.ts';
import type { XgressOptions } from './options.ts';
import { costOf, ReceiveBuffer } from './receive-buffer.ts';
import type { XgressClient } from './xgress-client.ts';
import type { CircuitRole, XgressMetrics } from './xgress-metrics.ts';

export interface PayloadReceiverComponents {
  clock: Clock;
  buffers: BufferPool;
  forwarder: { forwardAcknowledgement(source: string, acknowledgement: Acknowledgement): ForwardOutcome };
  budget: EndBudget;
  metrics: XgressMetrics;
  client: XgressClient;
}

export interface PayloadReceiverInit {
  readonly circuitId: string;
  readonly address: string;
  readonly role: CircuitRole;
  readonly options: XgressOptions;
}

/** Minimum milliseconds between two reports about dropped payloads, which show the sender that its peer is alive. */
const REPORT_INTERVAL = 1_000;

export class PayloadReceiver {
  readonly #components: PayloadReceiverComponents;
  readonly #init: PayloadReceiverInit;
  readonly #buffer: ReceiveBuffer;
  readonly #acknowledger: Acknowledger;
  #isPaused = false;
  #pausedAt = 0;
  #droppedReportAt = Number.NEGATIVE_INFINITY;
  /** Bytes of memory of payloads that a paused client has not consumed. */
  #unfinished = 0;
  #isClosed = false;

  constructor(components: PayloadReceiverComponents, init: PayloadReceiverInit) {
    this.#components = components;
    this.#init = init;
    this.#buffer = new ReceiveBuffer(init.options.rxBufferSize, components.budget, components.buffers);
    this.#acknowledger = new Acknowledger(
      {
        bufferSize: () => this.#buffer.reportedSize,
        send: (acknowledgement) => this.#sendAcknowledgement(acknowledgement),
      },
      init.circuitId,
      init.role === 'terminator' ? PayloadFlag.Originator : 0,
    );
  }

  get unsentAcks(): number {
    return this.#acknowledger.pending;
  }

  get reportedSize(): number {
    return this.#buffer.reportedSize;
  }

  /** Whether every payload up to the end of the peer's direction has arrived. */
  get holdsEnd(): boolean {
    return this.#buffer.holdsEnd;
  }

  /** The client does not accept data until `resume`. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** For inspections. */
  inspect() {
    return this.#buffer.inspect();
  }

  /** Stores a payload, and acknowledges it. Returns false if it was dropped. */
  receive(payload: Payload): boolean {
    const { metrics } = this.#components;
    const reception = this.#buffer.receive(payload, !this.#isPaused);
    if (reception === 'dropped') {
      metrics.droppedPayload();
      this.#reportDrop();
      return false;
    }
    if (reception === 'duplicate') metrics.duplicatePayload();
    this.#acknowledger.add(payload);
    return true;
  }

  /**
   * Removes and returns the next payload in order, unless the client is paused. The caller passes it to `handOver` or
   * `skip`, and releases it.
   */
  next(): Payload | undefined {
    return this.#isPaused || this.#isClosed ? undefined : this.#buffer.shift();
  }

  release(payload: Payload): void {
    this.#buffer.release(payload);
  }

  /** Passes the data of a payload to the client. */
  handOver(payload: Payload, headers: Map<number, Buffer> | undefined): void {
    const { client, metrics, clock } = this.#components;
    metrics.received(this.#init.role, payload.dataLength);
    const accepts = client.borrows
      ? client.deliver(payload.data, headers)
      : client.deliver(Buffer.from(payload.data), headers && ownHeaders(headers));
    if (accepts) {
      this.skip(payload);
      return;
    }
    this.#isPaused = true;
    this.#pausedAt = clock.monotonic();
    this.#unfinished += costOf(payload);
  }

  /** The client does not need the data of this payload. */
  skip(payload: Payload): void {
    this.#finish(costOf(payload));
  }

  /** The client accepts data again. Returns false if it was not paused. */
  resume(): boolean {
    if (!this.#isPaused || this.#isClosed) return false;
    this.#isPaused = false;
    this.#components.metrics.clientPausedFor(this.#components.clock.monotonic() - this.#pausedAt);
    this.#finish(this.#unfinished);
    this.#unfinished = 0;
    return true;
  }

  /** Sends the acknowledgements that are due, and discards payloads that the client has not received. */
  close(): void {
    this.#isClosed = true;
    this.#acknowledger.close();
    this.#buffer.clear();
  }

  #reportDrop(): void {
    const now = this.#components.clock.monotonic();
    if (now - this.#droppedReportAt < REPORT_INTERVAL) return;
    this.#droppedReportAt = now;
    this.#acknowledger.report();
  }

  /** Clearing the buffer has accounted for payloads that are on their way to the client. */
  #finish(cost: number): void {
    if (this.#isClosed) return;
    this.#buffer.finished(cost);
    this.#acknowledger.onRoom();
  }

  #sendAcknowledgement(acknowledgement: Acknowledgement): void {
    const { forwarder, metrics } = this.#components;
    if (forwarder.forwardAcknowledgement(this.#init.address, acknowledgement) === 'sent') metrics.acknowledgementSent();
    else metrics.acknowledgementFailed();
  }
}

function ownHeaders(headers: ReadonlyMap<number, Buffer>): Map<number, Buffer> {
  return new Map(Array.from(headers, ([key, value]) => [key, Buffer.from(value)]));
}
