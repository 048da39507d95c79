// One end of a circuit on this router: converts the bytes of a client to payloads and back, with acknowledgement,
// retransmission, half close and back pressure (reference facts: link, sections 2.3 and 2.4).
//
//   client ──write──► PayloadSender ─payloads──► forwarder ─► … network … ─► peer
//   client ◄─deliver─ ReceiveBuffer ◄─payloads─ forwarder ◄─ … network … ◄─ peer      (acknowledgements go the other way)
//
// States: `waiting` for the start (terminator only), `open`, `closed`. Each direction ends separately: by `end()` and
// by the peer's EOF. The circuit is complete when both have ended and all payloads are acknowledged. A circuit that
// closes earlier was cut: both clients are reset, so that neither mistakes partial data for all of it (see
// end-marks.ts).

import type { Clock } from '#lib/clock.ts';
import { formatDuration } from '#lib/duration.ts';
import type { Frame } from '#wire/frame.ts';
import { type ControlMessageType, PayloadFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import type { HeaderEntries } from '#wire/message.ts';
import type { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import type { CircuitEnd, Destination, ForwardOutcome, PayloadOrigin } from '../forwarder/destination.ts';
import { isAnswerOfEnd, traceRouteAnswer, traceRouteFrame, traceRouteStep } from '../forwarder/trace-route.ts';
import { Acknowledger } from './acknowledger.ts';
import type { BufferBudget } from './buffer-budget.ts';
import { ABORT_FLAGS, FIN_HEADERS, isAbort, isEnd, isFin } from './end-marks.ts';
import type { XgressOptions } from './options.ts';
import { PayloadSender } from './payload-sender.ts';
import { costOf, ReceiveBuffer } from './receive-buffer.ts';
import type { Ticking, XgressTicker } from './ticker.ts';
import type { CircuitRole, XgressMetrics } from './xgress-metrics.ts';

/** How a circuit ended: `complete` if both sides received all data, else `cut`. */
export type CircuitOutcome = 'complete' | 'cut';

/** The application behind this end: a socket, a hosted application, an SDK connection. */
export interface XgressClient {
  /** True if `deliver` copies the parts of `data` and `headers` that it keeps. Otherwise the xgress passes copies. */
  readonly borrows?: boolean;
  /** Data in order. Returns false to pause delivery until `resume` is called. */
  deliver(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): boolean;
  /** The peer sends no further data. */
  end(): void;
  /** The circuit is closed. Called once. */
  closed(outcome: CircuitOutcome): void;
  /** The client may write again after `write` returned false. */
  writable(): void;
  /** A control frame of the circuit. Returns false if the client does not handle it; this end answers then. */
  onControl?(frame: Frame): boolean;
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
  /** Shared by all ends of the router. */
  budget: BufferBudget;
  metrics: XgressMetrics;
  client: XgressClient;
  /** The circuit ended here: remove it from the forwarder and notify its controller. */
  onClosed(xgress: Xgress): void;
  /** A payload could not be forwarded. */
  onUnroutable(circuitId: string): void;
}

export interface XgressInit {
  circuitId: string;
  /** Assigned by the controller. */
  address: string;
  role: CircuitRole;
  options: XgressOptions;
  /** Sent in trace route answers: `xgress/tunnel`, `xgress/transport`, … */
  hopType: string;
}

/** Bit 8: understands EOF. The reference defines no other bit. */
const CAPABILITY_EOF = 0x100;
const CAPABILITIES = Buffer.from([0, 0, 1, 0]);
const EMPTY = Buffer.alloc(0);
/** Bits of the flags in inspections. */
const CLOSED_FLAG = 1;
const PEER_ENDED_FLAG = 2;
const LOCAL_ENDED_FLAG = 4;
/** Milliseconds to wait for acknowledgements that the peer's last payload has overtaken. */
const LAST_ACKNOWLEDGEMENTS = 1_000;

export class Xgress implements CircuitEnd, Ticking {
  readonly circuitId: string;
  readonly address: string;
  readonly role: CircuitRole;
  readonly hopType: string;
  lastReceived: number;
  /** The identity to which this traffic is attributed in usage reports. */
  usageTags: Readonly<Record<string, string>> = {};
  /** Bytes since the last usage report, in each direction. */
  readonly transferred = { fromClient: 0, toClient: 0 };
  readonly #components: XgressComponents;
  readonly #options: XgressOptions;
  readonly #send: PayloadSender;
  readonly #receive: ReceiveBuffer;
  readonly #acknowledger: Acknowledger;
  #state: 'waiting' | 'open' | 'closed' = 'waiting';
  #peerKnowsEof = false;
  #localEnded = false;
  /** The peer rejected further data: later data from the client is lost. */
  #peerRefuses = false;
  #peerEnded = false;
  /** All data of the peer was delivered: its FIN or its end arrived in order. */
  #peerFinished = false;
  /** The client disconnected: data for it is dropped. */
  #clientGone = false;
  /** Some data of the client will never arrive. */
  #lost = false;
  #unroutedByController = false;
  #clientPaused = false;
  #pausedAt = 0;
  /** Bytes of memory of payloads that a paused client has not consumed. */
  #unfinished = 0;
  #startBy = Number.POSITIVE_INFINITY;
  #closeBy = Number.POSITIVE_INFINITY;

  constructor(components: XgressComponents, init: XgressInit) {
    this.#components = components;
    this.#options = init.options;
    this.circuitId = init.circuitId;
    this.address = init.address;
    this.role = init.role;
    this.hopType = init.hopType;
    this.#send = new PayloadSender(components, {
      ...init,
      onWritable: () => this.canWrite && components.client.writable(),
      onExhausted: () => this.abort(),
    });
    this.#receive = new ReceiveBuffer(init.options.rxBufferSize, components.budget);
    this.#acknowledger = new Acknowledger(
      {
        bufferSize: () => this.#receive.reportedSize,
        send: (acknowledgement) => this.#sendAcknowledgement(acknowledgement),
      },
      init.circuitId,
      init.role === 'terminator' ? PayloadFlag.Originator : 0,
    );
    this.lastReceived = components.clock.monotonic();
  }

  get blockedBy(): 'window' | 'peer' | undefined {
    return this.#send.blockedBy;
  }

  get unsentAcks(): number {
    return this.#acknowledger.pending;
  }

  /** For circuit inspections, with the reference's field names. */
  inspect(): Record<string, unknown> {
    const now = this.#components.clock.monotonic();
    const flags =
      (this.#state === 'closed' ? CLOSED_FLAG : 0) |
      (this.#peerEnded ? PEER_ENDED_FLAG : 0) |
      (this.#localEnded ? LOCAL_ENDED_FLAG : 0);
    return {
      address: this.address,
      originator: this.role === 'initiator' ? 'Initiator' : 'Terminator',
      timeSinceLastLinkRx: formatDuration(now - this.lastReceived),
      sendBufferDetail: this.#send.inspect(now),
      recvBufferDetail: this.#receive.inspect(),
      xgressPointer: '',
      linkSendBufferPointer: '',
      goroutines: null,
      sequence: this.#send.sequence,
      flags: flags.toString(2),
      lastSizeSent: this.#receive.reportedSize,
    };
  }

  /** Bytes and payloads in flight, for metrics. */
  get unacknowledged(): { bytes: number; payloads: number } {
    return this.#send.unacknowledged;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /**
   * Call after registering this end at the forwarder. The initiator opens the circuit; the terminator waits for the
   * initiator.
   */
  start(): void {
    if (this.#state !== 'waiting') return;
    this.#components.ticker.add(this);
    if (this.role === 'initiator') {
      this.#state = 'open';
      this.#send.send(PayloadFlag.CircuitStart, EMPTY, new Map([[PayloadHeader.Capabilities, CAPABILITIES]]));
      this.#components.client.writable();
    } else if (this.#options.circuitStartTimeout > 1_000) {
      this.#startBy = this.#components.clock.monotonic() + this.#options.circuitStartTimeout;
    }
  }

  /** Whether the client may write now. */
  get canWrite(): boolean {
    return this.#state === 'open' && !this.#localEnded && this.#send.admits;
  }

  /**
   * Sends a copy of the client's data. Returns false if the client must wait for `writable` before the next write; this
   * data was still accepted. Ignored after `end` and `abort`.
   */
  write(data: Buffer, headers?: ReadonlyMap<number, Buffer>): boolean {
    this.#lost ||= this.#peerRefuses;
    if (this.#state !== 'open' || this.#localEnded) return false;
    this.transferred.fromClient += data.length;
    this.#send.send(0, data, headers);
    if (!this.canWrite) this.#send.block();
    return this.canWrite;
  }

  /** The client sends no further data. `fin` adds the half close that applications see, for streams. */
  end(options: { fin?: boolean } = {}): void {
    if (this.#state !== 'open' || this.#localEnded) return;
    if (options.fin) this.#send.send(0, EMPTY, FIN_HEADERS);
    this.#localEnded = true;
    this.#send.send(this.#peerKnowsEof ? PayloadFlag.Eof : PayloadFlag.CircuitEnd);
    this.#send.startClosing();
    this.#limitWait();
    this.#closeIfDone();
  }

  /** The client disconnected after ending its direction: the peer may stop sending, and received data is dropped. */
  refuseData(): void {
    if (this.#state !== 'open' || this.#clientGone) return;
    this.#clientGone = true;
    if (!this.#peerEnded && !this.#unroutedByController) this.#send.send(PayloadFlag.WriteFailed);
    this.#limitWait();
    this.resume();
    this.#closeIfDone();
  }

  /** The client accepts data again after `deliver` returned false. */
  resume(): void {
    if (!this.#clientPaused || this.#state === 'closed') return;
    this.#clientPaused = false;
    this.#components.metrics.clientTook(this.#components.clock.monotonic() - this.#pausedAt);
    this.#finish(this.#unfinished);
    this.#unfinished = 0;
    this.#deliver();
    if (this.#unroutedByController) this.#limitWait();
  }

  /** Cuts the circuit in both directions and makes the peer reset its client. */
  abort(): void {
    this.#over('cut', ABORT_FLAGS);
  }

  /**
   * The controller removed the circuit. If every payload up to the peer's end has arrived, the data is still delivered;
   * otherwise the circuit is cut.
   */
  unrouted(): void {
    if (this.#state === 'closed' || this.#unroutedByController) return;
    this.#unroutedByController = true;
    this.#stopSending();
    this.#localEnded = true;
    if (this.#state === 'waiting' || !(this.#peerFinished || this.#receive.holdsEnd)) {
      this.#over('cut');
      return;
    }
    this.#limitWait();
    this.#deliver();
    this.#peerEnded ||= this.#peerFinished;
    this.#closeIfDone();
  }

  // From the forwarder -----------------------------------------------------------------------------------------------------

  acceptPayload(payload: Payload): boolean {
    if (this.#state === 'closed' || this.#unroutedByController) return true;
    if (payload.isFromTerminator === (this.role === 'terminator')) {
      this.#components.metrics.droppedPayload(); // the network returned it to its sender
      return true;
    }
    this.lastReceived = this.#components.clock.monotonic();
    if (isAbort(payload)) {
      this.#over('cut');
      return true;
    }
    if (this.#state === 'waiting') this.#onStart();
    const reception = this.#receive.receive(payload, !this.#clientPaused);
    if (reception === 'dropped') {
      this.#components.metrics.droppedPayload();
      return true;
    }
    if (reception === 'duplicate') this.#components.metrics.duplicatePayload();
    this.#acknowledger.add(payload);
    if (payload.has(PayloadFlag.WriteFailed)) this.#onPeerRefuses();
    this.#deliver();
    return true;
  }

  acceptAcknowledgement(acknowledgement: Acknowledgement): boolean {
    if (this.#state !== 'open' || acknowledgement.isFromTerminator === (this.role === 'terminator')) return true;
    const now = this.#components.clock.monotonic();
    this.lastReceived = now;
    this.#components.metrics.acknowledgementReceived();
    if (this.#send.acknowledge(acknowledgement, now) && this.#localEnded) this.#limitWait();
    this.#closeIfDone();
    return true;
  }

  acceptControl(frame: Frame): boolean {
    const isQuestion = traceRouteStep(frame).isRequest;
    if (!isQuestion && isAnswerOfEnd(frame)) this.lastReceived = this.#components.clock.monotonic(); // answers the liveness check
    if (this.#components.client.onControl?.(frame) || !isQuestion) return true;
    const answer = traceRouteAnswer(frame, {
      hopType: this.hopType,
      hopId: this.address,
      now: this.#components.clock.now(),
    });
    return this.#components.forwarder.forwardControl(this.address, answer) === 'sent';
  }

  /** Sends a trace route request or answer of the client along the circuit. */
  forwardTrace(type: ControlMessageType, headers: HeaderEntries): void {
    if (this.#state === 'closed') return;
    this.#components.forwarder.forwardControl(this.address, traceRouteFrame(type, this.circuitId, headers));
  }

  /**
   * This end never rejects a payload for lack of space: payloads that do not fit are dropped, and the peer retransmits
   * them.
   */
  onceWritable(task: () => void): void {
    setImmediate(task);
  }

  tick(now: number): void {
    if (this.#state === 'waiting') {
      if (now >= this.#startBy) this.abort();
      return;
    }
    this.#send.tick(now);
    if (now >= this.#closeBy) this.#onCloseTimeout();
  }

  // Ending -----------------------------------------------------------------------------------------------------------------

  /** Limits the wait for the other side: an end without progress for that long is closed. */
  #limitWait(): void {
    this.#closeBy = this.#components.clock.monotonic() + this.#options.maxCloseWaitMs;
  }

  #onCloseTimeout(): void {
    this.#closeBy = Number.POSITIVE_INFINITY;
    if (this.#unroutedByController) {
      this.#over('cut');
      return;
    }
    this.#stopSending();
    this.#closeIfDone();
  }

  /** Discards unacknowledged payloads: their acknowledgements can no longer arrive. */
  #stopSending(): void {
    this.#lost ||= this.#send.unacknowledged.bytes > 0;
    this.#send.discard();
  }

  #closeIfDone(): void {
    if (!this.#localEnded || !(this.#peerEnded || this.#clientGone)) return;
    if (!this.#send.isEmpty || this.#clientPaused) return;
    if (this.#lost) this.abort();
    else this.#over('complete', PayloadFlag.CircuitEnd);
  }

  /** Sends `lastFlags` to the peer in a payload that is not retransmitted if lost: the controller is notified too. */
  #over(outcome: CircuitOutcome, lastFlags?: number): void {
    if (this.#state === 'closed') return;
    this.#acknowledger.close();
    this.#state = 'closed';
    this.#send.close(this.#unroutedByController ? undefined : lastFlags);
    this.#components.ticker.delete(this);
    this.#receive.clear();
    this.#components.client.closed(outcome);
    this.#components.onClosed(this);
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
      payload.release();
    }
    this.#closeIfDone();
  }

  #consume(payload: Payload): void {
    const headers = payload.headers();
    this.#onCapabilities(headers?.get(PayloadHeader.Capabilities), payload.has(PayloadFlag.CircuitStart));
    const hasContent =
      !payload.has(PayloadFlag.CircuitStart) && (payload.dataLength > 0 || headers?.has(PayloadHeader.EdgeFlags));
    if (hasContent && !this.#peerEnded && !this.#clientGone && !this.#handOver(payload, headers)) {
      this.#clientPaused = true;
      this.#pausedAt = this.#components.clock.monotonic();
      this.#unfinished += costOf(payload);
    } else if (!this.isClosed) {
      this.#finish(costOf(payload));
    }
    this.#peerFinished ||= isFin(headers);
    if (isEnd(payload) && !this.isClosed) this.#onPeerEnded(payload);
  }

  #handOver(payload: Payload, headers: Map<number, Buffer> | undefined): boolean {
    this.transferred.toClient += payload.dataLength;
    this.#components.metrics.received(this.role, payload.dataLength);
    const { client } = this.#components;
    if (client.borrows) return client.deliver(payload.data, headers);
    return client.deliver(Buffer.from(payload.data), headers && ownHeaders(headers));
  }

  #onCapabilities(value: Buffer | undefined, isStart: boolean): void {
    if (value?.length === 4) this.#peerKnowsEof = (value.readUInt32BE() & CAPABILITY_EOF) !== 0;
    if (!isStart || this.role !== 'terminator') return;
    // A peer without capabilities gets data, but no capabilities in return.
    if (value) this.#send.send(0, EMPTY, new Map([[PayloadHeader.Capabilities, CAPABILITIES]]));
    this.#components.client.writable();
  }

  #onPeerEnded(payload: Payload): void {
    if (payload.has(PayloadFlag.CircuitEnd) && this.#isCutBy()) {
      this.#over('cut');
      return;
    }
    if (!this.#peerEnded) {
      this.#peerEnded = true;
      this.#peerFinished = true;
      this.#components.client.end();
    } else if (payload.has(PayloadFlag.CircuitEnd)) {
      this.#onPeerClosed();
    }
  }

  /**
   * The peer ended twice, so it is closed. After our own end this means that it received all data, even without
   * acknowledgements.
   */
  #onPeerClosed(): void {
    if (this.#localEnded) {
      this.#send.discard();
      return;
    }
    this.#peerRefuses = true;
    this.#localEnded = true;
    this.#closeBy = this.#components.clock.monotonic() + LAST_ACKNOWLEDGEMENTS;
  }

  /**
   * Peers that do not know our capabilities send a circuit end instead of an EOF. A terminator knows them before it
   * sends anything. So if it supports EOF and ends without one, its client has failed.
   */
  #isCutBy(): boolean {
    return this.role === 'initiator' && this.#peerKnowsEof && !this.#peerFinished && !this.#clientGone;
  }

  #onPeerRefuses(): void {
    if (this.#peerRefuses) return;
    this.#peerRefuses = true;
    this.#localEnded = true;
    this.#stopSending();
  }

  #finish(cost: number): void {
    this.#receive.finished(cost);
    this.#acknowledger.onRoom();
  }

  #sendAcknowledgement(acknowledgement: Acknowledgement): void {
    const outcome = this.#components.forwarder.forwardAcknowledgement(this.address, acknowledgement);
    if (outcome === 'sent') this.#components.metrics.acknowledgementSent();
    else this.#components.metrics.acknowledgementFailed();
  }
}

function ownHeaders(headers: ReadonlyMap<number, Buffer>): Map<number, Buffer> {
  return new Map(Array.from(headers, ([key, value]) => [key, Buffer.from(value)]));
}
