// Time as an object. All code that waits or reads the time receives a Clock; only this file uses the real one. Timers
// have names, so that diagnostics can list them and a test can name a leaked one.

import { asError, InvariantError } from '../errors.ts';
import { onAbort } from './abort.ts';

export interface Timer {
  readonly name: string;
  /** Stops the timer; a second call has no effect. */
  cancel(): void;
}

export interface SleepOptions {
  name?: string;
  signal?: AbortSignal | undefined;
}

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Nanoseconds since the Unix epoch, for wire fields. Never decreases. */
  nowNanoseconds(): bigint;
  /** Milliseconds of a monotonic clock; only differences are meaningful. */
  monotonic(): number;
  /** Runs `task` once after `milliseconds`. */
  after(name: string, milliseconds: number, task: () => void): Timer;
  /** Runs `task` every `milliseconds` (at least 1), first after one interval. */
  every(name: string, milliseconds: number, task: () => void): Timer;
  /** Resolves after `milliseconds`; rejects with the signal's reason if it aborts earlier. */
  sleep(milliseconds: number, options?: SleepOptions): Promise<void>;
  /** A signal that aborts with `reason` after `milliseconds`; cancel the timer at the end of the wait. */
  deadline(name: string, milliseconds: number, reason: () => Error): { signal: AbortSignal; timer: Timer };
  /** Names of the running timers, sorted. */
  timers(): string[];
}

/** A clock that can be moved. */
export interface AdvanceableClock extends Clock {
  /** Moves the time forward, fires the timers that become due, and lets promises run after each. */
  advance(milliseconds: number): Promise<void>;
  /** Takes milliseconds off the time of day. The monotonic time, and with it the timers, stay. */
  setBack(milliseconds: number): void;
  /** How many times as fast as the real time it runs; 0: it stands still. */
  readonly rate: number;
  /** @throws InvariantError for a rate that the clock cannot have */
  setRate(rate: number): void;
}

/** setTimeout accepts at most this many milliseconds; longer waits are split. */
const MAX_TIMEOUT_MS = 2_147_483_647;

export abstract class BaseClock implements Clock {
  abstract now(): number;
  abstract nowNanoseconds(): bigint;
  abstract monotonic(): number;
  abstract after(name: string, milliseconds: number, task: () => void): Timer;
  abstract every(name: string, milliseconds: number, task: () => void): Timer;
  abstract timers(): string[];

  sleep(milliseconds: number, options: SleepOptions = {}): Promise<void> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(asError(signal.reason));
        return;
      }
      const timer = this.after(options.name ?? 'sleep', milliseconds, () => {
        ended();
        resolve();
      });
      const ended = onAbort(signal, (reason) => {
        timer.cancel();
        reject(reason);
      });
    });
  }

  deadline(name: string, milliseconds: number, reason: () => Error): { signal: AbortSignal; timer: Timer } {
    const controller = new AbortController();
    const timer = this.after(name, milliseconds, () => controller.abort(reason()));
    return { signal: controller.signal, timer };
  }
}

/** The real time. Its timers keep the process alive like any other handle. */
export class SystemClock extends BaseClock {
  #report: ((name: string, error: unknown) => void) | undefined;
  readonly #running = new Map<object, string>();
  readonly #epochNanoseconds = BigInt(Math.round(performance.timeOrigin * 1e6));

  /** Calls `report` with the error of a task and the name of its timer. Without it, such an error ends the process. */
  reportFailures(report: (name: string, error: unknown) => void): void {
    this.#report = report;
  }

  now(): number {
    return Date.now();
  }

  nowNanoseconds(): bigint {
    return this.#epochNanoseconds + BigInt(Math.round(performance.now() * 1e6));
  }

  monotonic(): number {
    return performance.now();
  }

  after(name: string, milliseconds: number, task: () => void): Timer {
    const key = {};
    let handle: NodeJS.Timeout;
    const arm = (rest: number) => {
      const step = Math.min(Math.max(rest, 0), MAX_TIMEOUT_MS);
      handle = setTimeout(() => {
        if (rest > MAX_TIMEOUT_MS) {
          arm(rest - step);
          return;
        }
        this.#running.delete(key);
        this.#run(name, task);
      }, step);
    };
    arm(milliseconds);
    this.#running.set(key, name);
    return { name, cancel: () => (clearTimeout(handle), void this.#running.delete(key)) };
  }

  every(name: string, milliseconds: number, task: () => void): Timer {
    const key = {};
    const handle = setInterval(() => this.#run(name, task), Math.min(Math.max(milliseconds, 1), MAX_TIMEOUT_MS));
    this.#running.set(key, name);
    return { name, cancel: () => (clearInterval(handle), void this.#running.delete(key)) };
  }

  timers(): string[] {
    return [...this.#running.values()].sort();
  }

  #run(name: string, task: () => void): void {
    try {
      task();
    } catch (error) {
      if (!this.#report) throw error;
      this.#report(name, error);
    }
  }
}

interface VirtualTimer {
  name: string;
  due: number;
  order: number;
  interval: number | undefined;
  task: () => void;
}

/** A clock that moves only by `advance`. Timers fire by due time, then by order of creation. */
export class VirtualClock extends BaseClock {
  readonly rate = 0;
  #now: number;
  readonly #start: number;
  #setBack = 0;
  #order = 0;
  readonly #timers = new Set<VirtualTimer>();

  constructor(start = Date.UTC(2026, 0, 1)) {
    super();
    this.#now = start;
    this.#start = start;
  }

  now(): number {
    return this.#now - this.#setBack;
  }

  nowNanoseconds(): bigint {
    return BigInt(Math.round(this.now())) * 1_000_000n;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  after(name: string, milliseconds: number, task: () => void): Timer {
    return this.#add(name, Math.max(milliseconds, 0), undefined, task);
  }

  every(name: string, milliseconds: number, task: () => void): Timer {
    const interval = Math.max(milliseconds, 1);
    return this.#add(name, interval, interval, task);
  }

  timers(): string[] {
    return [...this.#timers].map((timer) => timer.name).sort();
  }

  /** Advances the time, fires due timers, and lets promises run after each timer. */
  async advance(milliseconds: number): Promise<void> {
    if (milliseconds < 0) throw new InvariantError('a virtual clock cannot go back');
    const target = this.#now + milliseconds;
    await settle();
    for (let next = this.#next(target); next !== undefined; next = this.#next(target)) {
      this.#now = Math.max(this.#now, next.due);
      if (next.interval === undefined) this.#timers.delete(next);
      else next.due += next.interval;
      next.task();
      await settle();
    }
    this.#now = target;
    await settle();
  }

  setBack(milliseconds: number): void {
    this.#setBack += milliseconds;
  }

  setRate(rate: number): void {
    if (rate !== this.rate) throw new InvariantError('a virtual clock moves only by advance');
  }

  #add(name: string, delay: number, interval: number | undefined, task: () => void): Timer {
    const timer: VirtualTimer = { name, due: this.#now + delay, order: this.#order++, interval, task };
    this.#timers.add(timer);
    return { name, cancel: () => void this.#timers.delete(timer) };
  }

  #next(target: number): VirtualTimer | undefined {
    let first: VirtualTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.due > target) continue;
      if (!first || timer.due < first.due || (timer.due === first.due && timer.order < first.order)) first = timer;
    }
    return first;
  }
}

/** Lets pending promise reactions, and the work that they start, run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
