// An established link to another router: sends circuit traffic of the forwarder, passes received frames to it, and
// counts both. It has one channel (single, grouped) or two (split: payloads and acknowledgements apart).

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Channel, WaitingInspection } from '#wire/channel/channel.ts';
import type { Frame } from '#wire/frame.ts';
import { XgressType } from '#wire/gen/numbers.ts';
import type { FlowId } from '#wire/lanes/fair-queue.ts';
import type { PathInspection } from '#wire/path/channel-path.ts';
import { Acknowledgement, circuitIdOf, Payload } from '#wire/xgress-frames.ts';
import { type Destination, PayloadOrigin } from '../forwarder/destination.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { LinkMetrics } from './link-metrics.ts';

export const LinkUnderlay = Object.freeze({ Default: 'link.default', Ack: 'link.ack' } as const);
export const ACK_LANE = 'ack';
export const PAYLOAD_LANE = 'default';
/** Waiting circuits in an inspection. */
const MAX_INSPECTED = 20;
/** Apart from circuit traffic, which may fill its lanes for minutes: a peer closes a link without answers. */
export const HEARTBEAT_LANE = 'heartbeat';

export interface LinkComponents {
  clock: Clock;
  log: Log;
  forwarder: Forwarder;
  metrics: LinkMetrics;
  /** The forwarder has no route for a payload from this link. */
  onUnroutable(circuitId: string): void;
}

export interface LinkInit {
  id: string;
  key: string;
  /** Id of the other router. */
  peerId: string;
  peerVersion: string;
  iteration: number;
  dialed: boolean;
  /** `tls` */
  protocol: string;
  /** The address that was dialed, or, on the accepting side, the listen address. */
  address: string;
  payloads: Channel;
  /** The same channel as `payloads` unless the link is split. */
  acknowledgements: Channel;
  /** Stops dialing further connections; set only for links that this router dialed. */
  stopGrowing?: () => void;
}

export interface LinkConnection {
  type: string;
  localAddr: string;
  remoteAddr: string;
}

export class Link implements Destination {
  readonly id: string;
  readonly key: string;
  readonly peerId: string;
  readonly peerVersion: string;
  readonly iteration: number;
  readonly dialed: boolean;
  readonly protocol: string;
  readonly dialAddress: string;
  /** Resolves when the link is closed, with the reason. */
  readonly closed: Promise<Error | null>;
  /** Increases with every change of the connections. */
  connectionsIteration = 1;
  readonly isLink = true;
  /** Number of duplicates that this link has survived. */
  rejectedDuplicates = 0;
  readonly #components: LinkComponents;
  readonly #payloads: Channel;
  readonly #acks: Channel;
  readonly #stopGrowing: (() => void) | undefined;
  /** By circuit: ends that wait until their last payload has left. */
  readonly #waiting = new Map<FlowId, (() => void)[]>();

  constructor(components: LinkComponents, init: LinkInit) {
    this.#components = components;
    this.id = init.id;
    this.key = init.key;
    this.peerId = init.peerId;
    this.peerVersion = init.peerVersion;
    this.iteration = init.iteration;
    this.dialed = init.dialed;
    this.protocol = init.protocol;
    this.dialAddress = init.address;
    this.#payloads = init.payloads;
    this.#acks = init.acknowledgements;
    this.#stopGrowing = init.stopGrowing;
    for (const channel of this.channels) this.#receiveFrom(channel);
    const { forwarder } = components;
    this.#payloads.shareByOwner(PAYLOAD_LANE, (circuitId) => forwarder.ownerOf(String(circuitId), this.address));
    this.#payloads.onDrained(PAYLOAD_LANE, (circuitId) => this.#wake(circuitId));
    this.closed = Promise.race(this.channels.map((channel) => channel.closed));
    void this.closed.then((reason) => this.close(reason));
  }

  /** The forwarder's key for this link. */
  get address(): string {
    return this.id;
  }

  get isSplit(): boolean {
    return this.#payloads !== this.#acks;
  }

  get channels(): Channel[] {
    return this.isSplit ? [this.#payloads, this.#acks] : [this.#payloads];
  }

  get isClosed(): boolean {
    return this.channels.some((channel) => channel.isClosed);
  }

  /** The connections that carry the link, as reported to controllers. */
  get connections(): LinkConnection[] {
    const describe = (channel: Channel, fallback: string) =>
      channel.underlays.map((underlay) => ({
        type: underlay.type || fallback,
        localAddr: `tcp:${underlay.localAddress}`,
        remoteAddr: `tcp:${underlay.remoteAddress}`,
      }));
    if (!this.isSplit) return describe(this.#payloads, 'single');
    return [...describe(this.#payloads, 'payload'), ...describe(this.#acks, 'ack')];
  }

  /** Milliseconds that the oldest frame has waited for a connection. */
  get queueTime(): number {
    return Math.max(this.#payloads.oldestWait(PAYLOAD_LANE), this.#acks.oldestWait(ACK_LANE));
  }

  /** The path of payloads; undefined where the system does not tell its state. */
  get path(): PathInspection | undefined {
    return this.#payloads.inspectPath();
  }

  /** Payloads that wait for the path, and the circuits with the most bytes among them. */
  get waiting(): WaitingInspection | undefined {
    return this.#payloads.inspectWaiting(PAYLOAD_LANE, MAX_INSPECTED);
  }

  /** Milliseconds for which an answer of the other router is overdue; 0 if none is. */
  get unanswered(): number {
    return Math.max(...this.channels.map((channel) => channel.unanswered));
  }

  /** The link is no longer wanted: it only delivers frames in flight. */
  stopGrowing(): void {
    this.#stopGrowing?.();
  }

  close(reason: Error | null = null): void {
    for (const channel of this.channels) channel.close(reason);
    for (const circuitId of [...this.#waiting.keys()]) this.#wake(circuitId);
  }

  #wake(circuitId: FlowId): void {
    const tasks = this.#waiting.get(circuitId);
    if (!tasks) return;
    this.#waiting.delete(circuitId);
    for (const task of tasks) task();
  }

  // From the forwarder ------------------------------------------------------------------------------------------------

  /** Payloads of local ends wait there: one of each circuit is enough for its turn. */
  acceptPayload(payload: Payload, origin: PayloadOrigin): boolean {
    const { circuitId } = payload;
    const isLocal = origin === PayloadOrigin.Xgress || origin === PayloadOrigin.Retransmission;
    if (!isLocal) payload.writeStamp(this.#components.clock.now());
    if (origin === PayloadOrigin.Retransmission) this.#payloads.preferNextConnection();
    const accepted =
      !(isLocal && this.#payloads.waitingBytes(PAYLOAD_LANE, circuitId) > 0) &&
      this.#payloads.trySendFrame(payload.bytes, undefined, PAYLOAD_LANE, circuitId);
    if (accepted) this.#components.metrics.sent(payload.bytes.length);
    // A local end keeps its rejected data, so this is not counted as a drop.
    else if (origin !== PayloadOrigin.Xgress) this.#components.metrics.dropped(origin);
    return accepted;
  }

  acceptAcknowledgement(acknowledgement: Acknowledgement): boolean {
    const accepted = this.#acks.trySendFrame(acknowledgement.bytes, undefined, ACK_LANE);
    if (accepted) this.#components.metrics.sent(acknowledgement.bytes.length);
    return accepted;
  }

  acceptControl(frame: Frame): boolean {
    return this.#payloads.trySendFrame(frame.bytes, undefined, PAYLOAD_LANE, circuitIdOf(frame));
  }

  onceWritable(circuitId: string, task: () => void): void {
    if (this.isClosed) {
      setImmediate(task);
      return;
    }
    if (this.#payloads.waitingBytes(PAYLOAD_LANE, circuitId) === 0) {
      this.#payloads.onceRoom(PAYLOAD_LANE, circuitId, task);
      return;
    }
    const waiting = this.#waiting.get(circuitId);
    if (waiting) waiting.push(task);
    else this.#waiting.set(circuitId, [task]);
  }

  deliveredBefore(circuitId: string): number | undefined {
    return this.#payloads.deliveredBefore(PAYLOAD_LANE, circuitId);
  }

  /** Whether the path of the link bounds the bytes in flight. */
  get isPaced(): boolean {
    return this.#payloads.isPaced;
  }

  get payloadLimit(): number {
    return this.#payloads.frameLimit;
  }

  // From the network --------------------------------------------------------------------------------------------------

  #receiveFrom(channel: Channel): void {
    const { forwarder, metrics } = this.#components;
    channel.onFrame(XgressType.Payload, (frame) => {
      metrics.received(frame.bytes.length);
      const payload = Payload.fromFrame(frame);
      const outcome = forwarder.forwardPayload(this.id, payload, PayloadOrigin.Forwarded);
      if (outcome === 'unroutable') this.#components.onUnroutable(payload.circuitId);
    });
    // Acknowledgements and controls without a route are dropped without a report: their payloads are reported.
    channel.onFrame(XgressType.Acknowledgement, (frame) => {
      metrics.received(frame.bytes.length);
      const acknowledgement = Acknowledgement.fromFrame(frame);
      const pressure = this.#payloads.backPressure(PAYLOAD_LANE, acknowledgement.circuitId);
      if (pressure > 0) acknowledgement.addReceiveBuffer(pressure);
      forwarder.forwardAcknowledgement(this.id, acknowledgement);
    });
    channel.onFrame(XgressType.Control, (frame) => {
      forwarder.forwardControl(this.id, frame);
    });
    channel.onLatency((nanoseconds) => metrics.latency(nanoseconds));
    void channel.closed.then((reason) => {
      if (reason) this.#components.log.debug({ linkId: this.id, error: describeError(reason) }, 'link channel closed');
    });
  }
}
