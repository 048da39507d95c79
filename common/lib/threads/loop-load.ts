// How busy the event loop of a thread is, and how late it comes: since the start of the thread, and in the last
// complete interval, which shows what is busy now. Until the first one is complete, it counts from its beginning.

import type { performance } from 'node:perf_hooks';
import type { Clock, Timer } from '../time/clock.ts';
import { type LoopDelay, type LoopDelays, overdue } from './loop-delay.ts';

/** Milliseconds. */
const INTERVAL = 5_000;

export interface LoopInspection {
  /** Share of the time since its start in which the event loop had work. */
  readonly utilization: number;
  /** The same in the last complete interval of five seconds. */
  readonly recentUtilization: number;
  /** How late the event loop came to what was due, in the same interval, and what is overdue now. */
  readonly loopDelayMs: LoopDelay;
}

type ReadLoop = typeof performance.eventLoopUtilization;
type Recent = Omit<LoopInspection, 'utilization'>;

export interface LoopLoadOptions {
  readonly clock: Clock;
  /** Reads the load of the thread. */
  readonly loop: ReadLoop;
  readonly delays: LoopDelays;
  /** Monotonic nanoseconds. */
  readonly nanoseconds?: () => bigint;
}

export class LoopLoad {
  readonly #loop: ReadLoop;
  readonly #delays: LoopDelays;
  readonly #nanoseconds: () => bigint;
  readonly #timer: Timer;
  #begin: ReturnType<ReadLoop>;
  #complete: Recent | undefined;

  constructor({ clock, loop, delays, nanoseconds = process.hrtime.bigint }: LoopLoadOptions) {
    this.#loop = loop;
    this.#delays = delays;
    this.#nanoseconds = nanoseconds;
    this.#begin = loop();
    this.#timer = clock.every('load of a thread', INTERVAL, () => this.#endInterval());
  }

  inspect(): LoopInspection {
    const { recentUtilization, loopDelayMs } = this.#complete ?? this.#current();
    const standsStill = rounded(overdue(this.#delays, this.#nanoseconds()));
    return {
      utilization: rounded(this.#loop().utilization),
      recentUtilization,
      loopDelayMs: { ...loopDelayMs, longest: Math.max(loopDelayMs.longest, standsStill) },
    };
  }

  close(): void {
    this.#timer.cancel();
  }

  #endInterval(): void {
    this.#complete = this.#current();
    this.#begin = this.#loop();
    this.#delays.histogram.reset();
  }

  #current(): Recent {
    const { histogram } = this.#delays;
    const milliseconds = (microseconds: number) => rounded(microseconds / 1_000);
    return {
      recentUtilization: rounded(this.#loop(this.#loop(), this.#begin).utilization),
      loopDelayMs: {
        median: milliseconds(histogram.percentile(50)),
        p99: milliseconds(histogram.percentile(99)),
        longest: milliseconds(histogram.max),
      },
    };
  }
}

/** To a thousandth. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
