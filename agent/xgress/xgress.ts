// One end of a circuit on this router: turns the bytes of a client into payloads and back, with acknowledgement,
// retransmission, half close and back pressure (reference facts: link, sections 2.3 and 2.4).
//
//   client ──write──► PayloadSender ─payloads──► forwarder ─► … network … ─► peer
//   client ◄─deliver─ ReceiveBuffer ◄─payloads─ forwarder ◄─ … network … ◄─ peer      (acknowledgements go the other way)
//
// States: `waiting` for the start (terminator only), `open`, `closed`. Each direction ends on its own: `end()` and the peer's
// EOF; when both have ended and everything is acknowledged, the circuit is over. A circuit that is over before that was cut:
// both clients are reset, so that neither takes a part for the whole (see end-marks.ts).

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

/** How a circuit ended: `complete` when both sides got everything, else `cut`. */
export type CircuitOutcome = 'complete' | 'cut';

/** The application behind this end: a socket, a hosted application, an SDK connection. */
export interface XgressClient {
  /** Whether `deliver` copies what it keeps of `data` and `headers`. Otherwise they are in memory of their own. */
  readonly borrows?: boolean;
  /** Data in order. False: do not deliver more until `resume` was called. */
  deliver(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): boolean;
  /** The peer sends no more data. */
  end(): void;
  /** The circuit is over. Called once. */
  closed(outcome: CircuitOutcome): void;
  /** The client may write again after `write` answered false. */
  writable(): void;
  /** A control frame of the circuit. False: the client has no use for it, and this end answers. */
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
const EMPTY = Buffer.alloc(0);
/** Bits of the flags that inspections show. */
const CLOSED_FLAG = 1;
const PEER_ENDED_FLAG = 2;
const LOCAL_ENDED_FLAG = 4;
/** Milliseconds in which acknowledgements may still arrive that the peer's last payload has overtaken. */
const LAST_ACKNOWLEDGEMENTS = 1_000;

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
  readonly #send: PayloadSender;
  readonly #receive: ReceiveBuffer;
  readonly #acknowledger: Acknowledger;
  #state: 'waiting' | 'open' | 'closed' = 'waiting';
  #peerKnowsEof = false;
  #localEnded = false;
  /** The peer refused further data: what the client still sends is lost. */
  #peerRefuses = false;
  #peerEnded = false;
  /** All data of the peer has been delivered: its FIN or its end came in order. */
  #peerFinished = false;
  /** The client is gone: data for it is dropped. */
  #clientGone = false;
  /** Data of the client will never arrive. */
  #lost = false;
  #unroutedByController = false;
  #clientPaused = false;
  #pausedAt = 0;
  /** Bytes of memory that a paused client still has to finish. */
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

  /** For the inspection of its circuit, with the reference's names. */
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

  /** Bytes and payloads on their way, for metrics. */
  get unacknowledged(): { bytes: number; payloads: number } {
    return this.#send.unacknowledged;
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
   * Sends a copy of the client's data. False: this data was taken, but wait for `writable` before the next. Ignored after `end` and `abort`.
   */
  write(data: Buffer, headers?: ReadonlyMap<number, Buffer>): boolean {
    this.#lost ||= this.#peerRefuses;
    if (this.#state !== 'open' || this.#localEnded) return false;
    this.transferred.fromClient += data.length;
    this.#send.send(0, data, headers);
    if (!this.canWrite) this.#send.block();
    return this.canWrite;
  }

  /** The client sends no more. `fin` adds the half close that applications see, for streams. */
  end(options: { fin?: boolean } = {}): void {
    if (this.#state !== 'open' || this.#localEnded) return;
    if (options.fin) this.#send.send(0, EMPTY, FIN_HEADERS);
    this.#localEnded = true;
    this.#send.send(this.#peerKnowsEof ? PayloadFlag.Eof : PayloadFlag.CircuitEnd);
    this.#send.startClosing();
    this.#waitAtMost();
    this.#closeIfDone();
  }

  /** The client is gone after it has ended its direction: the peer need not send more, and what is here is dropped. */
  refuseData(): void {
    if (this.#state !== 'open' || this.#clientGone) return;
    this.#clientGone = true;
    if (!this.#peerEnded && !this.#unroutedByController) this.#send.send(PayloadFlag.WriteFailed);
    this.#waitAtMost();
    this.resume();
    this.#closeIfDone();
  }

  /** The client takes data again after `deliver` answered false. */
  resume(): void {
    if (!this.#clientPaused || this.#state === 'closed') return;
    this.#clientPaused = false;
    this.#components.metrics.clientTook(this.#components.clock.monotonic() - this.#pausedAt);
    this.#finish(this.#unfinished);
    this.#unfinished = 0;
    this.#deliver();
    if (this.#unroutedByController) this.#waitAtMost();
  }

  /** Cuts the circuit now, in both directions, and makes the peer reset its client. */
  abort(): void {
    this.#over('cut', ABORT_FLAGS);
  }

  /**
   * The controller has taken the circuit down. When everything up to the peer's end is here it is still delivered, otherwise the
   * circuit is cut.
   */
  unrouted(): void {
    if (this.#state === 'closed' || this.#unroutedByController) return;
    this.#unroutedByController = true;
    this.#giveUpSending();
    this.#localEnded = true;
    if (this.#state === 'waiting' || !(this.#peerFinished || this.#receive.holdsEnd)) {
      this.#over('cut');
      return;
    }
    this.#waitAtMost();
    this.#deliver();
    this.#peerEnded ||= this.#peerFinished;
    this.#closeIfDone();
  }

  // From the forwarder -----------------------------------------------------------------------------------------------------

  sendPayload(payload: Payload): boolean {
    if (this.#state === 'closed' || this.#unroutedByController) return true;
    if (payload.isFromTerminator === (this.role === 'terminator')) {
      this.#components.metrics.droppedPayload(); // it came back to where it was sent
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

  sendAcknowledgement(acknowledgement: Acknowledgement): boolean {
    if (this.#state !== 'open' || acknowledgement.isFromTerminator === (this.role === 'terminator')) return true;
    const now = this.#components.clock.monotonic();
    this.lastReceived = now;
    this.#components.metrics.acknowledgementReceived();
    if (this.#send.acknowledge(acknowledgement, now) && this.#localEnded) this.#waitAtMost();
    this.#closeIfDone();
    return true;
  }

  sendControl(frame: Frame): boolean {
    const isQuestion = traceRouteStep(frame).isRequest;
    if (!isQuestion && isAnswerOfEnd(frame)) this.lastReceived = this.#components.clock.monotonic(); // the check of liveness asks
    if (this.#components.client.onControl?.(frame) || !isQuestion) return true;
    const answer = traceRouteAnswer(frame, {
      hopType: this.hopType,
      hopId: this.address,
      now: this.#components.clock.now(),
    });
    return this.#components.forwarder.forwardControl(this.address, answer) === 'sent';
  }

  /** Sends a trace route question or answer of the client along the circuit. */
  forwardTrace(type: ControlMessageType, headers: HeaderEntries): void {
    if (this.#state === 'closed') return;
    this.#components.forwarder.forwardControl(this.address, traceRouteFrame(type, this.circuitId, headers));
  }

  /** This end never refuses a payload for want of room: what does not fit is dropped and sent again by the peer. */
  onceWritable(task: () => void): void {
    setImmediate(task);
  }

  tick(now: number): void {
    if (this.#state === 'waiting') {
      if (now >= this.#startBy) this.abort();
      return;
    }
    this.#send.tick(now);
    if (now >= this.#closeBy) this.#onWaitedEnough();
  }

  // Ending -----------------------------------------------------------------------------------------------------------------

  /** From now on the other side has to make progress: whoever does not read for so long is given up. */
  #waitAtMost(): void {
    this.#closeBy = this.#components.clock.monotonic() + this.#options.maxCloseWaitMs;
  }

  #onWaitedEnough(): void {
    this.#closeBy = Number.POSITIVE_INFINITY;
    if (this.#unroutedByController) {
      this.#over('cut');
      return;
    }
    this.#giveUpSending();
    this.#closeIfDone();
  }

  /** Payloads without an acknowledgement will not get one. */
  #giveUpSending(): void {
    this.#lost ||= this.#send.unacknowledged.bytes > 0;
    this.#send.giveUp();
  }

  #closeIfDone(): void {
    if (!this.#localEnded || !(this.#peerEnded || this.#clientGone)) return;
    if (!this.#send.isEmpty || this.#clientPaused) return;
    if (this.#lost) this.abort();
    else this.#over('complete', PayloadFlag.CircuitEnd);
  }

  /** `lastFlags` go to the peer in a payload that is not repeated when it gets lost: the controller hears of the end as well. */
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
    // A peer from before capabilities gets no answer, only data.
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

  /** The peer has ended twice, so it is gone. After our end that means that it got everything, whatever acknowledgements say. */
  #onPeerClosed(): void {
    if (this.#localEnded) {
      this.#send.giveUp();
      return;
    }
    this.#peerRefuses = true;
    this.#localEnded = true;
    this.#closeBy = this.#components.clock.monotonic() + LAST_ACKNOWLEDGEMENTS;
  }

  /**
   * A circuit end instead of an EOF is how peers end that do not know our capabilities. A terminator has heard them before it
   * sends anything: when it knows EOF and ends without one, its client has failed.
   */
  #isCutBy(): boolean {
    return this.role === 'initiator' && this.#peerKnowsEof && !this.#peerFinished && !this.#clientGone;
  }

  #onPeerRefuses(): void {
    if (this.#peerRefuses) return;
    this.#peerRefuses = true;
    this.#localEnded = true;
    this.#giveUpSending();
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
