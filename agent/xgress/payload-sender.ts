// The sending half of a circuit end: numbers payloads, passes them to the forwarder, waits when the link is full, and
// retransmits unacknowledged payloads (reference fact: link, section 2.4). It does not know why a payload is sent.

import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { EndBudget } from '#lib/queue/holder-budgets.ts';
import type { Clock } from '#lib/time/clock.ts';
import { PayloadFlag } from '#wire/gen/numbers.ts';
import { type Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { type Destination, type ForwardOutcome, PayloadOrigin } from '../forwarder/destination.ts';
import type { XgressOptions } from './options.ts';
import { SendBuffer, type SendBufferInspection } from './send-buffer.ts';
import type { CircuitRole, XgressMetrics } from './xgress-metrics.ts';

export interface PayloadSenderComponents {
  clock: Clock;
  buffers: BufferPool;
  forwarder: {
    forwardPayload(source: string, payload: Payload, origin: PayloadOrigin): ForwardOutcome;
    nextHop(circuitId: string, source: string): Destination | undefined;
  };
  budget: EndBudget;
  metrics: XgressMetrics;
  /** A payload could not be forwarded. */
  onUnroutable(circuitId: string): void;
}

export interface PayloadSenderInit {
  readonly circuitId: string;
  readonly address: string;
  readonly role: CircuitRole;
  readonly options: XgressOptions;
  /** Called when payloads are accepted again after `admits` was false. */
  onWritable(): void;
  /** All sequence numbers are used up. */
  onExhausted(): void;
}

/**
 * Attempts to send the last payload of a circuit over a full link. If it is lost, the peer waits for the controller, 5
 * s or more.
 */
const LAST_ATTEMPTS = 20;
/** The wire carries 31 bits. */
const MAX_SEQUENCE = 0x7fff_ffff;
const EMPTY = Buffer.alloc(0);

export class PayloadSender {
  readonly #components: PayloadSenderComponents;
  readonly #init: PayloadSenderInit;
  readonly #buffers: BufferPool;
  readonly #roleFlag: number;
  readonly #buffer: SendBuffer;
  /** Built, but rejected by a full queue: at most one read of the client's data, and the end of the circuit. */
  readonly #unsent: Payload[] = [];
  readonly #deliveredBefore = () => this.#hop?.deliveredBefore?.(this.#init.circuitId);
  #sequence = 0;
  #isWaiting = false;
  #isBlocked = false;
  #blockedSince = 0;
  #isClosed = false;

  constructor(components: PayloadSenderComponents, init: PayloadSenderInit) {
    const { metrics, budget } = components;
    this.#components = components;
    this.#init = init;
    this.#buffers = components.buffers;
    this.#roleFlag = init.role === 'terminator' ? PayloadFlag.Originator : 0;
    this.#buffer = new SendBuffer(init.options, { duplicateAck: () => metrics.duplicateAck() }, budget);
  }

  /** Unacknowledged bytes and payloads. */
  get unacknowledged(): { bytes: number; payloads: number } {
    return { bytes: this.#buffer.size, payloads: this.#buffer.count };
  }

  /** The window for which the client waits, if any. */
  get blockedBy(): 'window' | 'peer' | undefined {
    if (!this.#isBlocked) return undefined;
    if (this.#buffer.blockedByPeer) return 'peer';
    return this.#buffer.blockedByWindow ? 'window' : undefined;
  }

  /** Sequence of the next payload. */
  get sequence(): number {
    return this.#sequence;
  }

  /** For inspections. */
  inspect(now: number): SendBufferInspection {
    return { ...this.#buffer.inspect(now), closed: this.#isClosed };
  }

  get isEmpty(): boolean {
    return this.#buffer.isEmpty;
  }

  /** Whether the client may send more data. */
  get admits(): boolean {
    return !this.#isClosed && this.#unsent.length === 0 && this.#buffer.admits;
  }

  /** Whether there is room for data of this size; if not, `onWritable` is called when it may be tried again. */
  fits(bytes: number): boolean {
    if (this.#buffer.fits(bytes)) return true;
    this.block();
    return false;
  }

  /** Bytes of a payload that leaves room for other circuits on the first link. */
  get payloadLimit(): number {
    return this.#hop?.payloadLimit ?? Number.POSITIVE_INFINITY;
  }

  /** Sends a copy of `data`. */
  send(flags: number, data: Buffer = EMPTY, headers?: ReadonlyMap<number, Buffer>): void {
    if (this.#isClosed) return;
    if (this.#sequence > MAX_SEQUENCE) {
      this.#init.onExhausted();
      return;
    }
    const payload = this.#next(flags, data, headers);
    this.#buffer.add(payload);
    this.#components.metrics.sent(this.#init.role, data.length);
    this.#unsent.push(payload);
    if (this.#unsent.length === 1) this.#sendUnsent();
  }

  /** The client must wait for `onWritable`. */
  block(): void {
    if (this.#isBlocked) return;
    this.#isBlocked = true;
    this.#blockedSince = this.#components.clock.monotonic();
    if (this.#buffer.blockedByPeer) this.#components.metrics.blockedByPeer();
    else if (this.#buffer.blockedByWindow) this.#components.metrics.blockedByWindow();
  }

  /** Admits every payload from now on: only the end of the circuit is still to be sent. */
  startClosing(): void {
    this.#buffer.startClosing();
  }

  /** Returns true if a payload was acknowledged for the first time. */
  acknowledge(acknowledgement: Acknowledgement, now: number): boolean {
    const before = this.#buffer.count;
    const { sequences, receiveBufferSize } = acknowledgement;
    const isPaced = this.#hop?.isPaced ?? false;
    this.#buffer.acknowledge(sequences, receiveBufferSize, { now, isPaced });
    const isProgress = this.#buffer.count < before;
    if (!this.#isWaiting) this.#retransmit(now);
    this.#unblock();
    return isProgress;
  }

  /** Also while it waits for room: a reroute may have given the circuit another link. */
  tick(now: number): void {
    this.#resume(now);
  }

  /** Discards unacknowledged payloads. */
  discard(): void {
    this.#unsent.length = 0;
    this.#buffer.clear();
  }

  /** Stops sending, after one last payload with `flags`. That payload is not retransmitted if it is lost. */
  close(flags?: number): void {
    if (this.#isClosed) return;
    this.discard();
    this.#isClosed = true;
    if (flags === undefined || this.#sequence > MAX_SEQUENCE) return;
    const last = this.#next(flags, EMPTY);
    const hop = this.#hop;
    if (this.#forward(last, PayloadOrigin.Xgress) === 'full' && hop) sendWhenWritable(hop, last, LAST_ATTEMPTS);
  }

  get #hop(): Destination | undefined {
    return this.#components.forwarder.nextHop(this.#init.circuitId, this.#init.address);
  }

  #next(flags: number, data: Buffer, headers?: ReadonlyMap<number, Buffer>): Payload {
    const sequence = this.#sequence++;
    return Payload.create(this.#init.circuitId, sequence, flags | this.#roleFlag, data, headers, this.#buffers);
  }

  #forward(payload: Payload, origin: PayloadOrigin): ForwardOutcome {
    payload.writeStamp(this.#components.clock.now());
    return this.#components.forwarder.forwardPayload(this.#init.address, payload, origin);
  }

  #sendUnsent(): void {
    for (let payload = this.#unsent[0]; payload; payload = this.#unsent[0]) {
      const outcome = this.#forward(payload, PayloadOrigin.Xgress);
      if (outcome === 'full') {
        this.#waitForRoom();
        return;
      }
      if (outcome !== 'sent') this.#components.onUnroutable(this.#init.circuitId);
      // An unroutable payload counts as sent: the controller may reroute before its retransmission is due.
      this.#unsent.shift();
      this.#buffer.sent(payload.sequence, this.#components.clock.monotonic());
    }
    this.#unblock();
  }

  /** Waits once for a place; `tick` also retries. */
  #waitForRoom(): void {
    if (this.#isWaiting) return;
    const { circuitId } = this.#init;
    const hop = this.#hop;
    this.#isWaiting = hop !== undefined;
    hop?.onceWritable(circuitId, () => {
      this.#isWaiting = false;
      this.#resume(this.#components.clock.monotonic());
    });
  }

  /** Retransmits first: the peer holds back later payloads. */
  #resume(now: number): void {
    if (this.#retransmit(now)) this.#sendUnsent();
  }

  /** Returns false if the queue is full. */
  #retransmit(now: number): boolean {
    const { metrics, onUnroutable } = this.#components;
    for (const payload of this.#buffer.due(now, this.#deliveredBefore)) {
      const outcome = this.#repeat(payload);
      if (outcome === 'full') {
        this.#waitForRoom();
        return false;
      }
      if (outcome === 'sent') {
        metrics.retransmitted();
        this.#buffer.retransmitted(payload.sequence, now);
        continue;
      }
      metrics.retransmissionFailed();
      onUnroutable(this.#init.circuitId);
      this.#buffer.sent(payload.sequence, now);
    }
    return true;
  }

  #repeat(payload: Payload): ForwardOutcome {
    const again = payload.retransmission();
    const outcome = this.#forward(again, PayloadOrigin.Retransmission);
    again.release();
    return outcome;
  }

  #unblock(): void {
    if (!this.#isBlocked || !this.admits) return;
    this.#isBlocked = false;
    this.#components.metrics.blockedFor(this.#components.clock.monotonic() - this.#blockedSince);
    this.#init.onWritable();
  }
}

function sendWhenWritable(hop: Destination, payload: Payload, attempts: number): void {
  hop.onceWritable(payload.circuitId, () => {
    if (!hop.acceptPayload(payload, PayloadOrigin.Xgress) && attempts > 1) sendWhenWritable(hop, payload, attempts - 1);
  });
}
