// Heartbeats of one channel: asks every interval, answers what the other side asks, measures the round trip and says when
// the other side has been silent for too long (reference fact: control channel, section 1.8). Knows nothing of sockets: it
// works on a three-method port.

import type { Clock, Timer } from '#lib/clock.ts';
import { TimeoutError } from '#lib/errors.ts';
import { ChannelHeader, ChannelType } from './gen/numbers.ts';
import { encodeUint64 } from './header-values.ts';
import { Message } from './message.ts';

export interface HeartbeatOptions {
  /** Milliseconds between questions; 0 asks nothing and only answers. */
  readonly sendInterval: number;
  /** Milliseconds between looks at the state. */
  readonly checkInterval: number;
  /** Milliseconds without an answer after which the channel is closed; 0 or less never closes. */
  readonly closeUnresponsiveTimeout: number;
  /** Milliseconds of grace before the first answer is missed. */
  readonly initialGrace?: number;
}

/** reference fact: control channel defaults. */
export const DEFAULT_HEARTBEAT: HeartbeatOptions = {
  sendInterval: 10_000,
  checkInterval: 1_000,
  closeUnresponsiveTimeout: 30_000,
};

/** For peers that ask and are not asked. */
export const ONLY_ANSWERS: HeartbeatOptions = { sendInterval: 0, checkInterval: 0, closeUnresponsiveTimeout: 0 };

export interface HeartbeatPort {
  /** Connections that `ask` takes in turn; each is asked once per interval, where the ticks suffice. */
  readonly connections?: number;
  /** Sends a question, perhaps over a connection of its choice. */
  ask?(now: bigint): void;
  send(message: Message): void;
  /** A question came back. */
  onAnswer?(stamp: bigint): void;
  /** A round trip in nanoseconds was measured. */
  onLatency(nanoseconds: number): void;
  /** Called once; the channel should be closed with `reason`. */
  onSilent(reason: Error): void;
}

/** Values of the two heartbeat headers as they arrive with any message. */
export interface HeartbeatValues {
  readonly asked?: bigint | undefined;
  readonly answered?: bigint | undefined;
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

  /** Milliseconds since the oldest question without an answer, 0 when there is none. */
  get waiting(): number {
    return this.#askedSinceAnswer === undefined ? 0 : this.#clock.monotonic() - this.#askedSinceAnswer;
  }

  /** Starts the timer; a second call does nothing. */
  start(): void {
    if (this.#timer || this.#options.sendInterval <= 0) return;
    this.#lastAnswer = this.#clock.monotonic() + (this.#options.initialGrace ?? 0);
    this.#timer = this.#clock.every('heartbeat', this.#options.checkInterval, () => this.#check());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** The heartbeat headers of a received message. */
  received(values: HeartbeatValues): void {
    if (values.answered !== undefined) this.#onAnswer(values.answered);
    if (values.asked !== undefined)
      this.#port.send(
        new Message(ChannelType.Heartbeat, [[ChannelHeader.HeartbeatResponse, encodeUint64(values.asked)]]),
      );
  }

  #onAnswer(stamp: bigint): void {
    this.#lastAnswer = this.#clock.monotonic();
    this.#askedSinceAnswer = undefined;
    this.#port.onAnswer?.(stamp);
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

/** Asks the peer to send `stamp` back. */
export function question(stamp: bigint): Message {
  return new Message(ChannelType.Heartbeat, [[ChannelHeader.Heartbeat, encodeUint64(stamp)]]);
}
