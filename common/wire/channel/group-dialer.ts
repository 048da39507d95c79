// Keeps a grouped channel at its configured number of connections per type: dials missing ones one at a time, and waits
// longer after each failure (reference facts: link, section 1.4; control channel, section 1.7). A short-lived
// connection counts as a failure, so that a peer which accepts and closes is not dialed in a tight loop.

import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import { onAbort } from '#lib/time/abort.ts';
import { type BackoffPolicy, nextBackoff } from '#lib/time/backoff.ts';
import type { Clock } from '#lib/time/clock.ts';
import { remedyOf } from '../connection/dial.ts';
import type { Underlay } from '../connection/underlay.ts';
import type { Channel } from './channel.ts';

export interface GroupDialerOptions {
  channel: Channel;
  /** Wanted connections per type, in the order in which missing ones are dialed. */
  wanted: Readonly<Record<string, number>>;
  /** Milliseconds before the first further dial. */
  startDelay: number;
  /** Minimum milliseconds between two dials. */
  minInterval: number;
  backoff: BackoffPolicy;
  /** Dials one more connection and completes its hello; this class adds it to the channel. */
  dial(type: string, signal: AbortSignal): Promise<Underlay>;
  clock: Clock;
  random: Random;
  log: Log;
}

/** A connection with a shorter life counts as a failed dial. */
const SHORT_LIFE = 30_000;

export class GroupDialer {
  readonly #options: GroupDialerOptions;
  readonly #abort = new AbortController();
  #wait = 0;
  #wake: (() => void) | undefined;

  constructor(options: GroupDialerOptions) {
    this.#options = options;
  }

  /** Runs until the channel is closed. */
  start(): void {
    const { channel, log } = this.#options;
    void channel.closed.then(() => this.#abort.abort(new Error('the channel is closed')));
    for (const underlay of channel.underlays) this.#watch(underlay);
    background(log, 'group dialer', () => this.#run());
  }

  /** Stops dialing; existing connections stay. */
  stop(): void {
    this.#abort.abort(new Error('the group dialer was stopped'));
  }

  async #run(): Promise<void> {
    const { channel, clock, startDelay, minInterval } = this.#options;
    const signal = this.#abort.signal;
    if (!(await this.#sleep(startDelay))) return;
    while (!channel.isClosed && !signal.aborted) {
      const missing = this.#missing();
      if (missing === undefined) {
        await this.#untilWoken();
        continue;
      }
      const begun = clock.monotonic();
      if (!(await this.#sleep(this.#wait))) return;
      try {
        const underlay = await this.#options.dial(missing, signal);
        channel.addUnderlay(underlay);
        this.#watch(underlay);
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(missing, error);
      }
      if (!(await this.#sleep(Math.max(0, minInterval - (clock.monotonic() - begun))))) return;
    }
  }

  #missing(): string | undefined {
    const present = this.#options.channel.underlays;
    return Object.entries(this.#options.wanted).find(
      ([type, count]) => present.filter((underlay) => underlay.type === type).length < count,
    )?.[0];
  }

  #watch(underlay: Underlay): void {
    const born = this.#options.clock.monotonic();
    void underlay.closed.then(() => {
      if (this.#options.clock.monotonic() - born < SHORT_LIFE) this.#lengthen();
      else this.#wait = 0;
      this.#wake?.();
    });
  }

  #failed(type: string, error: unknown): void {
    this.#lengthen();
    this.#options.log.info(
      {
        channel: this.#options.channel.name,
        underlay: type,
        retryIn: Math.round(this.#wait),
        error: describeError(error),
        ...remedyOf(error),
      },
      'further connection of a channel failed',
    );
  }

  #lengthen(): void {
    this.#wait = nextBackoff(this.#options.backoff, this.#wait, this.#options.random);
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wake = undefined;
        ended();
        resolve();
      };
      this.#wake = wake;
      const ended = onAbort(this.#abort.signal, wake);
    });
  }

  /** Returns false if the channel was closed in the meantime. */
  async #sleep(milliseconds: number): Promise<boolean> {
    if (this.#abort.signal.aborted) return false;
    if (milliseconds <= 0) return true;
    try {
      await this.#options.clock.sleep(milliseconds, { name: 'group dialer', signal: this.#abort.signal });
      return true;
    } catch {
      return false; // only a closed channel rejects
    }
  }
}
