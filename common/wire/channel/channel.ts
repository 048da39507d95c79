// A logical channel over one or more underlays: numbering, requests and replies, dispatch by content type, bounded send
// queues, heartbeats. Control channels, links and SDK connections are channels; they differ in lanes and handlers.
//
//   send(message, lane) ──► lane queue ──► least loaded underlay of the lane's type ──► peer
//   frame of any underlay ──► waiting request? ──► raw handler (hot path) ──► message handler

import { asError, ClosedError, describeError, InvariantError, TimeoutError } from '#lib/errors.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { TokenBucket } from '#lib/queue/token-bucket.ts';
import { setOnce } from '#lib/set-once.ts';
import type { Subscription } from '#lib/subscription.ts';
import { onAbort } from '#lib/time/abort.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { FrameLimits } from '../connection/frame-reader.ts';
import type { Underlay } from '../connection/underlay.ts';
import { ProtocolError, RequestFailedError, SendQueueFullError } from '../errors.ts';
import { Frame, forEachHeader, writeSequence } from '../frame.ts';
import { ChannelHeader, ChannelType, ResultHeader } from '../gen/numbers.ts';
import type { FlowId } from '../lanes/fair-queue.ts';
import { DEFAULT_LANE, type LaneMap, type LaneName } from '../lanes/lane-name.ts';
import { type Lane, type LanePolicy, SendLanes } from '../lanes/send-lanes.ts';
import { asReply, Message, resultMessage } from '../message.ts';
import type { PathInspection } from '../path/channel-path.ts';
import type { CongestionChange } from '../path/congestion-choice.ts';
import { ChannelLane, type LaneOwner } from './channel-lane.ts';
import { Heartbeat, type HeartbeatOptions, type HeartbeatPort } from './heartbeat.ts';
import { isWatched, publishMessage } from './message-events.ts';

export interface ChannelOptions {
  /** For logs, for example `control ctrl1`. */
  name: string;
  /** Id that the other end sent. */
  peerId: string;
  connectionId: string;
  io: IoContext;
  log: Log;
  limits: FrameLimits;
  lanes: LaneMap<LanePolicy>;
  heartbeat: HeartbeatOptions;
  /**
   * Keeps the channel open without underlays (a router's grouped control channel redials); otherwise it closes with its
   * last one.
   */
  survivesWithoutUnderlay?: boolean;
  /** Frame handlers copy the parts of a frame that they keep: its memory is reused. For channels of circuits. */
  reuseMemory?: boolean;
  /** Milliseconds after which a write that is still in progress closes its connection; 0 or undefined: no limit. */
  writeTimeout?: number | undefined;
  /** Closes the channel with the last underlay of this type, even if others remain. */
  essentialType?: string;
  /** Lane of heartbeats and of answers to them and to pings, if the default lane carries data that may fill it. */
  answerLane?: LaneName;
  /** Heartbeats probe every underlay; an underlay that stays silent while others answer is closed. */
  probesUnderlays?: boolean;
}

export type MessageHandler = (message: Message) => void;
/**
 * Receives frames without copy and without heartbeat headers; valid only during the call if the channel reuses memory.
 */
export type FrameHandler = (frame: Frame) => void;

export interface RequestOptions {
  /** Milliseconds. */
  timeout: number;
  lane?: LaneName;
  signal?: AbortSignal | undefined;
}

/** ResultHeader.ErrorCode of a peer that rejects because of its load. */
const SERVER_BUSY = 1;
const MAX_WAITERS = 10_000;
/** Unhandled messages before the channel is closed: a burst, and one more after each interval (milliseconds). */
const MAX_FAILURES = 100;
const FAILURE_FORGIVEN = 10_000;
const FAILURES = { burst: MAX_FAILURES, perSecond: 1_000 / FAILURE_FORGIVEN };

interface Waiter {
  resolve(message: Message): void;
  reject(error: Error): void;
}

export class Channel {
  readonly name: string;
  readonly peerId: string;
  readonly connectionId: string;
  /** Resolves once, with the reason or null. */
  readonly closed: Promise<Error | null>;
  readonly #options: ChannelOptions;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #lanes: SendLanes;
  readonly #laneOwner: LaneOwner;
  readonly #underlays = new Set<Underlay>();
  readonly #handlers = new Map<number, MessageHandler>();
  readonly #frameHandlers = new Map<number, FrameHandler>();
  readonly #waiters = new Map<number, Waiter>();
  readonly #heartbeat: Heartbeat<Underlay>;
  readonly #latencies: Listeners<number>;
  readonly #unknownTypes: Listeners<number>;
  readonly #underlayChanges: Listeners<void>;
  #sequence = 0;
  readonly #failures: TokenBucket;
  #isReading = true;
  #isClosed = false;
  readonly #settleClosed: (reason: Error | null) => void;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.name = options.name;
    this.peerId = options.peerId;
    this.connectionId = options.connectionId;
    this.#clock = options.io.clock;
    this.#log = options.log;
    this.#lanes = new SendLanes(
      {
        clock: this.#clock,
        buffers: options.io.buffers,
        underlays: this.#underlays,
        log: this.#log,
        onCongestionChange: (change) => this.#logCongestionChange(change),
        ...(options.probesUnderlays && { ask: (underlay) => this.#heartbeat.ask(underlay) }),
      },
      options.lanes,
    );
    this.#laneOwner = {
      clock: this.#clock,
      lanes: this.#lanes,
      sendFrame: (head, body, lane, flow) => this.#sendFrame(head, body, lane, flow),
    };
    this.#latencies = new Listeners('round trips', this.#log);
    this.#unknownTypes = new Listeners('messages of unknown types', this.#log);
    this.#underlayChanges = new Listeners('connections of a channel', this.#log);
    this.#failures = new TokenBucket(FAILURES, this.#clock.monotonic());
    const { promise, resolve } = Promise.withResolvers<Error | null>();
    this.closed = promise;
    this.#settleClosed = resolve;
    this.#heartbeat = new Heartbeat(this.#clock, this.#heartbeatPort(), options.heartbeat);
    this.#handleOwnTypes();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get underlays(): readonly Underlay[] {
    return [...this.#underlays];
  }

  /** Milliseconds for which an answer to a heartbeat is overdue; 0 if none is. */
  get unanswered(): number {
    return this.#heartbeat.waiting;
  }

  /** The lane of this name, else the default one. */
  lane(name: LaneName = DEFAULT_LANE): ChannelLane {
    return new ChannelLane(this.#laneOwner, this.#lane(name));
  }

  /** Frames have left the path, but did not arrive: the next ones in lanes of flows use another connection. */
  preferNextConnection(): void {
    this.#lanes.preferNext();
  }

  /** Whether the path bounds the bytes that lanes of flows leave to the system. */
  get isPaced(): boolean {
    return this.#lanes.isPaced;
  }

  /** Bytes of a frame of bulk traffic that is short enough for the path; Infinity if it is not paced. */
  get frameLimit(): number {
    return this.#lanes.frameLimit;
  }

  /** The path to the peer; undefined where the system does not tell its state. */
  inspectPath(): PathInspection | undefined {
    return this.#lanes.inspectPath();
  }

  /**
   * Calls `handler`, the only one, for messages of a content type. Set all handlers before adding the first underlay.
   */
  on(contentType: number, handler: MessageHandler): void {
    setOnce(this.#handlers, contentType, handler, this.name);
  }

  /** Like `on`, but without parsing: for circuit traffic. */
  onFrame(contentType: number, handler: FrameHandler): void {
    setOnce(this.#frameHandlers, contentType, handler, this.name);
  }

  /** Calls `listener` with each round trip, in nanoseconds. */
  onLatency(listener: (nanoseconds: number) => void): Subscription {
    return this.#latencies.add(listener);
  }

  /** Calls `listener` with the type of each message that has no handler. */
  onUnknown(listener: (contentType: number) => void): Subscription {
    return this.#unknownTypes.add(listener);
  }

  /** Calls `listener` after each change of the set of underlays. */
  onUnderlays(listener: () => void): Subscription {
    return this.#underlayChanges.add(listener);
  }

  /** Adds a connection whose hello is complete. */
  addUnderlay(underlay: Underlay): void {
    if (this.#isClosed) {
      underlay.close();
      return;
    }
    underlay.type = this.#lanes.knownType(underlay.type);
    this.#underlays.add(underlay);
    this.#heartbeat.add(underlay);
    this.#lanes.update(); // before the peer's first frame, which may be answered
    void underlay.closed.then((reason) => this.#onUnderlayClosed(underlay, reason));
    this.#heartbeat.start();
    if (!this.#isReading) underlay.setReading(false);
    this.#underlayChanges.call();
    const owner = { onFrame: (frame: Frame) => this.receive(frame), onWritable: () => this.#lanes.pump() };
    underlay.start(owner, this.#options);
  }

  /** Pauses or resumes reading. While paused, the peer's frames stay in its own buffers; the channel still sends. */
  setReading(isReading: boolean): void {
    this.#isReading = isReading;
    for (const underlay of this.#underlays) underlay.setReading(isReading);
  }

  /** @throws ClosedError or SendQueueFullError */
  send(message: Message, lane: LaneName = DEFAULT_LANE): void {
    if (this.#isClosed) throw new ClosedError(this.name);
    if (!this.trySend(message, lane)) throw new SendQueueFullError(this.name);
  }

  /** Returns false if the channel is closed or the lane is full. */
  trySend(message: Message, lane: LaneName = DEFAULT_LANE, flow: FlowId = ''): boolean {
    if (this.#isClosed) return false;
    this.#sequence = (this.#sequence + 1) | 0;
    message.sequence = this.#sequence;
    return this.transmit(message, lane, flow);
  }

  /** Messages to the peer that a subclass has dropped or held back. */
  get withheld(): number {
    return 0;
  }

  /** Sends a numbered message. A subclass may record it or hold it back. Returns false if the lane is full. */
  protected transmit(message: Message, lane: LaneName, flow: FlowId = ''): boolean {
    return this.#enqueue(message.encode(), undefined, this.#lane(lane), flow);
  }

  /**
   * Sends a request and waits for its reply. Rejects with TimeoutError, ClosedError, SendQueueFullError or the signal's
   * reason.
   */
  request(message: Message, options: RequestOptions): Promise<Message> {
    if (this.#waiters.size >= MAX_WAITERS) return Promise.reject(new SendQueueFullError(this.name));
    if (options.signal?.aborted) return Promise.reject(asError(options.signal.reason));
    return new Promise((resolve, reject) => {
      const finish = () => {
        timer.cancel();
        ended();
        this.#waiters.delete(message.sequence);
      };
      const fail = (error: Error) => (finish(), reject(error));
      const what = `the answer of ${this.name} to a request of type ${message.contentType}`;
      const timer: Timer = this.#clock.after('channel request', options.timeout, () =>
        fail(new TimeoutError(what, options.timeout)),
      );
      const ended = onAbort(options.signal, fail);
      try {
        this.send(message, options.lane);
        this.#waiters.set(message.sequence, { resolve: (reply) => (finish(), resolve(reply)), reject: fail });
      } catch (error) {
        fail(asError(error));
      }
    });
  }

  /** Like `request`, for requests whose reply is a Result; throws RequestFailedError if the result is a failure. */
  async requestResult(message: Message, options: RequestOptions): Promise<Message> {
    const result = await this.request(message, options);
    if (result.contentType !== ChannelType.Result || !result.bool(ChannelHeader.ResultSuccess)) {
      throw new RequestFailedError(
        result.body.toString() || `${this.name} rejected a request of type ${message.contentType}`,
        { retriable: result.uint32(ResultHeader.ErrorCode) === SERVER_BUSY },
      );
    }
    return result;
  }

  /** Sends `answer` as the reply to `request`; returns false if it could not be queued. */
  reply(request: Message, answer: Message, lane: LaneName = DEFAULT_LANE): boolean {
    return this.trySend(asReply(request, answer), lane);
  }

  /** Closes all underlays: at once with a reason; without one, queued frames are still written. */
  close(reason: Error | null = null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#heartbeat.stop();
    if (!reason) this.#lanes.flush();
    for (const underlay of this.#underlays) underlay.close(reason);
    this.#underlays.clear();
    for (const waiter of [...this.#waiters.values()]) waiter.reject(new ClosedError(this.name, { cause: reason }));
    this.#lanes.clear();
    this.#settleClosed(reason);
  }

  #lane(name: LaneName): Lane {
    const lane = this.#lanes.get(name);
    if (!lane) throw new InvariantError(`${this.name} has no lane ${name}`);
    return lane;
  }

  #sendFrame(head: Buffer, body: Buffer | undefined, lane: Lane, flow: FlowId): boolean {
    if (this.#isClosed) return false;
    this.#sequence = (this.#sequence + 1) | 0;
    writeSequence(head, this.#sequence);
    return this.#enqueue(head, body, lane, flow);
  }

  #enqueue(head: Buffer, body: Buffer | undefined, lane: Lane, flow: FlowId): boolean {
    const watched = isWatched() ? new Frame(Buffer.concat(body ? [head, body] : [head])) : undefined;
    const isAccepted = this.#lanes.enqueue(head, body, lane, flow);
    if (watched && isAccepted) this.#publish('out', watched);
    return isAccepted;
  }

  #publish(direction: 'in' | 'out', frame: Frame): void {
    publishMessage({ channel: this.name, peerId: this.peerId, direction, frame });
  }

  /** Handles a frame of an underlay. A subclass may record it or hold it back. */
  protected receive(frame: Frame): void {
    if (isWatched()) this.#publish('in', this.#kept(frame));
    const raw = this.#frameHandlers.get(frame.contentType);
    try {
      if (raw) raw(this.#withoutHeartbeat(frame));
      else this.#onMessage(Message.fromFrame(this.#kept(frame)));
    } catch (error) {
      this.failed(frame.contentType, error);
    }
    this.#lanes.onInput(frame.bytes.length);
  }

  #kept(frame: Frame): Frame {
    return this.#options.reuseMemory ? frame.copy() : frame;
  }

  /**
   * A message could not be handled. Handlers that go on after they return call it, others throw. The message is
   * dropped; a peer that keeps sending such messages loses the channel.
   */
  failed(contentType: number, error: unknown): void {
    if (this.isClosed) return;
    this.#log.warn({ channel: this.name, contentType, error: describeError(error) }, 'message could not be handled');
    if (this.#failures.take(this.#clock.monotonic()) === undefined)
      this.close(new ProtocolError(`${this.name} sent more than ${MAX_FAILURES} messages that could not be handled`));
  }

  #onMessage(message: Message): void {
    message.maxFields = this.#options.limits.maxFields;
    const asked = message.uint64(ChannelHeader.Heartbeat);
    const answered = message.uint64(ChannelHeader.HeartbeatResponse);
    const arrived = message.uint64(ChannelHeader.HeartbeatReceived);
    if (asked !== undefined || answered !== undefined) this.#heartbeat.received({ asked, answered, arrived });
    const replyFor = message.replyFor;
    const waiter = replyFor === undefined ? undefined : this.#waiters.get(replyFor);
    if (waiter) {
      waiter.resolve(message);
      return;
    }
    const handler = this.#handlers.get(message.contentType);
    if (handler) handler(message);
    else if (message.contentType !== ChannelType.Heartbeat && message.contentType !== ChannelType.Result) {
      this.#log.debug({ channel: this.name, contentType: message.contentType }, 'message of unknown type dropped');
      this.#unknownTypes.call(message.contentType);
    }
  }

  /** Any message may carry heartbeat headers. They are removed here: the next hop must not see them. */
  #withoutHeartbeat(frame: Frame): Frame {
    let asked: bigint | undefined;
    let answered: bigint | undefined;
    forEachHeader(frame.bytes, frame.bodyOffset, (key, start, end) => {
      if (end - start !== 8) return;
      if (key === ChannelHeader.Heartbeat) asked = frame.bytes.readBigUInt64LE(start);
      else if (key === ChannelHeader.HeartbeatResponse) answered = frame.bytes.readBigUInt64LE(start);
    });
    if (asked === undefined && answered === undefined) return frame;
    this.#heartbeat.received({ asked, answered });
    const message = Message.fromFrame(frame);
    message.headers.delete(ChannelHeader.Heartbeat);
    message.headers.delete(ChannelHeader.HeartbeatResponse);
    return new Frame(message.encode());
  }

  #heartbeatPort(): HeartbeatPort<Underlay> {
    const port: HeartbeatPort<Underlay> = {
      send: (message: Message) => void this.trySend(message, this.#options.answerLane),
      onLatency: (nanoseconds: number) => this.#latencies.call(nanoseconds),
      onOneWay: (milliseconds: number | undefined) => this.#lanes.noteOneWay(milliseconds),
      onSilent: (reason: Error) => this.close(reason),
    };
    if (!this.#options.probesUnderlays) return port;
    return {
      ...port,
      sendOver: (message, underlay) => this.#write(message, underlay),
      onSilentConnection: (underlay) => this.#closeSilent(underlay),
    };
  }

  #logCongestionChange({ name, lossShare, refused }: CongestionChange): void {
    const facts = { channel: this.name, congestionControl: name, lostPercent: Number((100 * lossShare).toFixed(2)) };
    if (refused === undefined) this.#log.info(facts, 'a path with losses changes its congestion control');
    else {
      const remedy = `load the kernel module tcp_${name}, and add ${name} to net.ipv4.tcp_allowed_congestion_control`;
      this.#log.info({ ...facts, reason: refused, remedy }, 'losses limit a path');
    }
  }

  /** Circuits retransmit over the other connections. */
  #closeSilent(underlay: Underlay): void {
    const { type, remoteAddress: remote } = underlay;
    this.#log.warn({ channel: this.name, underlay: type, remote }, 'silent connection of a channel closed');
    underlay.close(new ClosedError(`the silent connection to ${remote}`));
  }

  #write(message: Message, underlay: Underlay): void {
    this.#sequence = (this.#sequence + 1) | 0;
    message.sequence = this.#sequence;
    underlay.write(message.encode());
  }

  #handleOwnTypes(): void {
    const { answerLane } = this.#options;
    this.on(ChannelType.Ping, (message) => void this.reply(message, resultMessage(true, 'ok'), answerLane));
    this.on(ChannelType.Latency, (message) => void this.reply(message, resultMessage(true), answerLane));
  }

  #onUnderlayClosed(underlay: Underlay, reason: Error | null): void {
    this.#heartbeat.remove(underlay);
    if (!this.#underlays.delete(underlay) || this.#isClosed) return;
    const { essentialType, survivesWithoutUnderlay } = this.#options;
    const essentialGone =
      essentialType !== undefined && ![...this.#underlays].some((other) => other.type === essentialType);
    if (!survivesWithoutUnderlay && (this.#underlays.size === 0 || essentialGone)) {
      this.close(reason);
      return;
    }
    this.#underlayChanges.call();
    this.#lanes.update();
  }
}
