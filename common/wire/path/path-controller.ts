// How many bytes may be on their way to the peer: enough to keep the path busy, few enough that bytes wait here, where
// circuits take turns, and not in the system's buffers or in the queue of a router on the path. A pure component: the
// owner passes what the system has measured, and reads the window.
//
//   The system keeps its own congestion control, which finds the rate of the path and retreats after losses. This
//   window only stops it from filling queues. So a wrong window costs delay or rate, never fairness to others.
//
//   bytes on the way = rate × round trip. A round trip above the shortest one is time in a queue: here, or in the queue
//   of the other direction, which acknowledgements pass. Only a peer that tells when frames arrive shows which of the
//   two.
//
//   Once per round trip:
//
//   startup ──bytes wait in queues, or the rate no longer grows, or packets are lost──► steady
//   steady  ──every few seconds, or if they wait too long although the window is right──► drain
//   drain   ──the queue was ours──► steady          ──the path has become longer──► startup
//           ──and packets are lost: others fill the queue──► compete
//   compete ──the queue is empty──► steady          ──after a while──► drain
//
//   startup: the window doubles             steady:  the window is what the path carries, and an allowed wait
//   drain:   less than that, to measure     compete: no limit, the system's congestion control decides
//            the shortest round trip

/** The system's measurements of all connections of the path together. */
export interface PathSample {
  /** Milliseconds of a monotonic clock. */
  readonly now: number;
  /** Smoothed round trip in milliseconds; 0 if unknown. */
  readonly rtt: number;
  /** Bytes that have reached the peer's system since the start. */
  readonly delivered: number;
  /** Bytes that were sent and are not acknowledged. */
  readonly inFlight: number;
  /** Packets lost since the start. */
  readonly lost: number;
}

export type PathPhase = 'startup' | 'steady' | 'drain' | 'compete';

/** Bytes. */
const FIRST_WINDOW = 64 * 1024;
export const MIN_WINDOW = 16 * 1024;
const MAX_WINDOW = 64 * 1024 * 1024;
/** Time in queues that is allowed, as a share of the shortest round trip. */
const ALLOWED_SHARE = 0.14;
/**
 * Limits of it in milliseconds. Shorter waits are lost in the noise of timers and schedulers: at half a millisecond,
 * a busy machine costs a transfer between two of its programs half of its rate.
 */
const MIN_ALLOWED = 1;
const MAX_ALLOWED = 15;
/** A shorter round trip, in milliseconds, is within a machine or a rack. */
const NEARBY = 0.5;
/** Growth of the window per round trip in the steady phase: at first, and at most. It doubles while nothing waits. */
const FIRST_GAIN = 0.1;
const MAX_GAIN = 0.25;
/** Bytes of growth per round trip: the same for small and large windows, so that they become equal. */
const MIN_GROWTH = 8 * 1024;
/** The window is at most this multiple of what the path has carried. */
const STARTUP_REACH = 4;
const STEADY_REACH = 1.25;
/** A path whose rate grows less in two round trips, while the window doubles, is full. */
const STARTUP_GROWTH = 1.2;
/** Round trips whose highest rate counts. */
const RATES = 4;
/**
 * Milliseconds, and round trips, after which the shortest round trip is measured again: the path may have become
 * longer. The longer of both.
 */
const DRAIN_INTERVAL = 2_500;
const DRAIN_INTERVAL_ROUNDS = 40;
/** Round trips of a drain: the window takes effect in the first, the last one is measured. */
const DRAIN_ROUNDS = 2;
/**
 * Window of a drain, as a share of what the path holds without a queue: low enough to empty the queue of a few other
 * controllers as well, which would otherwise all take each other's queue for a part of the path.
 */
const DRAIN_SHARE = 0.8;
/** Milliseconds, and round trips, for which the time on the way there is used. */
const ONE_WAY_VALID = 100;
const ONE_WAY_VALID_ROUNDS = 2;
/** A wait on the way back, as a share of the allowed one, that both measurements show without one. */
const NOISE_SHARE = 1 / 4;
/** Rounds whose least wait on the way back counts. */
const WAYS_BACK = 2;
/** Drains whose shortest round trips count. */
const EPOCHS = 3;
/** Round trips with too long a wait, although the window was right, after which the path is measured again. */
const MAX_LATE_ROUNDS = 3;

/**
 * Milliseconds for which the system's congestion control alone competes with the traffic of others, before the path is
 * measured again: at first, and at most. It doubles each time.
 */
const COMPETITION_TIME = 500;
const MAX_COMPETITION_TIME = 8_000;
/**
 * Milliseconds within which packets must be lost twice as a sign of competition, and milliseconds between the two: the
 * start of a single transfer may lose some as well.
 */
const LOSSES_COUNT = 10_000;
const LOSSES_APART = 500;

/** The shortest times of a while, in milliseconds. */
interface Shortest {
  rtt: number;
  /** On the way there, and any constant. */
  oneWay: number;
}

interface Round extends Shortest {
  readonly since: number;
  readonly delivered: number;
  /** The round ends when so many bytes are delivered: everything that was in flight at its start. */
  readonly end: number;
  /** Frames waited for the window. */
  isLimited: boolean;
  /** Frames waited for any reason. */
  isBusy: boolean;
  /** Nothing waited for a whole round trip. */
  isIdle: boolean;
}

export class PathController {
  #window = FIRST_WINDOW;
  #phase: PathPhase = 'startup';
  #base = Number.POSITIVE_INFINITY;
  /** The shortest times since the last drains. */
  #epochs: Shortest[] = [{ rtt: Number.POSITIVE_INFINITY, oneWay: Number.POSITIVE_INFINITY }];
  /** Milliseconds that acknowledgements wait on the way back, in the last rounds, and since when that is known. */
  #waysBack: number[] = [];
  #wayBackAt = Number.NEGATIVE_INFINITY;
  #rtt = 0;
  #gain = FIRST_GAIN;
  #rates: number[] = [];
  #round: Round | undefined;
  #wasIdle = false;
  #competesUntil = 0;
  #competitionTime = COMPETITION_TIME;
  #lost = 0;
  #lostAt = Number.NEGATIVE_INFINITY;
  #lostBefore = Number.NEGATIVE_INFINITY;
  /** The shortest round trip before the path seemed to become longer; a loss tells that others fill its queue. */
  #suspected: { readonly base: number; readonly until: number } | undefined;
  #lateRounds = 0;
  #drainRounds = 0;
  #drainedAt: number | undefined;
  /** The window before the queue began to look too long. */
  #windowBefore = FIRST_WINDOW;

  /** Bytes that may be on their way. */
  get window(): number {
    return this.#window;
  }

  get phase(): PathPhase {
    return this.#phase;
  }

  /** The shortest round trip in milliseconds, without queues; undefined before the first one. */
  get minRtt(): number | undefined {
    return Number.isFinite(this.#base) ? this.#base : undefined;
  }

  /** The path is within a machine or a rack. */
  get isNearby(): boolean {
    return this.#base < NEARBY;
  }

  /** The last round trip in milliseconds; 0 before the first one. */
  get rtt(): number {
    return this.#rtt;
  }

  /** Bytes per millisecond, the highest of the last round trips. */
  get rate(): number {
    return Math.max(0, ...this.#rates);
  }

  /** Milliseconds that bytes may wait in queues. */
  get allowedWait(): number {
    return Math.min(MAX_ALLOWED, Math.max(MIN_ALLOWED, this.#base * ALLOWED_SHARE));
  }

  /** Whether bytes with this round trip have waited no longer than allowed, give or take. */
  isQueueShort(rtt: number): boolean {
    return rtt <= this.#target + this.allowedWait;
  }

  /** Both times of a round are measured at different moments: what lasts is true. */
  get #wayBack(): number {
    return this.#waysBack.length < WAYS_BACK ? 0 : Math.min(...this.#waysBack);
  }

  /** Milliseconds by which the wait on the way back has become shorter in the last round. */
  get #shortenedWayBack(): number {
    const [before, now] = this.#waysBack.slice(-2);
    return before === undefined || now === undefined ? 0 : Math.max(0, before - now);
  }

  /** The round trip that the window should lead to. */
  get #target(): number {
    return this.#base + this.#wayBack + this.allowedWait;
  }

  /**
   * Notes how long a frame was on the way to the peer: milliseconds, plus a constant that is the same for all frames.
   */
  noteOneWay(milliseconds: number): void {
    if (this.#round) this.#round.oneWay = Math.min(this.#round.oneWay, milliseconds);
  }

  /** Frames wait: for the window, or for something else, such as the system's own congestion window. */
  waiting(isForWindow: boolean): void {
    const round = this.#round;
    if (!round) return;
    if (round.isIdle) this.#wasIdle = true;
    round.isBusy = true;
    round.isLimited ||= isForWindow;
  }

  /** Call it often, at least several times per round trip while frames wait. */
  observe(sample: PathSample): void {
    const round = this.#round;
    if (this.#wasIdle) {
      // The path was idle for a part of this round: it says nothing about its rate.
      this.#wasIdle = false;
      this.#drainedAt = sample.now;
    } else if (round) {
      round.isIdle ||= !round.isBusy && sample.now - round.since > this.#base;
      if (sample.rtt > 0) round.rtt = Math.min(round.rtt, sample.rtt);
      const elapsed = sample.now - round.since;
      if (sample.delivered < round.end || elapsed < Math.max(1, Math.min(round.rtt, 1e3))) return;
      if (Number.isFinite(round.rtt)) this.#finish(round, sample);
    }
    this.#round = {
      since: sample.now,
      delivered: sample.delivered,
      end: sample.delivered + sample.inFlight,
      rtt: Number.POSITIVE_INFINITY,
      oneWay: Number.POSITIVE_INFINITY,
      isLimited: false,
      isBusy: false,
      isIdle: false,
    };
  }

  #finish(round: Round, sample: PathSample): void {
    const { now } = sample;
    const elapsed = now - round.since;
    const rate = (sample.delivered - round.delivered) / elapsed;
    this.#rtt = round.rtt;
    this.#noteWayBack(round, now);
    const hasLost = sample.lost > this.#lost;
    if (hasLost) this.#noteLoss(now);
    this.#lost = sample.lost;
    this.#drainedAt ??= now;
    // Acknowledgements that leave the queue of the way back faster than they entered it would show too high a rate.
    const sent = (rate * elapsed) / (elapsed + this.#shortenedWayBack);
    // Where nothing waits, the path could have carried more.
    if (round.isBusy || sent > this.rate) this.#rates.push(sent);
    if (this.#rates.length > RATES) this.#rates.shift();
    const suspected = this.#suspected;
    if (hasLost && suspected && now < suspected.until && this.#losesAgain(now)) this.#compete(suspected.base, now);
    else if (this.#phase === 'drain') this.#continueDrain(round, now);
    else if (this.#phase === 'compete') this.#continueCompetition(round, rate, now);
    else {
      this.#noteShortest(round);
      this.#adjust(round, rate, hasLost);
      const isDue =
        round.isBusy && now - this.#drainedAt > Math.max(DRAIN_INTERVAL, DRAIN_INTERVAL_ROUNDS * this.#base);
      if (isDue || this.#lateRounds > MAX_LATE_ROUNDS) this.#drain();
    }
  }

  #adjust(round: Round, rate: number, hasLost: boolean): void {
    const target = this.#target;
    const isStartup = this.#phase === 'startup';
    const { rtt } = round;
    // A window that doubles shows its queue late: a rate that no longer grows tells it earlier.
    const rateBefore = this.#rates.at(-3) ?? 0;
    const isFull = isStartup && round.isLimited && rate < rateBefore * STARTUP_GROWTH;
    if (isStartup && hasLost) this.#phase = 'steady'; // the system has reduced its own window
    if (rtt > target || isFull) {
      if (!round.isBusy) return; // others fill the path
      if (this.#lateRounds === 0) this.#windowBefore = this.#window;
      if (!this.isQueueShort(rtt)) this.#lateRounds++;
      this.#phase = 'steady';
      this.#gain = FIRST_GAIN;
      // A path with a queue carries its full rate, so this is the window that leaves the allowed queue.
      this.#setWindow(Math.max(this.#window / 2, Math.min(this.#window, rate * target)));
      return;
    }
    this.#lateRounds = 0;
    if (!round.isLimited) return;
    const reach = this.rate * target * (isStartup ? STARTUP_REACH : STEADY_REACH);
    const room = (target - rtt) / this.allowedWait;
    const growth = isStartup ? this.#window : Math.max(this.#gain * this.#window, MIN_GROWTH) * room;
    this.#setWindow(Math.max(this.#window, Math.min(reach, this.#window + growth)));
    this.#gain = Math.min(MAX_GAIN, 2 * this.#gain);
  }

  /** Measures the shortest round trip again: sends less than the path carries, until its queue is empty. */
  #drain(): void {
    if (this.#lateRounds === 0) this.#windowBefore = this.#window;
    this.#phase = 'drain';
    this.#drainRounds = DRAIN_ROUNDS;
    this.#setWindow(this.rate * (this.#base + this.#wayBack) * DRAIN_SHARE);
  }

  #continueDrain({ rtt, oneWay }: Round, now: number): void {
    this.#drainRounds--;
    if (this.#drainRounds > 0) return;
    const base = this.#base;
    const isLonger = rtt > this.#target + this.allowedWait;
    if (isLonger) this.#waysBack = [];
    // A peer may lie about arrivals: the base is never shorter than a measured round trip.
    const epoch = { rtt: Math.min(rtt, Math.max(rtt - this.#wayBack, base)), oneWay };
    this.#epochs = isLonger ? [epoch] : [...this.#epochs.slice(1 - EPOCHS), epoch];
    this.#updateBase();
    this.#drainedAt = now;
    this.#lateRounds = 0;
    if (isLonger) this.#phase = 'startup';
    else this.#endCompetition();
    this.#setWindow(isLonger ? this.#windowBefore : Math.min(this.#windowBefore, this.rate * (rtt + this.allowedWait)));
    if (!isLonger) return;
    if (this.#losesAgain(now)) this.#compete(base, now);
    else this.#suspected = { base, until: now + LOSSES_COUNT };
  }

  /**
   * Packets are lost although this sender keeps no queue: others fill it. They would take the whole path from a sender
   * that avoids queues, so the system's congestion control decides for a while.
   */
  #compete(base: number, now: number): void {
    this.#phase = 'compete';
    this.#competesUntil = now + this.#competitionTime;
    this.#competitionTime = Math.min(MAX_COMPETITION_TIME, 2 * this.#competitionTime);
    this.#suspected = undefined;
    this.#epochs = [{ rtt: base, oneWay: Number.POSITIVE_INFINITY }];
    this.#base = base;
    this.#setWindow(MAX_WINDOW);
  }

  /** Ends with a drain, or early when the queue is empty: nobody else fills it. */
  #continueCompetition(round: Round, rate: number, now: number): void {
    this.#noteShortest(round);
    const target = this.#target;
    if (round.rtt > target && now < this.#competesUntil) return;
    this.#setWindow(rate * target);
    if (round.rtt > target) this.#drain();
    else this.#endCompetition();
  }

  #endCompetition(): void {
    this.#phase = 'steady';
    this.#competitionTime = COMPETITION_TIME;
  }

  #noteLoss(now: number): void {
    if (now - this.#lostAt > LOSSES_APART) this.#lostBefore = this.#lostAt;
    this.#lostAt = now;
  }

  #losesAgain(now: number): boolean {
    return now - this.#lostBefore < LOSSES_COUNT;
  }

  #noteShortest({ rtt, oneWay }: Shortest): void {
    const newest = this.#epochs.at(-1) as Shortest;
    newest.rtt = Math.min(rtt, newest.rtt);
    newest.oneWay = Math.min(oneWay, newest.oneWay);
    this.#updateBase();
  }

  #updateBase(): void {
    this.#base = Math.min(...this.#epochs.map((epoch) => epoch.rtt));
  }

  /** The part of the round trip's growth that the way there does not explain. */
  #noteWayBack({ rtt, oneWay }: Shortest, now: number): void {
    const shortest = Math.min(oneWay, ...this.#epochs.map((epoch) => epoch.oneWay));
    if (Number.isFinite(oneWay)) {
      const wait = rtt - this.#base - (oneWay - shortest) - NOISE_SHARE * this.allowedWait;
      this.#waysBack = [...this.#waysBack.slice(1 - WAYS_BACK), Math.max(0, wait)];
      this.#wayBackAt = now;
    } else if (now - this.#wayBackAt > Math.max(ONE_WAY_VALID, ONE_WAY_VALID_ROUNDS * rtt)) this.#waysBack = [];
  }

  #setWindow(bytes: number): void {
    this.#window = Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, bytes));
  }
}
