// Heartbeats of one channel: sends requests at intervals, answers those of the other side, measures the round trip, and
// decides that the peer's program is silent (reference fact: control channel, section 1.8): on the whole channel, or on
// one of its connections. Independent of sockets: it works on a small port.
//
// Connections are probed in turn, and the echoed timestamp names the connection of the request. The answer may arrive
// over any connection.

import { TimeoutError } from '#lib/errors.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { ChannelHeader, ChannelType } from '../gen/numbers.ts';
import { encodeUint64 } from '../header-values.ts';
import { Message } from '../message.ts';

export interface HeartbeatOptions {
  /** Milliseconds between requests; 0 only answers. */
  readonly sendInterval: number;
  /** Milliseconds between checks of the state. */
  readonly checkInterval: number;
  /** Milliseconds without an answer after which the channel is closed; 0 or less: never. */
  readonly closeUnresponsiveTimeout: number;
  /** Milliseconds of grace for the first answer. */
  readonly initialGrace?: number;
}

/** Reference fact: control channel defaults. */
export const DEFAULT_HEARTBEAT: HeartbeatOptions = {
  sendInterval: 10_000,
  checkInterval: 1_000,
  closeUnresponsiveTimeout: 30_000,
};

const MILLISECONDS = 1e-6;

/** Timestamps are nanoseconds; their last digits carry the number of a connection. No timestamp is in the future. */
const STAMP_STEP = 1_000n;
/**
 * Consecutive requests, one per heartbeat interval, after which a connection counts as silent: half a minute with the
 * interval of links.
 */
const MAX_UNANSWERED = 3;

/** For peers that send requests but receive none. */
export const ONLY_ANSWERS: HeartbeatOptions = { sendInterval: 0, checkInterval: 0, closeUnresponsiveTimeout: 0 };

export interface HeartbeatPort<Connection = never> {
  /** Sends an answer, or a request of a channel whose connections are not probed. */
  send(message: Message): void;
  /** Probes the connections: sends a request over one of them. */
  sendOver?(message: Message, connection: Connection): void;
  /** Receives a round trip in nanoseconds. */
  onLatency(nanoseconds: number): void;
  /**
   * Receives the time at which a request arrived, by the peer's clock, minus the time at which it left, by the own
   * clock: milliseconds. The clocks differ by a constant, so only changes have a meaning. Undefined if the peer sends
   * no time.
   */
  onOneWay?(milliseconds: number | undefined): void;
  /** Called once; the owner should close the channel with `reason`. */
  onSilent(reason: Error): void;
  /** A connection left its last requests unanswered while another one answered; the owner should close it. */
  onSilentConnection?(connection: Connection): void;
}

interface Probe {
  readonly index: number;
  /** Consecutive requests without an answer. */
  unanswered: number;
}

/** Values of the heartbeat headers, which any message may carry. */
export interface HeartbeatValues {
  readonly asked?: bigint | undefined;
  readonly answered?: bigint | undefined;
  /** When the request that is answered arrived, by the peer's clock. */
  readonly arrived?: bigint | undefined;
}

export class Heartbeat<Connection = never> {
  readonly #clock: Clock;
  readonly #port: HeartbeatPort<Connection>;
  /** By connection; whose turn is next comes first. */
  readonly #probes = new Map<Connection, Probe>();
  #nextIndex = 0;
  readonly #options: HeartbeatOptions;
  #timer: Timer | undefined;
  #lastAsked = Number.NEGATIVE_INFINITY;
  #lastAnswer = 0;
  #askedSinceAnswer: number | undefined;

  constructor(clock: Clock, port: HeartbeatPort<Connection>, options: HeartbeatOptions = DEFAULT_HEARTBEAT) {
    this.#clock = clock;
    this.#port = port;
    this.#options = options;
  }

  /** Milliseconds since the oldest unanswered request; 0 if there is none. */
  get waiting(): number {
    return this.#askedSinceAnswer === undefined ? 0 : this.#clock.monotonic() - this.#askedSinceAnswer;
  }

  add(connection: Connection): void {
    this.#probes.set(connection, { index: this.#nextIndex, unanswered: 0 });
    this.#nextIndex = (this.#nextIndex + 1) % Number(STAMP_STEP);
  }

  remove(connection: Connection): void {
    this.#probes.delete(connection);
  }

  /** Sends a further request over a connection: its answer tells how long bytes wait on the way there. */
  ask(connection: Connection): void {
    const now = this.#clock.nowNanoseconds();
    const probe = this.#probes.get(connection);
    this.#port.sendOver?.(request(probe ? stampOf(probe, now) : now), connection);
  }

  /** Starts the timer; a second call has no effect. */
  start(): void {
    if (this.#timer || this.#options.sendInterval <= 0) return;
    this.#lastAnswer = this.#clock.monotonic() + (this.#options.initialGrace ?? 0);
    this.#timer = this.#clock.every('heartbeat', this.#options.checkInterval, () => this.#check());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Handles the heartbeat headers of a received message. */
  received(values: HeartbeatValues): void {
    if (values.answered !== undefined) this.#onAnswer(values.answered, values.arrived);
    if (values.asked !== undefined)
      this.#port.send(
        new Message(ChannelType.Heartbeat, [
          [ChannelHeader.HeartbeatResponse, encodeUint64(values.asked)],
          [ChannelHeader.HeartbeatReceived, encodeUint64(this.#clock.nowNanoseconds())],
        ]),
      );
  }

  #onAnswer(stamp: bigint, arrived: bigint | undefined): void {
    this.#lastAnswer = this.#clock.monotonic();
    this.#askedSinceAnswer = undefined;
    const index = Number(stamp % STAMP_STEP);
    for (const probe of this.#probes.values()) if (probe.index === index) probe.unanswered = 0;
    this.#port.onOneWay?.(arrived === undefined ? undefined : Number(arrived - stamp) * MILLISECONDS);
    const latency = Number(this.#clock.nowNanoseconds() - stamp);
    if (latency >= 0) this.#port.onLatency(latency);
  }

  #check(): void {
    const now = this.#clock.monotonic();
    const limit = this.#options.closeUnresponsiveTimeout;
    if (limit > 0 && now - this.#lastAnswer > limit) {
      this.stop();
      this.#port.onSilent(new TimeoutError('the answer to a heartbeat', limit));
      return;
    }
    // Each probed connection gets one request per interval, if there are enough ticks.
    const count = this.#port.sendOver ? Math.max(1, this.#probes.size) : 1;
    if (now - this.#lastAsked < this.#options.sendInterval / count) return;
    this.#lastAsked = now;
    this.#askedSinceAnswer ??= now;
    if (this.#port.sendOver) this.#probeNext();
    else this.#port.send(request(this.#clock.nowNanoseconds()));
  }

  #probeNext(): void {
    const [first] = this.#probes;
    if (!first) return;
    const [connection, probe] = first;
    // Moves the connection to the end.
    this.#probes.delete(connection);
    this.#probes.set(connection, probe);
    const hasAnswering = () => this.#probes.values().some(({ unanswered }) => unanswered < 2);
    const isSilent = probe.unanswered >= MAX_UNANSWERED && hasAnswering();
    probe.unanswered++;
    if (isSilent) this.#port.onSilentConnection?.(connection);
    else this.ask(connection);
  }
}

function stampOf({ index }: Probe, now: bigint): bigint {
  return (now / STAMP_STEP - 1n) * STAMP_STEP + BigInt(index);
}

/** Creates a request for the peer to echo `stamp`. */
function request(stamp: bigint): Message {
  return new Message(ChannelType.Heartbeat, [[ChannelHeader.Heartbeat, encodeUint64(stamp)]]);
}
