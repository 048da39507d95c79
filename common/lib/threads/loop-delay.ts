// How late the event loop of a thread comes to what is due, measured with a timer: the same delay that data and other
// timers have. The timer is frequent while the loop has work. Idle, it fires once a second, so that the thread sleeps.
// Another thread may read the result at any time: it is in shared memory, and costs no messages.

import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';
import type { Clock, Timer } from '../time/clock.ts';

/** Milliseconds between two measurements of a loop that has work, and of an idle one. */
const BUSY_PACE = 20;
const IDLE_PACE = 1_000;
/** Share of the time in which the loop of an idle thread has work at most. */
const IDLE_UTILIZATION = 0.02;
/** The histogram counts microseconds, up to ten minutes. */
const RANGE = { lowest: 1, highest: 600_000_000, figures: 2 };

/** The measurements of a thread, for itself and for others. */
export interface LoopDelays {
  /** Microseconds of each measurement. */
  readonly histogram: RecordableHistogram;
  /** Monotonic nanoseconds, the same in all threads: when the next measurement is due; 0: never. */
  readonly due: BigInt64Array;
}

/** Milliseconds. */
export interface LoopDelay {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

export interface LoopProbeOptions {
  readonly clock: Clock;
  /** Monotonic nanoseconds. */
  readonly nanoseconds?: () => bigint;
  /** The load of this thread. */
  readonly loop?: typeof performance.eventLoopUtilization;
}

/** Measures the loop of this thread. */
export class LoopProbe {
  readonly delays: LoopDelays = {
    histogram: createHistogram(RANGE),
    due: new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)),
  };
  readonly #clock: Clock;
  readonly #nanoseconds: () => bigint;
  readonly #loop: typeof performance.eventLoopUtilization;
  #load: ReturnType<typeof performance.eventLoopUtilization>;
  #timer: Timer | undefined;

  constructor({
    clock,
    nanoseconds = process.hrtime.bigint,
    loop = performance.eventLoopUtilization,
  }: LoopProbeOptions) {
    this.#clock = clock;
    this.#nanoseconds = nanoseconds;
    this.#loop = loop;
    this.#load = loop();
  }

  start(): void {
    if (!this.#timer) this.#arm(BUSY_PACE);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    Atomics.store(this.delays.due, 0, 0n);
  }

  #arm(pace: number): void {
    Atomics.store(this.delays.due, 0, this.#nanoseconds() + BigInt(pace * 1e6));
    this.#timer = this.#clock.after('delay of the event loop', pace, () => this.#measure());
  }

  #measure(): void {
    const late = overdue(this.delays, this.#nanoseconds());
    this.delays.histogram.record(Math.min(RANGE.highest, Math.max(RANGE.lowest, Math.round(late * 1_000))));
    const load = this.#loop();
    const { utilization } = this.#loop(load, this.#load);
    this.#load = load;
    this.#arm(utilization > IDLE_UTILIZATION ? BUSY_PACE : IDLE_PACE);
  }
}

/** Milliseconds since the next measurement was due: a loop that stands still has none. */
export function overdue({ due }: LoopDelays, now: bigint): number {
  const since = Atomics.load(due, 0);
  return since === 0n || now < since ? 0 : Number(now - since) / 1e6;
}
