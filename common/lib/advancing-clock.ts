// The real time plus what `advance` has added, for programs whose users test expiry without waiting. The time of day may
// return; the monotonic time, which orders timers, never does.

import { BaseClock, type Clock, SystemClock, settle, type Timer } from './clock.ts';
import { InvariantError } from './errors.ts';

/** The time of day that other programs have, in milliseconds since the epoch. */
export function realTime(clock: Clock): number {
  return clock instanceof AdvancingClock ? clock.real.now() : clock.now();
}

interface Waiting {
  readonly name: string;
  /** Milliseconds of this clock's monotonic time. */
  due: number;
  readonly interval: number | undefined;
  readonly task: () => void;
  /** Fires at `due` unless the clock is advanced earlier. */
  alarm: Timer | undefined;
}

/** Timers fire by due time. */
export class AdvancingClock extends BaseClock {
  /** The real time, for what an advance must not affect. */
  readonly real: Clock;
  readonly #waiting = new Set<Waiting>();
  /** Milliseconds of the monotonic time ahead of the real one, and those that the time of day was set back. */
  #ahead = 0;
  #setBack = 0;
  #advancing: Promise<void> = Promise.resolve();

  constructor(real: Clock = new SystemClock()) {
    super();
    this.real = real;
  }

  /** Milliseconds by which the time of day is ahead of the real one. */
  get ahead(): number {
    return this.#ahead - this.#setBack;
  }

  now(): number {
    return this.real.now() + this.ahead;
  }

  nowNanoseconds(): bigint {
    return this.real.nowNanoseconds() + BigInt(Math.round(this.ahead * 1e6));
  }

  monotonic(): number {
    return this.real.monotonic() + this.#ahead;
  }

  after(name: string, milliseconds: number, task: () => void): Timer {
    return this.#add(name, Math.max(milliseconds, 0), undefined, task);
  }

  every(name: string, milliseconds: number, task: () => void): Timer {
    const interval = Math.max(milliseconds, 1);
    return this.#add(name, interval, interval, task);
  }

  timers(): string[] {
    return [...this.#waiting].map(({ name }) => name).sort();
  }

  /**
   * Adds to the time, fires due timers in their order, and lets promises run after each. A repeated timer that became
   * due several times fires once, at the last of them. Calls run one after the other.
   */
  advance(milliseconds: number): Promise<void> {
    if (!Number.isFinite(milliseconds) || milliseconds < 0) throw new InvariantError('a clock cannot go back');
    this.#advancing = this.#advancing.then(() => this.#advance(milliseconds));
    return this.#advancing;
  }

  setBack(milliseconds: number): void {
    this.#setBack += milliseconds;
  }

  async #advance(milliseconds: number): Promise<void> {
    const ahead = this.#ahead + milliseconds;
    const end = this.real.monotonic() + ahead;
    await settle();
    for (let next = this.#first(end); next; next = this.#first(end)) {
      this.#ahead = Math.min(ahead, Math.max(this.#ahead, next.due - this.real.monotonic()));
      next.alarm?.cancel();
      try {
        this.#fire(next);
      } catch (error) {
        this.real.after(next.name, 0, () => {
          throw error; // is handled as for any other timer
        });
      }
      await settle();
    }
    this.#ahead = ahead;
    for (const each of this.#waiting) {
      each.alarm?.cancel();
      this.#arm(each);
    }
    await settle();
  }

  #add(name: string, delay: number, interval: number | undefined, task: () => void): Timer {
    const waiting: Waiting = { name, due: this.monotonic() + delay, interval, task, alarm: undefined };
    this.#waiting.add(waiting);
    this.#arm(waiting);
    const cancel = () => {
      waiting.alarm?.cancel();
      this.#waiting.delete(waiting);
    };
    return { name, cancel };
  }

  #arm(waiting: Waiting): void {
    const delay = waiting.due - this.monotonic();
    waiting.alarm = this.real.after(waiting.name, delay, () => this.#fire(waiting));
  }

  /** A repeated timer is set again first: its task may cancel it. */
  #fire(waiting: Waiting): void {
    if (waiting.interval === undefined) this.#waiting.delete(waiting);
    else {
      waiting.due += waiting.interval;
      this.#arm(waiting);
    }
    waiting.task();
  }

  /** The timer that is due first, if it is due until `end`. */
  #first(end: number): Waiting | undefined {
    let first: Waiting | undefined;
    for (const each of this.#waiting) {
      if (each.due > end) continue;
      if (each.interval !== undefined) each.due += Math.floor((end - each.due) / each.interval) * each.interval;
      if (!first || each.due < first.due) first = each;
    }
    return first;
  }
}
