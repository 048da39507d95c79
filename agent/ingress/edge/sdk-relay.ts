// The end of a circuit whose SDK client does its own flow control: payloads and acknowledgements pass between forwarder
// and client, and the router adds and removes the connection id (reference fact: edge, section 5.3).

import type { Clock } from '#lib/clock.ts';
import { Frame, frameWithHeader, removeHeader } from '#wire/frame.ts';
import { ChannelHeader, ControlMessageType, SdkHeader, XgressHeader } from '#wire/gen/numbers.ts';
import { decodeInt32, encodeInt32, encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { type CircuitEnd, PayloadOrigin } from '../../forwarder/destination.ts';
import type { Forwarder } from '../../forwarder/forwarder.ts';
import { isAnswerOfEnd } from '../../forwarder/trace-route.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import type { CircuitRole, XgressMetrics } from '../../xgress/xgress-metrics.ts';
import type { ClientEnd, SdkLink } from './client-end.ts';
import { type RejectionDetail, stateClosed } from './sdk-messages.ts';

export interface SdkRelayComponents {
  clock: Clock;
  forwarder: Forwarder;
  link: SdkLink;
  /** A payload of the client could not be forwarded. */
  onUnroutable(circuitId: string): void;
  /** The client ended the circuit or disconnected: the controller removes the circuit. */
  abandon(circuitId: string, role: CircuitRole): void;
  /** Called once, when neither side uses the connection any longer. */
  onGone(): void;
}

export interface SdkRelayInit {
  readonly connectionId: number;
  readonly circuitId: string;
  readonly address: string;
  readonly role: CircuitRole;
}

export class SdkRelay implements CircuitEnd, ClientEnd {
  readonly connectionId: number;
  readonly circuitId: string;
  readonly address: string;
  lastReceived: number;
  /** Bytes since the last usage report, in each direction. */
  readonly transferred = { fromClient: 0, toClient: 0 };
  readonly role: CircuitRole;
  readonly #components: SdkRelayComponents;
  readonly #idEntry: Buffer;
  readonly #waiting: (() => void)[] = [];
  #release: (() => void) | undefined;
  #metrics: XgressMetrics | undefined;
  #isOver = false;

  constructor(components: SdkRelayComponents, init: SdkRelayInit) {
    this.#components = components;
    this.connectionId = init.connectionId;
    this.circuitId = init.circuitId;
    this.address = init.address;
    this.role = init.role;
    this.#idEntry = encodeUint32(init.connectionId);
    this.lastReceived = components.clock.monotonic();
  }

  /** Registers this end at the forwarder. */
  open(ends: CircuitEnds): void {
    if (this.#isOver) return;
    this.#metrics = ends.metrics;
    this.#release = ends.openRelay(this);
  }

  // From the forwarder -----------------------------------------------------------------------------------------------------

  acceptPayload(payload: Payload, origin: PayloadOrigin): boolean {
    if (this.#isOver) return true;
    this.lastReceived = this.#components.clock.monotonic();
    const { dataLength } = payload;
    const isAccepted = this.#send(payload.bytes);
    if (isAccepted) {
      this.transferred.toClient += dataLength;
      this.#metrics?.received(this.role, dataLength);
    } else if (origin !== PayloadOrigin.Xgress) this.#metrics?.relayDropped('payload');
    return isAccepted;
  }

  acceptAcknowledgement(acknowledgement: Acknowledgement): boolean {
    if (this.#isOver) return true;
    this.lastReceived = this.#components.clock.monotonic();
    const isAccepted = this.#send(acknowledgement.bytes);
    if (!isAccepted) this.#metrics?.relayDropped('acknowledgement');
    return isAccepted;
  }

  acceptControl(frame: Frame): boolean {
    if (this.#isOver) return true;
    if (frame.body[0] !== ControlMessageType.TraceRouteResponse) return this.#send(frame.bytes);
    if (isAnswerOfEnd(frame)) this.lastReceived = this.#components.clock.monotonic();
    // Missing in answers to the liveness check. Another client may send one of any length.
    const asked = decodeInt32(frame.header(XgressHeader.UserValue));
    if (asked === undefined) return true;
    const answer = Message.fromFrame(frame);
    answer.headers.set(ChannelHeader.ReplyFor, encodeInt32(asked));
    return this.#send(answer.encode());
  }

  onceWritable(task: () => void): void {
    if (this.#isOver) setImmediate(task);
    else if (this.#waiting.push(task) === 1) this.#components.link.onceWritable(this);
  }

  /** The controller removed the circuit. */
  unrouted(): void {
    this.#end('xgress unrouted');
  }

  // From the client --------------------------------------------------------------------------------------------------------

  onPayload(frame: Frame): void {
    const payload = Payload.fromFrame(removeHeader(frame, SdkHeader.ConnectionId));
    this.transferred.fromClient += payload.dataLength;
    this.#metrics?.sent(this.role, payload.dataLength);
    const outcome = this.#components.forwarder.forwardPayload(this.address, payload, PayloadOrigin.Relayed);
    if (outcome === 'unroutable') this.#components.onUnroutable(this.circuitId);
  }

  onAcknowledgement(frame: Frame): void {
    const acknowledgement = Acknowledgement.fromFrame(removeHeader(frame, SdkHeader.ConnectionId));
    this.#components.forwarder.forwardAcknowledgement(this.address, acknowledgement);
  }

  /** A trace route request carries the sequence number under which the client waits for the answer. */
  onControl(frame: Frame): void {
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

  onLost(): void {
    this.#abandon();
  }

  cut(reason: string, detail: RejectionDetail): void {
    if (this.#isOver) return;
    this.#components.link.send(stateClosed(this.connectionId, reason, detail));
    this.#abandon();
  }

  onLinkWritable(): void {
    for (const task of this.#waiting.splice(0)) task();
  }

  #send(bytes: Buffer): boolean {
    const { head, body } = frameWithHeader(bytes, SdkHeader.ConnectionId, this.#idEntry);
    return this.#components.link.trySendData(head, body);
  }

  #abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#components.abandon(this.circuitId, this.role);
    this.#gone();
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#components.link.send(stateClosed(this.connectionId, reason));
    this.#gone();
  }

  #gone(): void {
    this.#release?.();
    for (const task of this.#waiting.splice(0)) setImmediate(task);
    this.#components.onGone();
  }
}
