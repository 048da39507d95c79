// The real time plus what `advance` has added, for programs whose users test expiry without waiting. It can stand still
// or run faster. The time of day may return; the monotonic time, which orders timers, never does.

import { InvariantError } from '../errors.ts';
import { BaseClock, type Clock, SystemClock, settle, type Timer } from './clock.ts';

/** The time of day that other programs have, in milliseconds since the epoch. */
export function realTime(clock: Clock): number {
  return realClock(clock).now();
}

/** The clock for waits on other programs: they notice no advance of this one, and answer while it stands still. */
export function realClock(clock: Clock): Clock {
  return clock instanceof AdvancingClock ? clock.real : clock;
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

/** A clock that stands still or runs faster counts from the moment at which its rate was set. */
interface Pace {
  readonly rate: number;
  /** Monotonic milliseconds of the real clock at that moment. */
  readonly since: number;
  /** Milliseconds of this clock at that moment. */
  now: number;
  monotonic: number;
}

/** Timers fire by due time. */
export class AdvancingClock extends BaseClock {
  /** The real time, for what an advance must not affect. */
  readonly real: Clock;
  readonly #waiting = new Set<Waiting>();
  /** Milliseconds by which the monotonic time and the time of day are ahead of the real ones, at the real rate. */
  #ahead = 0;
  #offset = 0;
  #pace: Pace | undefined;
  #advancing: Promise<void> = Promise.resolve();
  /** Milliseconds of the advances that have not happened yet. */
  #pending = 0;

  constructor(real: Clock = new SystemClock()) {
    super();
    this.real = real;
  }

  /** Milliseconds by which the time of day is ahead of the real one. */
  get ahead(): number {
    return this.#pace ? this.now() - this.real.now() : this.#offset;
  }

  /** Milliseconds of this clock in one real millisecond: 1, or 0 while it stands still. */
  get rate(): number {
    return this.#pace?.rate ?? 1;
  }

  /** Whole milliseconds, as the real clock has them: sums of steps have errors far below. */
  now(): number {
    return Math.round(this.#current);
  }

  /** The time of day once the advances that have begun are over. */
  get reached(): number {
    return Math.round(this.#current + this.#pending);
  }

  nowNanoseconds(): bigint {
    if (this.#pace) return BigInt(Math.floor(this.#exact(this.#pace) * 1e3)) * 1_000n; // more digits would not be exact
    return this.real.nowNanoseconds() + BigInt(Math.round(this.#offset * 1e6));
  }

  monotonic(): number {
    return this.#pace ? this.#pace.monotonic + this.#passed(this.#pace) : this.real.monotonic() + this.#ahead;
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
    this.#pending += milliseconds;
    this.#advancing = this.#advancing.then(() => this.#advance(milliseconds));
    return this.#advancing;
  }

  setBack(milliseconds: number): void {
    if (this.#pace) this.#pace.now -= milliseconds;
    else this.#offset -= milliseconds;
  }

  /** From now on the time runs so many times as fast as the real one; 0: it stands still. Timers wait accordingly. */
  setRate(rate: number): void {
    if (!Number.isFinite(rate) || rate < 0) throw new InvariantError('a clock cannot run backwards');
    const since = this.real.monotonic();
    const monotonic = this.monotonic();
    const now = this.#current;
    this.#pace = rate === 1 ? undefined : { rate, since, now, monotonic };
    this.#offset = now - this.real.now();
    this.#ahead = monotonic - since;
    this.#armAll();
  }

  async #advance(milliseconds: number): Promise<void> {
    let left = milliseconds;
    const end = this.monotonic() + milliseconds;
    await settle();
    for (let next = this.#first(end); next; next = this.#first(end)) {
      const step = Math.min(left, Math.max(0, next.due - this.monotonic()));
      this.#shift(step);
      left -= step;
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
    this.#shift(left);
    this.#armAll();
    await settle();
  }

  #shift(milliseconds: number): void {
    this.#pending -= milliseconds;
    if (this.#pace) {
      this.#pace.now += milliseconds;
      this.#pace.monotonic += milliseconds;
    } else {
      this.#offset += milliseconds;
      this.#ahead += milliseconds;
    }
  }

  get #current(): number {
    return this.#pace ? this.#exact(this.#pace) : this.real.now() + this.#offset;
  }

  #exact(pace: Pace): number {
    return pace.now + this.#passed(pace);
  }

  /** Milliseconds of this clock since its rate was set. */
  #passed({ rate, since }: Pace): number {
    return rate === 0 ? 0 : (this.real.monotonic() - since) * rate;
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
    const left = waiting.due - this.monotonic();
    if (this.rate === 0 && left > 0) {
      waiting.alarm = undefined;
      return;
    }
    const delay = left > 0 ? left / this.rate : 0;
    waiting.alarm = this.real.after(waiting.name, delay, () => this.#fire(waiting));
  }

  #armAll(): void {
    for (const each of this.#waiting) {
      each.alarm?.cancel();
      this.#arm(each);
    }
  }

  /** A repeated timer is set again first: its task may cancel it. */
  #fire(waiting: Waiting): void {
    const { interval } = waiting;
    if (interval === undefined) this.#waiting.delete(waiting);
    else {
      // The real clock has a resolution of a millisecond, in which a fast clock misses many times.
      const missed = this.rate > 1 ? Math.max(0, Math.floor((this.monotonic() - waiting.due) / interval)) : 0;
      waiting.due += (1 + missed) * interval;
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
