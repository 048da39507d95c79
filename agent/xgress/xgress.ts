// One end of a circuit on this router: converts the bytes of a client to payloads and back, with acknowledgement,
// retransmission, half close and back pressure (reference facts: link, sections 2.3 and 2.4).
//
//   client ──write──► PayloadSender ─payloads──► forwarder ─► … network … ─► peer
//   client ◄─deliver─ PayloadReceiver ◄─payloads─ forwarder ◄─ … network … ◄─ peer  (acknowledgements go the other way)
//
// xgress-states.ts has the states. Each direction ends separately: by `end()` and by the peer's EOF. The circuit is
// complete when both have ended and all payloads are acknowledged. A circuit that closes earlier was cut: both clients
// are reset, so that neither mistakes partial data for all of it (see end-marks.ts).

import { formatDuration } from '#lib/time/duration.ts';
import type { Frame } from '#wire/frame.ts';
import { type ControlMessageType, PayloadFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import type { HeaderEntries } from '#wire/message.ts';
import type { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import type { CircuitEnd } from '../forwarder/destination.ts';
import {
  isAnswerOfEnd,
  traceRouteAnswer,
  traceRouteFrame,
  traceRouteQuestion,
  traceRouteStep,
} from '../forwarder/trace-route.ts';
import { CloseWait } from './close-wait.ts';
import { ABORT_FLAGS, FIN_HEADERS, isAbort, isEnd, isFin } from './end-marks.ts';
import type { XgressOptions } from './options.ts';
import { PayloadReceiver } from './payload-receiver.ts';
import { PayloadSender } from './payload-sender.ts';
import type { Ticking } from './ticker.ts';
import { Transferred } from './transferred.ts';
import type { CircuitOutcome } from './xgress-client.ts';
import type { OwnRight, XgressComponents, XgressInit } from './xgress-components.ts';
import type { CircuitRole } from './xgress-metrics.ts';
import {
  hasPeerEnded,
  inspectionFlags,
  isEnding,
  isReceiving,
  isRouted,
  isSending,
  nextXgressState,
  type XgressEvent,
  type XgressState,
} from './xgress-states.ts';

/** Bit 8: understands EOF. The reference defines no other bit. */
const CAPABILITY_EOF = 0x100;
const CAPABILITIES = Buffer.from([0, 0, 1, 0]);
const EMPTY = Buffer.alloc(0);
/** Milliseconds to wait for acknowledgements that the peer's last payload has overtaken. */
const LAST_ACKNOWLEDGEMENTS = 1_000;

export class Xgress implements CircuitEnd, Ticking {
  readonly circuitId: string;
  readonly address: string;
  readonly role: CircuitRole;
  readonly hopType: string;
  readonly right: OwnRight | undefined;
  lastReceived: number;
  /** The identity to which this traffic is attributed in usage reports. */
  usageTags: Readonly<Record<string, string>> = {};
  readonly transferred = new Transferred();
  readonly #components: XgressComponents;
  readonly #options: XgressOptions;
  readonly #send: PayloadSender;
  readonly #receive: PayloadReceiver;
  #state: XgressState = 'waiting';
  #peerKnowsEof = false;
  /** The FIN was sent without an end of the circuit. */
  #owesEnd = false;
  /** The initiator's start was answered. Answers are not limited, so that there is only one. */
  #isStarted = false;
  /** The peer rejected further data: later data from the client is lost. */
  #peerRejectsData = false;
  /** All data of the peer was delivered: its FIN or its end arrived in order. */
  #peerFinished = false;
  /** Some data of the client will never arrive. */
  #lost = false;
  #startBy = Number.POSITIVE_INFINITY;
  readonly #closeWait: CloseWait;

  constructor(components: XgressComponents, init: XgressInit) {
    this.#components = components;
    this.#options = init.options;
    this.#closeWait = new CloseWait(init.options.maxCloseWaitMs);
    this.circuitId = init.circuitId;
    this.address = init.address;
    this.role = init.role;
    this.hopType = init.hopType;
    this.right = init.right;
    this.#send = new PayloadSender(components, {
      ...init,
      onWritable: () => this.canWrite && components.client.writable(),
      onExhausted: () => this.abort(),
    });
    this.#receive = new PayloadReceiver(components, init);
    this.lastReceived = components.clock.monotonic();
  }

  get blockedBy(): 'window' | 'peer' | undefined {
    return this.#send.blockedBy;
  }

  get unsentAcks(): number {
    return this.#receive.unsentAcks;
  }

  /** For circuit inspections, with the reference's field names. */
  inspect() {
    const now = this.#components.clock.monotonic();
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
      flags: inspectionFlags(this.#state).toString(2),
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

  get isSettled(): boolean {
    return isEnding(this.#state) && this.#send.isEmpty;
  }

  /**
   * Call after registering this end at the forwarder. The initiator opens the circuit; the terminator waits for the
   * initiator.
   */
  start(): void {
    if (this.#state !== 'waiting') return;
    this.#components.ticker.add(this);
    if (this.role === 'initiator') {
      this.#on('start');
      this.#send.send(PayloadFlag.CircuitStart, EMPTY, new Map([[PayloadHeader.Capabilities, CAPABILITIES]]));
      this.#components.client.writable();
    } else if (this.#options.circuitStartTimeout > 1_000) {
      this.#startBy = this.#components.clock.monotonic() + this.#options.circuitStartTimeout;
    }
  }

  /** Whether the client may write now. */
  get canWrite(): boolean {
    return isSending(this.#state) && this.#send.admits;
  }

  /**
   * Whether there is room for a message of this many bytes; if not, `writable` is called when the client may try again.
   * Reads of a stream always fit.
   */
  fits(bytes: number): boolean {
    return !isSending(this.#state) || this.#send.fits(bytes);
  }

  /**
   * Bytes of a write that leaves room for other circuits; a stream should be sent in such pieces. It is not the limit
   * of this destination: that of the next one.
   */
  get writeLimit(): number {
    return this.#send.payloadLimit;
  }

  /**
   * Sends a copy of the client's data. Returns false if the client must wait for `writable` before the next write; this
   * data was still accepted. Ignored after `end` and `abort`.
   */
  write(data: Buffer, headers?: ReadonlyMap<number, Buffer>): boolean {
    this.#lost ||= this.#peerRejectsData;
    if (!isSending(this.#state)) return false;
    this.transferred.fromClient += data.length;
    this.#send.send(0, data, headers);
    if (!this.canWrite) this.#send.block();
    return this.canWrite;
  }

  /**
   * The client sends no further data. `fin` adds the half close that applications see, for streams. Peers that do not
   * know EOF get the FIN only: a circuit end would end their direction too.
   */
  end(options: { fin?: boolean } = {}): void {
    if (!isSending(this.#state)) return;
    this.#on('endSending');
    if (options.fin) this.#send.send(0, EMPTY, FIN_HEADERS);
    this.#owesEnd = options.fin === true && !this.#peerKnowsEof;
    if (!this.#owesEnd) this.#send.send(this.#peerKnowsEof ? PayloadFlag.Eof : PayloadFlag.CircuitEnd);
    this.#send.startClosing();
    this.#limitWait();
    this.#closeIfDone();
  }

  /**
   * The client disconnected: the peer may stop sending, and received data is dropped. Ignored unless the client has
   * ended its direction: `end` or `abort` comes first.
   */
  rejectData(): void {
    if (this.#state === 'waiting' || this.#state === 'closed' || isSending(this.#state)) return;
    const isNews = this.#state === 'sendingEnded';
    this.#on('discard');
    if (isNews) {
      this.#sendOwedEnd(PayloadFlag.CircuitEnd);
      this.#send.send(PayloadFlag.WriteFailed);
    }
    this.#limitWait();
    this.resume();
    this.#closeIfDone();
  }

  /** The client accepts data again after `deliver` returned false. */
  resume(): void {
    if (!this.#receive.resume()) return;
    this.#deliver();
    if (!isRouted(this.#state)) this.#limitWait();
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
    if (!isRouted(this.#state)) return;
    this.#stopSending();
    if (this.#state === 'waiting' || !(this.#peerFinished || this.#receive.holdsEnd)) {
      this.#over('cut');
      return;
    }
    this.#on('unroute');
    this.#components.client.rejected?.();
    this.#limitWait();
    this.#deliver();
  }

  // From the forwarder ------------------------------------------------------------------------------------------------

  acceptPayload(payload: Payload): boolean {
    if (!isRouted(this.#state)) return true;
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
    if (!this.#receive.receive(payload)) return true;
    if (payload.has(PayloadFlag.WriteFailed)) this.#onPeerRejectsData();
    this.#deliver();
    if (this.isSettled) this.#components.forwarder.settled(this.circuitId);
    return true;
  }

  acceptAcknowledgement(acknowledgement: Acknowledgement): boolean {
    if (this.#state === 'waiting' || this.#state === 'closed') return true;
    if (acknowledgement.isFromTerminator === (this.role === 'terminator')) return true;
    const now = this.#components.clock.monotonic();
    this.lastReceived = now;
    this.#components.metrics.acknowledgementReceived();
    if (this.#send.acknowledge(acknowledgement, now) && !isSending(this.#state)) this.#limitWait();
    this.#closeIfDone();
    if (this.isSettled) this.#components.forwarder.settled(this.circuitId);
    return true;
  }

  acceptControl(frame: Frame): boolean {
    const { clock, client, forwarder } = this.#components;
    const isQuestion = traceRouteStep(frame).isRequest;
    if (!isQuestion && isAnswerOfEnd(frame)) this.lastReceived = clock.monotonic(); // answers the liveness check
    if (client.onControl?.(frame) || !isQuestion) return true;
    const answer = traceRouteAnswer(frame, { hopType: this.hopType, hopId: this.address, now: clock.now() });
    return forwarder.forwardControl(this.address, answer) === 'sent';
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
  onceWritable(_circuitId: string, task: () => void): void {
    setImmediate(task);
  }

  tick(now: number): void {
    if (this.#state === 'waiting') {
      if (now >= this.#startBy) this.abort();
      return;
    }
    this.#send.tick(now);
    if (this.#closeWait.isOver(now)) this.#onCloseTimeout();
    else if (this.#awaitsPeer && this.#closeWait.takeQuestion(now)) this.#askPeer();
  }

  // Ending ------------------------------------------------------------------------------------------------------------

  #on(event: XgressEvent): void {
    this.#state = nextXgressState(this.#state, event);
  }

  /** Limits the wait for the other side: an end without a sign of life for that long is closed. */
  #limitWait(): void {
    this.#closeWait.start(this.#components.clock.monotonic());
  }

  /** The peer has not acknowledged everything, and may still do so. */
  get #awaitsPeer(): boolean {
    return isRouted(this.#state) && !this.#send.isEmpty && !this.#peerRejectsData;
  }

  /** Every live end answers a trace route, also while its client reads nothing. */
  #askPeer(): void {
    this.#components.forwarder.forwardControl(this.address, traceRouteQuestion(this.circuitId));
  }

  #onCloseTimeout(): void {
    if (this.#awaitsPeer && this.#closeWait.includes(this.lastReceived)) {
      this.#limitWait(); // the peer is alive: its client pauses
      return;
    }
    this.#closeWait.stop();
    if (!isRouted(this.#state)) {
      this.#over('cut');
    } else if (this.#awaitsPeer && !isEnding(this.#state)) {
      this.abort(); // the peer is gone, or it would wait for the discarded payloads forever
    } else {
      this.#stopSending();
      this.#closeIfDone();
    }
  }

  /** Discards unacknowledged payloads: their acknowledgements can no longer arrive. */
  #stopSending(): void {
    this.#lost ||= this.#send.unacknowledged.bytes > 0;
    this.#send.discard();
  }

  #closeIfDone(): void {
    if (!isEnding(this.#state) || !this.#send.isEmpty || this.#receive.isPaused) return;
    if (this.#lost) this.abort();
    else this.#over('complete', PayloadFlag.CircuitEnd);
  }

  /** Sends `lastFlags` to the peer in a payload that is not retransmitted if lost: the controller is notified too. */
  #over(outcome: CircuitOutcome, lastFlags?: number): void {
    if (this.#state === 'closed') return;
    const hasPeer = isRouted(this.#state);
    this.#on('close');
    this.#receive.close();
    this.#send.close(hasPeer ? lastFlags : undefined);
    this.#components.ticker.delete(this);
    this.#components.client.closed(outcome);
    this.#components.onClosed();
  }

  /**
   * Sends the end that a FIN has left out, unless the peer is no longer reachable. If both directions have ended, the
   * end of the circuit follows by itself: a peer that has closed would not acknowledge another payload.
   */
  #sendOwedEnd(flag: PayloadFlag): void {
    if (!this.#owesEnd || !isRouted(this.#state)) return;
    this.#owesEnd = false;
    this.#send.send(flag);
  }

  // Receiving ---------------------------------------------------------------------------------------------------------

  #onStart(): void {
    this.#on('start');
    this.#startBy = Number.POSITIVE_INFINITY;
  }

  #deliver(): void {
    for (let payload = this.#receive.next(); payload; payload = this.#receive.next()) {
      this.#consume(payload);
      this.#receive.release(payload);
    }
    // Without the controller nothing follows a FIN: the circuit end may still have been on its way.
    if (this.#peerFinished && this.#state === 'delivering') this.#on('endReceiving');
    this.#closeIfDone();
  }

  #consume(payload: Payload): void {
    const headers = payload.headers();
    this.#onCapabilities(headers?.get(PayloadHeader.Capabilities), payload.has(PayloadFlag.CircuitStart));
    const hasContent =
      !payload.has(PayloadFlag.CircuitStart) && (payload.dataLength > 0 || headers?.has(PayloadHeader.EdgeFlags));
    if (hasContent && isReceiving(this.#state)) {
      this.transferred.toClient += payload.dataLength;
      this.#receive.handOver(payload, headers);
    } else {
      this.#receive.skip(payload);
    }
    this.#peerFinished ||= isFin(headers);
    if (isEnd(payload) && !this.isClosed) this.#onPeerEnded(payload);
  }

  #onCapabilities(value: Buffer | undefined, isStart: boolean): void {
    if (value?.length === 4) this.#peerKnowsEof = (value.readUInt32BE() & CAPABILITY_EOF) !== 0;
    if (this.#peerKnowsEof) this.#sendOwedEnd(PayloadFlag.Eof);
    if (!isStart || this.role !== 'terminator' || this.#isStarted) return;
    this.#isStarted = true;
    // A peer without capabilities gets data, but no capabilities in return.
    if (value) this.#send.send(0, EMPTY, new Map([[PayloadHeader.Capabilities, CAPABILITIES]]));
    this.#components.client.writable();
  }

  #onPeerEnded(payload: Payload): void {
    if (payload.has(PayloadFlag.CircuitEnd) && this.#isCutBy()) {
      this.#over('cut');
      return;
    }
    if (!hasPeerEnded(this.#state)) {
      this.#on('endReceiving');
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
    if (!isSending(this.#state)) {
      this.#send.discard();
      return;
    }
    this.#peerRejectsData = true;
    this.#on('endSending');
    this.#components.client.rejected?.();
    this.#closeWait.start(this.#components.clock.monotonic(), LAST_ACKNOWLEDGEMENTS);
  }

  /**
   * Peers that do not know our capabilities send a circuit end instead of an EOF. A terminator knows them before it
   * sends anything. So if it supports EOF and ends without one, its client has failed.
   */
  #isCutBy(): boolean {
    return this.role === 'initiator' && this.#peerKnowsEof && !this.#peerFinished && isReceiving(this.#state);
  }

  #onPeerRejectsData(): void {
    if (this.#peerRejectsData) return;
    this.#peerRejectsData = true;
    if (isSending(this.#state)) this.#on('endSending');
    this.#stopSending();
    this.#components.client.rejected?.();
  }
}
