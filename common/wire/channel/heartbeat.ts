// Heartbeats of one channel: sends requests at intervals, answers those of the other side, measures the round trip, and
// reports a silent peer (reference fact: control channel, section 1.8). Independent of sockets: it works on a
// three-method port.

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

/** For peers that send requests but receive none. */
export const ONLY_ANSWERS: HeartbeatOptions = { sendInterval: 0, checkInterval: 0, closeUnresponsiveTimeout: 0 };

export interface HeartbeatPort {
  /** Number of connections that `ask` uses in turn; each gets one request per interval, if there are enough ticks. */
  readonly connections?: number;
  /** Sends a request, over a connection of its choice. */
  ask?(now: bigint): void;
  send(message: Message): void;
  /** The answer to a request arrived. */
  onAnswer?(stamp: bigint): void;
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
}

/** Values of the heartbeat headers, which any message may carry. */
export interface HeartbeatValues {
  readonly asked?: bigint | undefined;
  readonly answered?: bigint | undefined;
  /** When the request that is answered arrived, by the peer's clock. */
  readonly arrived?: bigint | undefined;
}

export class Heartbeat {
  readonly #clock: Clock;
  readonly #port: HeartbeatPort;
  readonly #options: HeartbeatOptions;
  #timer: Timer | undefined;
  #lastAsked = Number.NEGATIVE_INFINITY;
  #lastAnswer = 0;
  #askedSinceAnswer: number | undefined;

  constructor(clock: Clock, port: HeartbeatPort, options: HeartbeatOptions = DEFAULT_HEARTBEAT) {
    this.#clock = clock;
    this.#port = port;
    this.#options = options;
  }

  /** Milliseconds since the oldest unanswered request; 0 if there is none. */
  get waiting(): number {
    return this.#askedSinceAnswer === undefined ? 0 : this.#clock.monotonic() - this.#askedSinceAnswer;
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
    this.#port.onAnswer?.(stamp);
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
    if (now - this.#lastAsked < this.#options.sendInterval / Math.max(1, this.#port.connections ?? 1)) return;
    this.#lastAsked = now;
    this.#askedSinceAnswer ??= now;
    const stamp = this.#clock.nowNanoseconds();
    if (this.#port.ask) this.#port.ask(stamp);
    else this.#port.send(question(stamp));
  }
}

/** Creates a request for the peer to echo `stamp`. */
export function question(stamp: bigint): Message {
  return new Message(ChannelType.Heartbeat, [[ChannelHeader.Heartbeat, encodeUint64(stamp)]]);
}
