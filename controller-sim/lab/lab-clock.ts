// The simulator's time under the control of its user. Connections keep real time: heartbeats and time limits of
// requests do not notice an advance.

import { describeError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import { AdvancingClock, realTime } from '#lib/time/advancing-clock.ts';
import type { AdvanceableClock } from '#lib/time/clock.ts';
import { MAX_DURATION_LENGTH, parseDuration } from '#lib/time/duration.ts';
import { millisecondsOf } from './input.ts';
import { InvalidError } from './lab-error.ts';

/** Hours of the units that the network's durations lack. */
const HOURS: Readonly<Record<string, number>> = { d: 24, w: 168 };
const LONG_UNIT = /(\d+(?:\.\d+)?)([dw])/g;
/** Milliseconds: ten years. The simulator's own authorities are valid for longer. */
const MAX_ADVANCE_MS = 10 * 365 * 24 * 3_600_000;
/** A day in less than a second. */
const MAX_RATE = 100_000;

/** Milliseconds that were added to each clock: the labs of several controllers in one process share one. */
const added = new WeakMap<AdvanceableClock, number>();

/** A time to which the clock can return. */
export interface ClockMark {
  readonly rate: number;
  /** Milliseconds that were added to the real time. */
  readonly advanced: number;
  /** Milliseconds since the epoch; the time of a clock that runs at another rate than the real time. */
  readonly now: number;
}

/** The latest move that a clock has made or taken: of two, all controllers keep that with the higher number. */
interface Move {
  /** Higher than those of all moves that its controller knew. */
  readonly number: number;
  /** Id of the clock that moved first; decides between moves at the same moment. */
  readonly by: string;
}

/** The time of a controller for the others. */
export interface SharedTime extends ClockMark {
  /** Id of the clock: labs in one process may share it. */
  readonly clock: string;
  readonly move: Move;
}

const NO_MOVE: Move = { number: 0, by: '' };

/** Ids of clocks, and their latest moves. */
const ids = new WeakMap<AdvanceableClock, string>();
const moves = new WeakMap<AdvanceableClock, Move>();

/** Moves the time of other controllers, or asks those that run for theirs. */
export interface OtherClocks {
  move(time: SharedTime): Promise<void>;
  times(): Promise<SharedTime>[];
}

/** The time of this controller, and of all others of its network that run: each call moves them all. */
export class LabClock {
  readonly #clock: AdvanceableClock;
  readonly #others: OtherClocks;
  readonly #followed: () => Promise<void>;
  #sharing: Promise<unknown> = Promise.resolve();
  /** Moves of other controllers, one at a time. */
  #following: Promise<unknown> = Promise.resolve();

  /** `followed` resolves when the routers of this process have followed a move. */
  constructor(clock: AdvanceableClock, others: OtherClocks, followed = async (): Promise<void> => undefined) {
    this.#clock = clock;
    this.#others = others;
    this.#followed = followed;
    if (!ids.has(clock)) ids.set(clock, new IdSource().uuid());
  }

  now(): Date {
    return new Date(this.#clock.now());
  }

  /** Milliseconds by which the time is ahead of the real time; negative in the past. */
  get advanced(): number {
    const { rate } = this.#clock;
    const isPaced = this.#clock instanceof AdvancingClock && rate !== 1;
    return isPaced ? Math.round(this.#reached - realTime(this.#clock)) : (added.get(this.#clock) ?? 0);
  }

  /** The time once the advances that have begun are over, in milliseconds since the epoch. */
  get #reached(): number {
    return this.#clock instanceof AdvancingClock ? this.#clock.reached : this.#clock.now();
  }

  /** How many times as fast as the real time it runs; 0: it stands still. */
  get rate(): number {
    return this.#clock.rate;
  }

  /**
   * Adds milliseconds, or a duration such as `31m`, `2d` or `1w`. Sessions, tokens and locks expire, and all that waits
   * for this time happens before it resolves; routers of `startNetwork` renew certificates that become due. Rejects
   * with InvalidError for a wrong or negative duration, and beyond ten years in total; with NotReadyError.
   */
  async advance(duration: string | number): Promise<void> {
    const milliseconds = millisecondsOf('duration', duration, read);
    if (!(milliseconds >= 0))
      throw new InvalidError(
        'duration',
        'an advance adds time; use a duration such as 31m, or set an earlier time',
        duration,
      );
    if (this.advanced + milliseconds > MAX_ADVANCE_MS)
      throw new InvalidError('duration', 'the time can be advanced by ten years in total', duration);
    this.#moved();
    await this.#add(milliseconds);
    await this.#share();
    await this.#followed();
  }

  /**
   * Sets the time: a Date, milliseconds since the epoch, or a text such as `2027-01-31T12:00:00Z`. A later time is an
   * advance. An earlier one fires no timers, and what has expired remains so. Rejects with InvalidError for a wrong
   * time, and more than ten years from the real one.
   */
  async set(time: Date | string | number): Promise<void> {
    const milliseconds = new Date(time).getTime();
    if (Number.isNaN(milliseconds))
      throw new InvalidError('time', 'use a time such as 2027-01-31T12:00:00Z', String(time));
    const difference = milliseconds - this.#reached;
    if (Math.abs(this.advanced + difference) > MAX_ADVANCE_MS)
      throw new InvalidError('time', 'the time can be up to ten years from the real time', String(time));
    this.#moved();
    if (difference >= 0) await this.#add(difference);
    else this.#takeOff(-difference);
    await this.#share();
    await this.#followed();
  }

  /** The time stands still until `run`; `advance` and `set` still move it. @throws like `run` */
  freeze(): void {
    this.run(0);
  }

  /**
   * From now on the time runs so many times as fast as the real time; 1: as fast, 0: it stands still. Timers of
   * sessions and locks wait accordingly; connections keep real time. @throws InvalidError beyond 0 to 100,000, and for
   * a clock of the caller that only the caller moves
   */
  run(rate = 1): void {
    this.#run(rate);
    this.#moved();
    void this.#share();
  }

  #run(rate: number): void {
    if (!(rate >= 0 && rate <= MAX_RATE)) throw new InvalidError('rate', `use a number from 0 to ${MAX_RATE}`, rate);
    const { advanced } = this;
    try {
      this.#clock.setRate(rate);
    } catch (error) {
      throw new InvalidError('rate', describeError(error), rate);
    }
    added.set(this.#clock, advanced);
  }

  mark(): ClockMark {
    const { rate, advanced } = this;
    return { rate, advanced, now: this.#reached };
  }

  /** For marks from outside, such as those of files. @throws InvalidError for one that the clock cannot return to */
  checkMark({ rate, advanced, now }: ClockMark): void {
    if (!(rate >= 0 && rate <= MAX_RATE))
      throw new InvalidError('file', `the clock of the snapshot has a rate other than 0 to ${MAX_RATE}`, String(rate));
    const distance = this.#isExact(rate) ? now - this.#reached : advanced;
    if (!(Math.abs(distance) <= 2 * MAX_ADVANCE_MS))
      throw new InvalidError('file', 'the clock of the snapshot is more than twenty years away', String(now));
  }

  /**
   * Returns to the time and the rate of a mark: to the same distance from the real time at its rate, else to the time
   * itself. Going back fires no timers, and what has expired remains so.
   */
  async returnTo(mark: ClockMark): Promise<void> {
    this.#moved();
    await this.#returnTo(mark);
    await this.#share();
  }

  /**
   * Takes the time of another controller, unless this one knows a later move: messages may arrive late, and two
   * controllers may move at once. Rejects with InvalidError for an invalid time.
   */
  follow(time: SharedTime): Promise<void> {
    const { clock, rate, advanced, now, move } = time;
    if (clock === ids.get(this.#clock)) return Promise.resolve();
    if (![rate, advanced, now].every(Number.isFinite) || Math.abs(advanced) > 2 * MAX_ADVANCE_MS || !isMove(move))
      throw new InvalidError('time', 'another controller has sent a wrong time', String(now));
    if (!isLater(move, this.#move)) return this.#following.then(() => undefined);
    moves.set(this.#clock, move);
    const following = this.#following.then(async () => {
      if (this.#move === move) await this.#returnTo(time);
    });
    this.#following = following.catch(() => undefined); // the other controller logs it
    return following;
  }

  /** Takes the time of a controller that runs already, if there is one; the later moves of slower ones too. */
  async followOthers(): Promise<void> {
    const following = this.#others.times().map(async (time) => this.follow(await time));
    await Promise.any(following).catch(() => undefined);
  }

  sharedTime(): SharedTime {
    return { ...this.mark(), clock: ids.get(this.#clock) ?? '', move: this.#move };
  }

  get #move(): Move {
    return moves.get(this.#clock) ?? NO_MOVE;
  }

  /** A move of this clock follows all that it knows. */
  #moved(): void {
    moves.set(this.#clock, { number: this.#move.number + 1, by: ids.get(this.#clock) ?? '' });
  }

  /** Resolves when the other controllers have the time of the last call. */
  async shared(): Promise<void> {
    await this.#sharing;
  }

  #share(): Promise<unknown> {
    this.#sharing = Promise.all([this.#sharing, this.#others.move(this.sharedTime())]);
    return this.#sharing;
  }

  async #returnTo({ rate, advanced, now }: ClockMark): Promise<void> {
    if (this.#clock.rate !== rate) this.#run(rate);
    const difference = this.#isExact(rate) ? now - this.#reached : advanced - this.advanced;
    if (difference > 0) await this.#add(difference);
    else this.#takeOff(-difference);
  }

  /** Whether a return at this rate leads to the time of a mark, and not to its distance from the real time. */
  #isExact(rate: number): boolean {
    return this.#clock instanceof AdvancingClock && rate !== 1;
  }

  async #add(milliseconds: number): Promise<void> {
    added.set(this.#clock, this.advanced + milliseconds);
    await this.#clock.advance(milliseconds);
  }

  #takeOff(milliseconds: number): void {
    added.set(this.#clock, this.advanced - milliseconds);
    this.#clock.setBack(milliseconds);
  }
}

function isMove(value: unknown): value is Move {
  const { number, by } = (value ?? {}) as Partial<Move>;
  return Number.isSafeInteger(number) && typeof by === 'string';
}

function isLater(move: Move, other: Move): boolean {
  return move.number === other.number ? move.by > other.by : move.number > other.number;
}

function read(duration: string): number {
  // The search for long units takes quadratic time; a text beyond the limit is rejected as it is.
  if (duration.length > MAX_DURATION_LENGTH) return parseDuration(duration);
  return parseDuration(
    duration.replaceAll(LONG_UNIT, (_, count: string, unit: string) => `${Number(count) * (HOURS[unit] ?? 0)}h`),
  );
}
