// The end of a circuit whose SDK client does its own flow control: payloads and acknowledgements pass between forwarder
// and client, and the router adds and removes the connection id (reference fact: edge, section 5.3).
//
//   open ──the peer closed, or removed after its end──► reading ──the client ends, or reads nothing for a while──► over
//     └──removed earlier, or the client ends────────────────────────────────────────────────────────────────────►┘
//
// A client acknowledges payloads that its application has not read, and drops them when its connection is closed. The
// router therefore leaves it open after the end of the peer, until the client has read everything and ends it.

import type { Clock, Timer } from '#lib/time/clock.ts';
import { Frame, frameWithHeader, removeHeader } from '#wire/frame.ts';
import { ChannelHeader, ControlMessageType, PayloadFlag, SdkHeader, XgressHeader } from '#wire/gen/numbers.ts';
import { decodeInt32, encodeInt32, encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { type CircuitEnd, PayloadOrigin } from '../../../forwarder/destination.ts';
import type { Forwarder } from '../../../forwarder/forwarder.ts';
import { isAnswerOfEnd } from '../../../forwarder/trace-route.ts';
import type { CircuitEnds } from '../../../xgress/circuit-ends.ts';
import { isEnd, isFin } from '../../../xgress/end-marks.ts';
import type { XgressOptions } from '../../../xgress/options.ts';
import { Transferred } from '../../../xgress/transferred.ts';
import type { CircuitRole, XgressMetrics } from '../../../xgress/xgress-metrics.ts';
import { type RejectionDetail, stateClosed, writeFailed } from '../clients/sdk-messages.ts';
import type { ClientEnd, SdkLink } from './client-end.ts';
import { PeerArrivals } from './peer-arrivals.ts';
import { RelayWindow } from './relay-window.ts';

export interface SdkRelayComponents {
  clock: Clock;
  forwarder: Forwarder;
  link: SdkLink;
  options: Pick<XgressOptions, 'maxCloseWaitMs'>;
  /** A payload of the client could not be forwarded. */
  onUnroutable(circuitId: string): void;
  /** The client ended the circuit or disconnected: the controller removes the circuit. */
  abandon(circuitId: string, role: CircuitRole): void;
  /** The router closed the connection: the client will close the circuit, too. */
  onCut(): void;
  /** Called once, when neither side uses the connection any longer. */
  onGone(): void;
}

export interface SdkRelayInit {
  readonly connectionId: number;
  readonly circuitId: string;
  readonly address: string;
  readonly role: CircuitRole;
}

type RelayState =
  | 'open'
  /** The circuit was removed after the peer had ended: the client may still read. */
  | 'reading'
  | 'over';

const UNROUTED = 'xgress unrouted';

export class SdkRelay implements CircuitEnd, ClientEnd {
  readonly connectionId: number;
  readonly circuitId: string;
  readonly address: string;
  lastReceived: number;
  readonly transferred = new Transferred();
  readonly role: CircuitRole;
  readonly #components: SdkRelayComponents;
  readonly #idEntry: Buffer;
  readonly #window: RelayWindow;
  readonly #waiting: (() => void)[] = [];
  #release: (() => void) | undefined;
  #metrics: XgressMetrics | undefined;
  #state: RelayState = 'open';
  #hasEnded = false;
  /** The client sends no further data: it sent EOF, or the last payload. */
  #hasEndedData = false;
  /** Sequence of the last payload with an end of the peer's direction, once the client has it. */
  #endSequence: number | undefined;
  readonly #arrivals = new PeerArrivals();
  #patience: Timer | undefined;

  constructor(components: SdkRelayComponents, init: SdkRelayInit) {
    this.#components = components;
    this.connectionId = init.connectionId;
    this.circuitId = init.circuitId;
    this.address = init.address;
    this.role = init.role;
    this.#idEntry = encodeUint32(init.connectionId);
    this.#window = new RelayWindow(components.clock);
    this.lastReceived = components.clock.monotonic();
  }

  get circuitEnd(): CircuitEnd {
    return this;
  }

  get isSettled(): boolean {
    const { areComplete, isPeerGone } = this.#arrivals;
    return areComplete && (isPeerGone || this.#hasEndedData) && this.#window.bytes === 0;
  }

  /** The client sent the last payload of its connection: it closes the circuit, too. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Registers this end at the forwarder. The circuit of an end that is already over is abandoned. */
  open(ends: CircuitEnds): void {
    if (!this.#isOpen) {
      this.#components.abandon(this.circuitId, this.role);
      return;
    }
    this.#metrics = ends.metrics;
    this.#release = ends.openRelay(this);
  }

  // From the forwarder ------------------------------------------------------------------------------------------------

  acceptPayload(payload: Payload, origin: PayloadOrigin): boolean {
    if (!this.#isOpen) return true;
    this.lastReceived = this.#components.clock.monotonic();
    const { dataLength } = payload;
    const waits = origin === PayloadOrigin.Xgress || origin === PayloadOrigin.Retransmission;
    const isAccepted = this.#send(payload.bytes, waits);
    if (isAccepted) {
      if (endsData(payload)) this.#endSequence = Math.max(this.#endSequence ?? 0, payload.sequence);
      this.#arrivals.add(payload);
      this.#window.delivered();
      this.transferred.toClient += dataLength;
      this.#metrics?.received(this.role, dataLength);
      this.#checkSettled();
    } else if (origin !== PayloadOrigin.Xgress) this.#metrics?.relayDropped('payload');
    return isAccepted;
  }

  acceptAcknowledgement(acknowledgement: Acknowledgement): boolean {
    if (!this.#isOpen) return true;
    this.lastReceived = this.#components.clock.monotonic();
    this.#window.acknowledged(acknowledgement.sequences);
    const isAccepted = this.#send(acknowledgement.bytes);
    if (!isAccepted) this.#metrics?.relayDropped('acknowledgement');
    this.#checkSettled();
    return isAccepted;
  }

  acceptControl(frame: Frame): boolean {
    if (!this.#isOpen) return true;
    if (frame.body[0] !== ControlMessageType.TraceRouteResponse) return this.#send(frame.bytes);
    if (isAnswerOfEnd(frame)) this.lastReceived = this.#components.clock.monotonic();
    // Missing in answers to the liveness check. Another client may send one of any length.
    const asked = decodeInt32(frame.header(XgressHeader.UserValue));
    if (asked === undefined) return true;
    const answer = Message.fromFrame(frame);
    answer.headers.set(ChannelHeader.ReplyFor, encodeInt32(asked));
    return this.#send(answer.encode());
  }

  onceWritable(_circuitId: string, task: () => void): void {
    if (!this.#isOpen) setImmediate(task);
    else if (this.#waiting.push(task) === 1) this.#components.link.onceWritable(this);
  }

  /** The controller removed the circuit, or its other end on this router has closed. */
  unrouted(): void {
    if (!this.#isOpen) return;
    if (this.#endSequence === undefined) this.#close(UNROUTED);
    else this.#leaveReading(this.#endSequence);
  }

  // From the client ---------------------------------------------------------------------------------------------------

  onPayload(frame: Frame): void {
    const payload = Payload.fromFrame(removeHeader(frame, SdkHeader.ConnectionId));
    if (payload.has(PayloadFlag.CircuitEnd)) this.#hasEnded = true;
    if (isEnd(payload)) this.#hasEndedData = true;
    if (!this.#isOpen) return;
    const { sequence, dataLength } = payload;
    if (!this.#window.admits(sequence, dataLength)) {
      this.#metrics?.droppedPayload();
      this.#components.link.exceeded(frame.bytes.length);
      return;
    }
    this.transferred.fromClient += dataLength;
    this.#metrics?.sent(this.role, dataLength);
    const outcome = this.#components.forwarder.forwardPayload(this.address, payload, PayloadOrigin.Relayed);
    if (outcome === 'sent') this.#window.sent(sequence, dataLength);
    else if (outcome === 'unroutable') this.#components.onUnroutable(this.circuitId);
  }

  onAcknowledgement(frame: Frame): void {
    if (!this.#isOpen) {
      this.#waitForClient();
      return;
    }
    if (!this.#window.takeAnswer()) {
      this.#components.link.exceeded(frame.bytes.length);
      return;
    }
    const acknowledgement = Acknowledgement.fromFrame(removeHeader(frame, SdkHeader.ConnectionId));
    const pressure = this.#components.link.backPressure(this.connectionId);
    if (pressure > 0) acknowledgement.addReceiveBuffer(pressure);
    this.#components.forwarder.forwardAcknowledgement(this.address, acknowledgement);
  }

  /** A trace route request carries the sequence number under which the client waits for the answer. */
  onControl(frame: Frame): void {
    if (!this.#isOpen) return;
    if (!this.#window.takeOther()) {
      this.#components.link.exceeded(frame.bytes.length);
      return;
    }
    const message = Message.fromFrame(frame);
    message.headers.delete(SdkHeader.ConnectionId);
    if (frame.body[0] === ControlMessageType.TraceRoute)
      message.headers.set(XgressHeader.UserValue, encodeInt32(frame.sequence));
    this.#components.forwarder.forwardControl(this.address, new Frame(message.encode()));
  }

  /** The client closed the circuit. */
  onClosed(): void {
    this.#abandon();
  }

  onLost(): boolean {
    this.#abandon();
    return false;
  }

  cut(reason: string, detail: RejectionDetail): void {
    if (this.#state === 'over') return;
    this.#sendClosed(reason, detail);
    this.#abandon();
  }

  onLinkWritable(): void {
    for (const task of this.#waiting.splice(0)) task();
  }

  /** `waits`: the sender keeps a rejected frame. */
  #send(bytes: Buffer, waits = false): boolean {
    const { head, body } = frameWithHeader(bytes, SdkHeader.ConnectionId, this.#idEntry);
    return this.#components.link.trySendData(this.connectionId, head, body, { waits });
  }

  get #isOpen(): boolean {
    return this.#state === 'open';
  }

  /**
   * A peer that closed the circuit after the end of its data is gone: the circuit is over here, too. Nothing would end
   * it otherwise, since clients wait for acknowledgements that such a peer does not send.
   */
  #checkSettled(): void {
    if (!this.#isOpen || !this.isSettled) return;
    if (this.#arrivals.isPeerGone && this.#endSequence !== undefined) {
      const hasCircuit = this.#release !== undefined;
      this.#leaveReading(this.#endSequence);
      if (hasCircuit) this.#components.abandon(this.circuitId, this.role);
    } else this.#components.forwarder.settled(this.circuitId);
  }

  /** The client may read what it has received, but not send: nobody would acknowledge it. */
  #leaveReading(endSequence: number): void {
    this.#state = 'reading';
    this.#releaseCircuit();
    const { connectionId, circuitId, role } = this;
    this.#components.link.send(writeFailed({ connectionId, circuitId, sequence: endSequence + 1, to: role }));
    this.#waitForClient();
  }

  /** Clients acknowledge when their applications have read, so an acknowledgement restarts the wait. */
  #waitForClient(): void {
    if (this.#state !== 'reading') return;
    const { clock, options } = this.#components;
    this.#patience?.cancel();
    this.#patience = clock.after('client reads on', options.maxCloseWaitMs, () => this.#close(UNROUTED));
  }

  #abandon(): void {
    if (this.#state === 'over') return;
    const hasCircuit = this.#isOpen && this.#release !== undefined;
    this.#state = 'over';
    if (hasCircuit) this.#components.abandon(this.circuitId, this.role);
    this.#gone();
  }

  #close(reason: string): void {
    this.#state = 'over';
    this.#sendClosed(reason);
    this.#gone();
  }

  #sendClosed(reason: string, detail?: RejectionDetail): void {
    this.#components.link.send(stateClosed(this.connectionId, reason, detail));
    this.#components.onCut();
  }

  #gone(): void {
    this.#patience?.cancel();
    this.#releaseCircuit();
    this.#components.onGone();
  }

  #releaseCircuit(): void {
    this.#release?.();
    for (const task of this.#waiting.splice(0)) setImmediate(task);
  }
}

/** The peer sends no data after this payload. Peers that do not know EOF half-close with a FIN, without data. */
function endsData(payload: Payload): boolean {
  return isEnd(payload) || (payload.dataLength === 0 && isFin(payload.headers()));
}
