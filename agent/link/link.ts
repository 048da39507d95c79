// An established link to another router: sends circuit traffic of the forwarder, passes received frames to it, and
// counts both. It has one channel (single, grouped) or two (split: payloads and acknowledgements apart).

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Channel } from '#wire/channel/channel.ts';
import type { ChannelLane, WaitingInspection } from '#wire/channel/channel-lane.ts';
import type { Frame } from '#wire/frame.ts';
import { XgressType } from '#wire/gen/numbers.ts';
import { DEFAULT_LANE, LaneName } from '#wire/lanes/lane-name.ts';
import type { PathInspection } from '#wire/path/channel-path.ts';
import { Acknowledgement, circuitIdOf, Payload } from '#wire/xgress-frames.ts';
import { type Destination, PayloadOrigin } from '../forwarder/destination.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { LinkMetrics } from './link-metrics.ts';

export const LinkUnderlay = Object.freeze({ Default: 'link.default', Ack: 'link.ack' } as const);
export const ACK_LANE = new LaneName('acknowledgements');
export const PAYLOAD_LANE = DEFAULT_LANE;
/** Waiting circuits in an inspection. */
const MAX_INSPECTED = 20;
/** Apart from circuit traffic, which may fill its lanes for minutes: a peer closes a link without answers. */
export const HEARTBEAT_LANE = new LaneName('heartbeats');

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
  readonly #payloadLane: ChannelLane;
  readonly #ackLane: ChannelLane;

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
    this.#payloadLane = init.payloads.lane(PAYLOAD_LANE);
    this.#ackLane = init.acknowledgements.lane(ACK_LANE);
    this.#stopGrowing = init.stopGrowing;
    for (const channel of this.channels) this.#receiveFrom(channel);
    const { forwarder } = components;
    this.#payloadLane.shareByOwner((circuitId) => forwarder.ownerOf(String(circuitId), this.address));
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
    return Math.max(this.#payloadLane.oldestWait, this.#ackLane.oldestWait);
  }

  /** The path of payloads; undefined where the system does not tell its state. */
  get path(): PathInspection | undefined {
    return this.#payloads.inspectPath();
  }

  /** Payloads that wait for the path, and the circuits with the most bytes among them. */
  get waiting(): WaitingInspection | undefined {
    return this.#payloadLane.inspectWaiting(MAX_INSPECTED);
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
  }

  // From the forwarder ------------------------------------------------------------------------------------------------

  /** Payloads of local ends wait there: one of each circuit is enough for its turn. */
  acceptPayload(payload: Payload, origin: PayloadOrigin): boolean {
    const { circuitId } = payload;
    const isLocal = origin === PayloadOrigin.Xgress || origin === PayloadOrigin.Retransmission;
    if (!isLocal) payload.writeStamp(this.#components.clock.now());
    if (origin === PayloadOrigin.Retransmission) this.#payloads.preferNextConnection();
    const accepted =
      !(isLocal && this.#payloadLane.waitingBytes(circuitId) > 0) &&
      this.#payloadLane.trySendFrame(payload.bytes, undefined, circuitId);
    if (accepted) this.#components.metrics.sent(payload.bytes.length);
    // A local end keeps its rejected data, so this is not counted as a drop.
    else if (origin !== PayloadOrigin.Xgress) this.#components.metrics.dropped(origin);
    return accepted;
  }

  acceptAcknowledgement(acknowledgement: Acknowledgement): boolean {
    const accepted = this.#ackLane.trySendFrame(acknowledgement.bytes, undefined);
    if (accepted) this.#components.metrics.sent(acknowledgement.bytes.length);
    return accepted;
  }

  acceptControl(frame: Frame): boolean {
    return this.#payloadLane.trySendFrame(frame.bytes, undefined, circuitIdOf(frame));
  }

  onceWritable(circuitId: string, task: () => void): void {
    if (this.isClosed) setImmediate(task);
    else this.#payloadLane.onceWritable(circuitId, task);
  }

  deliveredBefore(circuitId: string): number | undefined {
    return this.#payloadLane.deliveredBefore(circuitId);
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
      const pressure = this.#payloadLane.backPressure(acknowledgement.circuitId);
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
