// One end of a circuit on this router: turns the bytes of a client into payloads and back, with acknowledgement,
// retransmission, half close and back pressure (reference facts: link, sections 2.3 and 2.4).
//
//   client ──write──► SendBuffer ──payloads──► forwarder ─► … network … ─► peer
//   client ◄─deliver─ ReceiveBuffer ◄─payloads─ forwarder ◄─ … network … ◄─ peer      (acknowledgements go the other way)
//
// States: `waiting` for the start (terminator only), `open`, `closed`. Each direction ends on its own: `end()` and the peer's
// EOF; when both have ended and everything is acknowledged, the circuit is over.

import type { Clock } from '#lib/clock.ts';
import type { Frame } from '#wire/frame.ts';
import { EdgeFlag, PayloadFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import type { CircuitEnd, Destination, ForwardOutcome } from '../forwarder/destination.ts';
import { PayloadOrigin } from '../forwarder/destination.ts';
import { traceRouteAnswer, traceRouteStep } from '../forwarder/trace-route.ts';
import type { XgressOptions } from './options.ts';
import { ReceiveBuffer } from './receive-buffer.ts';
import { SendBuffer } from './send-buffer.ts';
import type { Ticking, XgressTicker } from './ticker.ts';
import type { CircuitRole, XgressMetrics } from './xgress-metrics.ts';

/** Who is behind this end: a socket, a hosted application, an SDK connection. */
export interface XgressClient {
  /** Data in order. False: do not deliver more until `resume` was called. */
  deliver(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): boolean;
  /** The peer sends no more data. */
  end(): void;
  /** The circuit is over. Called once. */
  closed(): void;
  /** The client may write again after `write` answered false. */
  writable(): void;
}

export interface XgressForwarding {
  forwardPayload(source: string, payload: Payload, origin: PayloadOrigin): ForwardOutcome;
  forwardAcknowledgement(source: string, acknowledgement: Acknowledgement): ForwardOutcome;
  forwardControl(source: string, frame: Frame): ForwardOutcome;
  nextHop(circuitId: string, source: string): Destination | undefined;
}

export interface XgressComponents {
  clock: Clock;
  forwarder: XgressForwarding;
  ticker: XgressTicker;
  metrics: XgressMetrics;
  client: XgressClient;
  /** The circuit ended here: take it out of the forwarder and tell its controller. */
  onClosed(xgress: Xgress): void;
  /** A payload could not be forwarded. */
  onUnroutable(circuitId: string): void;
}

export interface XgressInit {
  circuitId: string;
  /** Given by the controller. */
  address: string;
  role: CircuitRole;
  options: XgressOptions;
  /** Named in answers to trace route: `xgress/tunnel`, `xgress/transport`, … */
  hopType: string;
}

/** Bit 8: understands EOF. The only one that exists. */
const CAPABILITY_EOF = 0x100;
const CAPABILITIES = Buffer.from([0, 0, 1, 0]);
const FIN_HEADERS: ReadonlyMap<number, Buffer> = new Map([[PayloadHeader.EdgeFlags, encodeUint32(EdgeFlag.Fin)]]);
const EMPTY = Buffer.alloc(0);
/** The peer is told of room again when it last heard of more than this and half of it has gone. */
const WINDOW_UPDATE_FROM = 10_000;

export class Xgress implements CircuitEnd, Ticking {
  readonly circuitId: string;
  readonly address: string;
  readonly role: CircuitRole;
  readonly hopType: string;
  lastReceived: number;
  /** Whose traffic this is, for usage reports. */
  usageTags: Readonly<Record<string, string>> = {};
  /** Bytes since usage was last told, in each direction. */
  readonly transferred = { fromClient: 0, toClient: 0 };
  readonly #components: XgressComponents;
  readonly #options: XgressOptions;
  readonly #roleFlag: number;
  readonly #send: SendBuffer;
  readonly #receive: ReceiveBuffer;
  /** Built but refused by a full queue: at most one of the client's data and what ends the circuit. */
  readonly #unsent: Payload[] = [];
  #state: 'waiting' | 'open' | 'closed' = 'waiting';
  #sequence = 0;
  #peerKnowsEof = false;
  #localEnded = false;
  #peerEnded = false;
  #unroutedByController = false;
  #clientPaused = false;
  /** Bytes that a paused client still has to finish. */
  #unfinished = 0;
  #clientBlocked = false;
  #blockedSince = 0;
  #ackSequences: number[] = [];
  #ackStamp = 0;
  #ackScheduled = false;
  #reportedBuffer = 0;
  #startBy = Number.POSITIVE_INFINITY;
  #closeBy = Number.POSITIVE_INFINITY;

  constructor(components: XgressComponents, init: XgressInit) {
    this.#components = components;
    this.#options = init.options;
    this.circuitId = init.circuitId;
    this.address = init.address;
    this.role = init.role;
    this.hopType = init.hopType;
    this.#roleFlag = init.role === 'terminator' ? PayloadFlag.Originator : 0;
    this.#send = new SendBuffer(init.options, { duplicateAck: () => components.metrics.duplicateAck() });
    this.#receive = new ReceiveBuffer(init.options.rxBufferSize);
    this.lastReceived = components.clock.now();
  }

  /** Bytes and payloads on their way, for metrics. */
  get unacknowledged(): { bytes: number; payloads: number } {
    return { bytes: this.#send.size, payloads: this.#send.count };
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Call after the forwarder knows this end. The initiator opens the circuit, the terminator waits for that. */
  start(): void {
    if (this.#state !== 'waiting') return;
    this.#components.ticker.add(this);
    if (this.role === 'initiator') {
      this.#state = 'open';
      this.#sendNew(PayloadFlag.CircuitStart, EMPTY, new Map([[PayloadHeader.Capabilities, CAPABILITIES]]));
      this.#components.client.writable();
    } else if (this.#options.circuitStartTimeout > 1_000) {
      this.#startBy = this.#components.clock.now() + this.#options.circuitStartTimeout;
    }
  }

  /** Whether the client may write now. */
  get canWrite(): boolean {
    return this.#state === 'open' && !this.#localEnded && this.#unsent.length === 0 && this.#send.admits;
  }

  /**
   * Sends the client's data, which must not be changed afterwards. False: this data was taken, but wait for `writable` before the next. Ignored
   * after `end` and `close`.
   */
  write(data: Buffer, headers?: ReadonlyMap<number, Buffer>): boolean {
    if (this.#state !== 'open' || this.#localEnded) return false;
    this.#sendNew(0, data, headers);
    if (!this.canWrite) this.#block();
    return this.canWrite;
  }

  /** The client sends no more. `fin` adds the half close that applications see, for streams. */
  end(options: { fin?: boolean } = {}): void {
    if (this.#state !== 'open' || this.#localEnded) return;
    if (options.fin) this.#sendNew(0, EMPTY, FIN_HEADERS);
    this.#localEnded = true;
    this.#sendNew(this.#peerKnowsEof ? PayloadFlag.Eof : PayloadFlag.CircuitEnd, EMPTY);
    this.#drainSendBuffer();
    this.#closeIfDone();
  }

  /** The client takes no more data, though the peer has not ended. */
  refuseData(): void {
    if (this.#state !== 'open' || this.#peerEnded) return;
    this.#sendNew(PayloadFlag.WriteFailed, EMPTY);
    this.#peerEnded = true;
    this.#closeIfDone();
  }

  /** The client takes data again after `deliver` answered false. */
  resume(): void {
    if (!this.#clientPaused) return;
    this.#clientPaused = false;
    this.#finish(this.#unfinished);
    this.#unfinished = 0;
    this.#deliver();
  }

  /** Ends the circuit now, in both directions. */
  close(): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    this.#flushAcknowledgements();
    this.#state = 'closed';
    if (wasOpen && !this.#unroutedByController) {
      // Neither kept nor repeated: the fault that the controller hears of ends the circuit if this gets lost.
      const last = Payload.create(this.circuitId, this.#sequence++, this.#roleFlag | PayloadFlag.CircuitEnd, EMPTY);
      this.#forward(last, PayloadOrigin.Xgress);
    }
    this.#components.ticker.delete(this);
    this.#send.clear();
    this.#unsent.length = 0;
    this.#components.client.closed();
    this.#components.onClosed(this);
  }

  /** The controller has taken the circuit down: deliver what is here, send nothing more. */
  unrouted(): void {
    this.#unroutedByController = true;
    this.#send.clear();
    this.#unsent.length = 0;
    if (this.#state === 'waiting') {
      this.close();
      return;
    }
    if (this.#state !== 'open') return;
    this.#localEnded = true;
    this.#peerEnded = true;
    if (!this.#clientPaused) this.close(); // otherwise when the client has taken what is here
  }

  // From the forwarder -----------------------------------------------------------------------------------------------------

  sendPayload(payload: Payload): boolean {
    const fromTerminator = payload.isFromTerminator;
    if (fromTerminator === (this.role === 'terminator') || this.#state === 'closed' || this.#unroutedByController)
      return true;
    this.lastReceived = this.#components.clock.now();
    if (this.#state === 'waiting') this.#onStart();
    const reception = this.#receive.receive(payload);
    if (reception === 'dropped') {
      this.#components.metrics.droppedPayload();
      return true;
    }
    if (reception === 'duplicate') this.#components.metrics.duplicatePayload();
    this.#acknowledge(payload);
    this.#deliver();
    return true;
  }

  sendAcknowledgement(acknowledgement: Acknowledgement): boolean {
    if (this.#state !== 'open' || acknowledgement.isFromTerminator === (this.role === 'terminator')) return true;
    const now = this.#components.clock.now();
    this.lastReceived = now;
    this.#components.metrics.acknowledgementReceived();
    this.#send.acknowledge(acknowledgement.sequences, acknowledgement.receiveBufferSize, acknowledgement.stamp, now);
    this.#retransmit(now);
    this.#unblock();
    this.#closeIfDone();
    return true;
  }

  sendControl(frame: Frame): boolean {
    if (!traceRouteStep(frame).isRequest) return true; // an answer that no local client asked for
    const answer = traceRouteAnswer(frame, {
      hopType: this.hopType,
      hopId: this.address,
      now: this.#components.clock.now(),
    });
    return this.#components.forwarder.forwardControl(this.address, answer) === 'sent';
  }

  /** This end never refuses a payload for want of room: what does not fit is dropped and sent again by the peer. */
  onceWritable(task: () => void): void {
    setImmediate(task);
  }

  tick(now: number): void {
    if (this.#state === 'waiting') {
      if (now >= this.#startBy) this.close();
      return;
    }
    this.#sendUnsent();
    this.#retransmit(now);
    if (now >= this.#closeBy) this.#giveUpSending();
  }

  // Sending ----------------------------------------------------------------------------------------------------------------

  #sendNew(flags: number, data: Buffer, headers?: ReadonlyMap<number, Buffer>): void {
    const payload = Payload.create(this.circuitId, this.#sequence++, flags | this.#roleFlag, data, headers);
    this.#send.add(payload);
    this.transferred.fromClient += data.length;
    this.#components.metrics.sent(this.role, data.length);
    this.#unsent.push(payload);
    if (this.#unsent.length === 1) this.#sendUnsent();
  }

  #sendUnsent(): void {
    for (let payload = this.#unsent[0]; payload; payload = this.#unsent[0]) {
      const outcome = this.#forward(payload, PayloadOrigin.Xgress);
      if (outcome === 'full') {
        this.#waitForRoom();
        return;
      }
      if (outcome === 'unroutable') this.#components.onUnroutable(this.circuitId);
      // What has no way counts as sent: the controller may find another way before its retransmission is due.
      this.#unsent.shift();
      this.#send.sent(payload.sequence, this.#components.clock.now());
    }
    this.#unblock();
  }

  #waitForRoom(): void {
    this.#components.forwarder.nextHop(this.circuitId, this.address)?.onceWritable(() => {
      if (this.#state === 'open') this.#sendUnsent();
    });
  }

  #forward(payload: Payload, origin: PayloadOrigin): ForwardOutcome {
    payload.writeStamp(this.#components.clock.now());
    return this.#components.forwarder.forwardPayload(this.address, payload, origin);
  }

  #retransmit(now: number): void {
    for (const payload of this.#send.due(now)) {
      const outcome = this.#forward(payload.retransmission(), PayloadOrigin.Retransmission);
      if (outcome === 'full') return;
      if (outcome === 'unroutable') {
        this.#components.metrics.retransmissionFailed();
        this.#components.onUnroutable(this.circuitId);
        this.#send.sent(payload.sequence, now);
        continue;
      }
      this.#components.metrics.retransmitted();
      this.#send.retransmitted(payload.sequence, now);
    }
  }

  #block(): void {
    if (this.#clientBlocked) return;
    this.#clientBlocked = true;
    this.#blockedSince = this.#components.clock.now();
    if (this.#send.blockedByPeer) this.#components.metrics.blockedByPeer();
    else if (this.#send.blockedByWindow) this.#components.metrics.blockedByWindow();
  }

  #unblock(): void {
    if (!this.#clientBlocked || !this.canWrite) return;
    this.#clientBlocked = false;
    this.#components.metrics.blockedFor(this.#components.clock.now() - this.#blockedSince);
    this.#components.client.writable();
  }

  /** Nothing follows; what is not acknowledged within the close wait is given up. The other direction goes on. */
  #drainSendBuffer(): void {
    this.#send.startClosing();
    this.#closeBy = Math.min(this.#closeBy, this.#components.clock.now() + this.#options.maxCloseWaitMs);
  }

  #giveUpSending(): void {
    this.#closeBy = Number.POSITIVE_INFINITY;
    this.#unsent.length = 0;
    this.#send.clear();
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#localEnded && this.#peerEnded && this.#send.isEmpty && !this.#clientPaused) this.close();
  }

  // Receiving --------------------------------------------------------------------------------------------------------------

  #onStart(): void {
    this.#state = 'open';
    this.#startBy = Number.POSITIVE_INFINITY;
  }

  #deliver(): void {
    while (!this.#clientPaused && this.#state === 'open') {
      const payload = this.#receive.take();
      if (!payload) break;
      this.#consume(payload);
    }
    this.#closeIfDone();
  }

  #consume(payload: Payload): void {
    const headers = payload.headers();
    this.#onCapabilities(headers?.get(PayloadHeader.Capabilities), payload.has(PayloadFlag.CircuitStart));
    const length = payload.dataLength;
    const isContent = !payload.has(PayloadFlag.CircuitStart) && (length > 0 || headers?.has(PayloadHeader.EdgeFlags));
    if (isContent && !this.#peerEnded) {
      this.transferred.toClient += length;
      this.#components.metrics.received(this.role, length);
      if (!this.#components.client.deliver(payload.data, headers)) {
        this.#clientPaused = true;
        this.#unfinished += length;
      }
    }
    if (payload.has(PayloadFlag.WriteFailed)) this.#onPeerRefuses();
    // A circuit end ends the peer's direction like an EOF: peers that have not heard of our capabilities yet send it instead.
    if (payload.has(PayloadFlag.CircuitEnd) || payload.has(PayloadFlag.Eof)) this.#onPeerEnded();
    if (!this.#clientPaused) this.#finish(length);
  }

  #onCapabilities(value: Buffer | undefined, isStart: boolean): void {
    if (value?.length === 4) this.#peerKnowsEof = (value.readUInt32BE() & CAPABILITY_EOF) !== 0;
    if (!isStart || this.role !== 'terminator') return;
    // A peer from before capabilities gets no answer, only data.
    if (value) this.#sendNew(0, EMPTY, new Map([[PayloadHeader.Capabilities, CAPABILITIES]]));
    this.#components.client.writable();
  }

  #onPeerEnded(): void {
    if (this.#peerEnded) return;
    this.#peerEnded = true;
    this.#components.client.end();
  }

  #onPeerRefuses(): void {
    if (this.#localEnded) return;
    this.#localEnded = true;
    this.#unsent.length = 0;
    this.#send.clear();
  }

  #finish(length: number): void {
    this.#receive.finished(length);
    const size = this.#receive.size;
    if (this.#reportedBuffer > WINDOW_UPDATE_FROM && this.#reportedBuffer / 2 > size) this.#scheduleAcknowledgement();
  }

  #acknowledge(payload: Payload): void {
    this.#ackSequences.push(payload.sequence);
    this.#ackStamp = payload.stamp ?? 0;
    this.#scheduleAcknowledgement();
  }

  /** Everything that arrives in one turn of the event loop is acknowledged together. */
  #scheduleAcknowledgement(): void {
    if (this.#ackScheduled) return;
    this.#ackScheduled = true;
    setImmediate(() => this.#flushAcknowledgements());
  }

  #flushAcknowledgements(): void {
    if (!this.#ackScheduled || this.#state === 'closed') return;
    this.#ackScheduled = false;
    const sequences = this.#ackSequences;
    this.#ackSequences = [];
    this.#reportedBuffer = Math.max(0, this.#receive.size);
    const acknowledgement = Acknowledgement.create(
      this.circuitId,
      this.#roleFlag,
      this.#reportedBuffer,
      this.#ackStamp,
      sequences,
    );
    if (this.#components.forwarder.forwardAcknowledgement(this.address, acknowledgement) === 'sent')
      this.#components.metrics.acknowledgementSent();
    else this.#components.metrics.acknowledgementFailed();
  }
}
