// How fast bytes leave for the peer, and how many may be on their way: enough to keep the path busy, few enough that
// bytes wait here, where circuits take turns, and not in the system's buffers or in the queue of a router on the path.
// A pure component: the owner passes what the system has measured, and asks before it sends.
//
//   The system keeps its own congestion control, which finds the rate of the path and retreats after losses. Pace and
//   window only stop it from filling queues. So a wrong one costs delay or rate, never fairness to others.
//
//   pace = rate of the path, and what is missing or too much for the allowed wait
//   window = pace × round trip, with room for jitter. A round trip above the shortest one is
//     - time in a queue of this direction: it becomes shorter when less is sent
//     - time in a queue of the other direction, which acknowledgements pass: only a peer that tells when frames arrive
//       shows it
//     - jitter of the path: Wi-Fi and mobile networks hold packets back, and acknowledgements, which then come in
//       bursts. It differs within a round trip, and the shortest time of some longer while is without it. So a round is
//       longer where there is jitter, and the pace goes on while acknowledgements are held.
//
//   Once per round:
//
//   startup ──bytes wait in queues, or the rate no longer grows, or packets are lost──► steady
//   steady  ──every few seconds, or if they wait too long although the pace is right──► drain
//   drain   ──the queue was ours──► steady          ──others fill the queue──► compete
//           ──the same long round trip in several drains: the path has become longer──► startup
//   compete ──the queue is empty──► steady          ──after a while──► drain
//
//   startup: the window doubles             steady:  the pace follows the rate
//   drain:   less than the path carries,    compete: no limit, the system's congestion control decides
//            to measure the shortest round trip

import { TokenBucket } from '#lib/queue/token-bucket.ts';
import { JitterEstimate } from './jitter.ts';
import { OwnLosses } from './own-losses.ts';

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
  /** Bytes sent again since the start, because they were lost. */
  readonly sentAgain: number;
}

export type PathPhase = 'startup' | 'steady' | 'drain' | 'compete';

/** Why pace and window are as they are, for operators. */
const REASONS = {
  startup: 'the rate of the path is not known yet',
  growing: 'the allowed wait is not used: the path may carry more',
  shrinking: 'bytes wait longer than allowed',
  tooFast: 'more is lost than when less is sent: the path drops what exceeds its rate',
  others: 'bytes wait, but nothing of this side: others fill the path',
  unused: 'this side has less to send than the path carries',
  drain: 'less is sent for a moment, to measure the shortest round trip',
  compete: "others fill the path's queue: the system's congestion control decides",
} as const;

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
/**
 * Share by which the pace grows in a round that leaves all of the allowed wait unused, in proportion for a part of it:
 * in a usual round, as much as fills the allowed wait. It grows faster by a further share with each round in a row that
 * leaves more than a part of the wait unused.
 */
const GROWTH = 0.03;
const FURTHER_GROWTH = 0.015;
const UNUSED_SHARE = 1 / 2;
/** The pace corrects this share of a wait that is too long within a round. */
const SHRINKING_GAIN = 1 / 2;
/** The largest change of the pace in a round, as a share of the rate. */
const MAX_CHANGE = 1 / 5;
/**
 * The window has more room than the pace needs, and for so many times the jitter: where the path holds acknowledgements
 * back, the pace goes on.
 */
const WINDOW_REACH = 1.25;
const WINDOW_JITTERS = 8;
/** The window of the startup is at most this multiple of what the path has carried. */
const STARTUP_REACH = 4;
/**
 * A path whose rate grows less in two rounds, while the window doubles, is full. So is one whose rate grows less in one
 * round, if bytes wait.
 */
const STARTUP_GROWTH = 1.2;
const STARTUP_GROWTH_WITH_WAIT = 1.6;
/** Rounds whose rates count. For a drain, the lowest of the last ones counts. */
const RATES = 4;
const DRAIN_RATES = 2;
/**
 * Milliseconds, and round trips, after which the shortest round trip is measured again: the path may have become
 * longer. The longer of both.
 */
const DRAIN_INTERVAL = 2_500;
const DRAIN_INTERVAL_ROUNDS = 40;
/**
 * Rounds of a drain: the window takes effect in the first, the last one is measured. If bytes still wait, the window is
 * halved for some further rounds, before others are taken for the cause.
 */
const DRAIN_ROUNDS = 2;
const FURTHER_DRAIN_ROUNDS = 1;
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
/** Times between drains whose shortest round trips count; milliseconds that each lasts at least. */
const EPOCHS = 3;
const MIN_EPOCH = 2_000;
/**
 * Rounds with too long a wait, although the pace was right, after which the path is measured again: longer than the
 * allowed wait by this share of it. A drain that leaves as long a wait has met the queue of others.
 */
const MAX_LATE_ROUNDS = 3;
const LATE_SHARE = 1 / 2;
/** Drains in a row that leave the same wait, up to the allowed one: the path has become longer. */
const SAME_WAITS = 3;

/** This quantile of the jitter of so many rounds counts: a queue that comes and goes in a round looks like jitter. */
const JITTERS = 8;
const JITTER_QUANTILE = 1 / 4;
/** The allowed wait is longer by this share of it. */
const JITTER_SHARE = 0.4;
/**
 * A round of the steady phase lasts for so many milliseconds at least, in which jitter shows, and any for so many times
 * the jitter, up to so many milliseconds, so that its shortest round trip is without it. A jitter below this share of
 * the allowed wait makes no difference.
 */
const MIN_ROUND = 40;
const ROUND_JITTERS = 24;
const MAX_ROUND = 250;
const NOTICED_JITTER = 1 / 3;
/** Milliseconds, and round trips, without a sample after which the path was idle. */
const IDLE_AFTER = 20;
const IDLE_ROUND_TRIPS = 4;

/**
 * Milliseconds, and round trips, for which the system's congestion control alone competes with the traffic of others,
 * before the path is measured again: at first, and at most. It doubles each time, and falls when the queue was ours.
 */
const COMPETITION_TIME = 1_000;
const COMPETITION_ROUND_TRIPS = 10;
const MAX_COMPETITION_TIME = 8_000;
const COMPETITION_FALL = 1 / 4;
/** The pace after a competition, as a multiple of what the path carries: others may leave more. */
const COMPETITION_REACH = 2;

/** The shortest times of a while, in milliseconds. */
interface Shortest {
  rtt: number;
  /** On the way there, plus an unknown constant. */
  oneWay: number;
}

interface Round extends Shortest {
  readonly since: number;
  readonly delivered: number;
  readonly sentAgain: number;
  readonly jitter: JitterEstimate;
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
  /** In the steady phase. */
  #reason: keyof typeof REASONS = 'growing';
  #base = Number.POSITIVE_INFINITY;
  /** The shortest times since the last drains. */
  #epochAt = Number.NEGATIVE_INFINITY;
  #epochs: Shortest[] = [{ rtt: Number.POSITIVE_INFINITY, oneWay: Number.POSITIVE_INFINITY }];
  /** Milliseconds that acknowledgements wait on the way back, in the last rounds, and since when that is known. */
  #waysBack: number[] = [];
  #wayBackAt = Number.NEGATIVE_INFINITY;
  #rtt = 0;
  #rates: number[] = [];
  /** Those of the last rounds in which frames waited, and the one that counts. */
  #jitters: number[] = [];
  #jitter = 0;
  #round: Round | undefined;
  #wasIdle = false;
  #competesUntil = 0;
  #competitionTime = COMPETITION_TIME;
  #sentAgain = 0;
  readonly #losses = new OwnLosses();
  #lateRounds = 0;
  #observedAt = Number.POSITIVE_INFINITY;
  /** The round trips of the last drains, if all of them have met a queue of others. */
  #foreign: number[] = [];
  /** The window has become smaller after the last round, which had this round trip. */
  #hasShrunk = false;
  #rttBefore = 0;
  #drainRounds = 0;
  #drainedAt: number | undefined;
  /** Bytes per millisecond in the steady phase, and what may leave now. Only the window counts in the others. */
  #pace = 0;
  #bucket: TokenBucket | undefined;
  /** Rounds in a row that left a part of the allowed wait unused. */
  #shortRounds = 0;

  /** Bytes that may be on their way. */
  get window(): number {
    return this.#window;
  }

  /** Whether more bytes may leave now: at the rate of the path, also when acknowledgements come in bursts. */
  isInPace(now: number): boolean {
    return this.isNearby || this.#bucket === undefined || this.#bucket.left(now) > 0;
  }

  /** Bytes per millisecond that may leave; undefined while only the window counts. */
  get pace(): number | undefined {
    return this.#bucket && this.#pace;
  }

  /** Bytes were sent. */
  sent(bytes: number, now: number): void {
    this.#bucket?.take(now, bytes);
  }

  get phase(): PathPhase {
    return this.#phase;
  }

  get reason(): string {
    return REASONS[this.#phase === 'steady' ? this.#reason : this.#phase];
  }

  /** Milliseconds that bytes of this direction waited in queues in the last round. */
  get queueWait(): number {
    return this.#rtt === 0 ? 0 : Math.max(0, this.#rtt - this.#base - this.#wayBack);
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
    return Math.min(MAX_ALLOWED, this.#steadyWait + JITTER_SHARE * this.#jitter);
  }

  /** Milliseconds of jitter; 0 on a path without. */
  get jitter(): number {
    return this.#jitter;
  }

  /** The allowed wait without jitter. */
  get #steadyWait(): number {
    return Math.max(MIN_ALLOWED, this.#base * ALLOWED_SHARE);
  }

  /** Milliseconds that the present round lasts at least. A drain takes effect at once. */
  get #leastRound(): number {
    if (this.#phase === 'drain' && this.#drainRounds > 1) return 0;
    const jitter = Math.max(0, this.#jitter - NOTICED_JITTER * this.#steadyWait);
    return Math.min(MAX_ROUND, (this.#phase === 'steady' ? MIN_ROUND : 0) + ROUND_JITTERS * jitter);
  }

  /** Whether this sender causes the path's losses. */
  get causesLosses(): boolean {
    return this.#losses.areCertain;
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
    const idleAfter = Math.max(IDLE_AFTER, IDLE_ROUND_TRIPS * Math.max(this.#base, this.#rtt));
    if (sample.now - this.#observedAt > idleAfter) this.#wasIdle = true;
    this.#observedAt = sample.now;
    // The pace is that of all bytes on the path, and the system sends lost ones again without asking.
    if (sample.sentAgain > this.#sentAgain) this.#bucket?.take(sample.now, sample.sentAgain - this.#sentAgain);
    this.#sentAgain = sample.sentAgain;
    if (this.#wasIdle) {
      // The path was idle for a part of this round: it says nothing about its rate.
      this.#wasIdle = false;
      this.#drainedAt = sample.now;
    } else if (round) {
      round.isIdle ||= !round.isBusy && sample.now - round.since > this.#base;
      if (round.isIdle) this.#reason = 'unused';
      if (sample.rtt > 0) {
        round.rtt = Math.min(round.rtt, sample.rtt);
        round.jitter.add(sample.now - round.since, sample.rtt);
      }
      const elapsed = sample.now - round.since;
      const least = Math.max(1, Math.min(round.rtt, 1e3), this.#leastRound);
      if (sample.delivered < round.end || elapsed < least) return;
      if (Number.isFinite(round.rtt)) this.#finish(round, sample);
    }
    this.#round = {
      since: sample.now,
      delivered: sample.delivered,
      sentAgain: sample.sentAgain,
      end: sample.delivered + Math.max(1, sample.inFlight),
      rtt: Number.POSITIVE_INFINITY,
      jitter: new JitterEstimate(),
      oneWay: Number.POSITIVE_INFINITY,
      isLimited: false,
      isBusy: false,
      isIdle: false,
    };
  }

  #finish(round: Round, sample: PathSample): void {
    const { now } = sample;
    if (round.isBusy) this.#noteJitter(round.jitter.deviation);
    const elapsed = now - round.since;
    const delivered = sample.delivered - round.delivered;
    const rate = delivered / elapsed;
    this.#rtt = round.rtt;
    this.#noteWayBack(round, now);
    const lost = sample.sentAgain - round.sentAgain;
    this.#drainedAt ??= now;
    // Acknowledgements that leave the queue of the way back faster than they entered it would show too high a rate.
    const sent = (rate * elapsed) / (elapsed + this.#shortenedWayBack);
    // Where nothing waits, the path could have carried more.
    if (this.#phase !== 'drain' && (round.isBusy || sent > this.rate)) this.#rates.push(sent);
    if (this.#rates.length > RATES) this.#rates.shift();
    if (this.#phase === 'drain') this.#endDrainRound(round, now, delivered, lost);
    else if (this.#phase === 'compete') this.#continueCompetition(round, now);
    else {
      this.#noteShortest(round);
      if (this.#phase === 'startup') this.#start(round, now, rate, lost > 0);
      else this.#adjust(round, now, sent, this.#losses.addRound(delivered, lost));
      const isDue =
        round.isBusy && now - this.#drainedAt > Math.max(DRAIN_INTERVAL, DRAIN_INTERVAL_ROUNDS * this.#base);
      if (isDue || this.#lateRounds > MAX_LATE_ROUNDS) this.#drain();
    }
  }

  #start(round: Round, now: number, rate: number, hasLost: boolean): void {
    const { rtt, isLimited, isBusy } = round;
    const [rateBefore = 0, lastRate = 0] = [this.#rates.at(-3), this.#rates.at(-2)];
    const isFull = isLimited && rate < rateBefore * STARTUP_GROWTH;
    const hasQueue = rtt > this.#target && rate < lastRate * STARTUP_GROWTH_WITH_WAIT;
    if (hasLost || isFull || hasQueue) {
      this.#enter('steady'); // after losses, the system has reduced its own window
      if (isBusy) this.#setPace(this.rate, now);
    } else if (isLimited) {
      const carried = this.rate * (this.#target + this.#jitter) * STARTUP_REACH;
      this.#setWindow(Math.max(this.#window, Math.min(2 * this.#window, carried)));
    }
  }

  /** The pace is the rate of the path, and a little more or less, so that the missing or excessive wait ends. */
  #adjust(round: Round, now: number, rate: number, isTooFast: boolean): void {
    const target = this.#target;
    const { rtt, isLimited, isBusy, since } = round;
    // A queue of its own becomes shorter when less is sent.
    const isUnmoved = this.#hasShrunk && rtt >= this.#rttBefore;
    const isLate = isBusy && rtt > target + (isUnmoved ? 0 : LATE_SHARE * this.allowedWait);
    this.#rttBefore = rtt;
    this.#hasShrunk = false;
    this.#lateRounds = isLate ? this.#lateRounds + 1 : 0;
    const unused = target - rtt;
    // Losses while bytes wait are those of a full queue.
    const room = isTooFast ? Math.min(0, unused) : unused;
    if (room < 0 ? !isBusy : !isLimited) {
      this.#reason = room < 0 ? 'others' : 'unused';
      return;
    }
    const elapsed = now - since;
    if (room > 0) this.#growPace(room, now);
    else {
      this.#reason = room === unused ? 'shrinking' : 'tooFast';
      // While bytes wait, the rate is that of the path. Jitter lets rounds differ from the mean, if only a little.
      this.#shortRounds = 0;
      const usual = this.#rates.reduce((sum, each) => sum + each, 0) / this.#rates.length;
      const carried = rate > usual * STARTUP_GROWTH ? rate : usual;
      this.#setPace(carried * (1 + Math.max(-MAX_CHANGE, (SHRINKING_GAIN * room) / elapsed)), now);
    }
  }

  /** The path may carry more than in its best round. */
  #growPace(room: number, now: number): void {
    this.#reason = 'growing';
    this.#shortRounds = room > UNUSED_SHARE * this.allowedWait ? this.#shortRounds + 1 : 0;
    const growth = GROWTH + FURTHER_GROWTH * this.#shortRounds;
    const change = Math.min(MAX_CHANGE, (growth * room) / this.allowedWait);
    this.#setPace(Math.max(this.#pace, this.rate * (1 + change)), now);
  }

  #setPace(bytesPerMillisecond: number, now: number): void {
    const reach = this.#target * WINDOW_REACH + this.#jitter * WINDOW_JITTERS;
    const pace = Math.max(bytesPerMillisecond, MIN_WINDOW / reach);
    this.#hasShrunk = pace < this.#pace;
    this.#pace = pace;
    const limits = { burst: pace * this.allowedWait, perSecond: pace * 1_000, ahead: Number.POSITIVE_INFINITY };
    if (this.#bucket) this.#bucket.change(limits, now);
    else this.#bucket = new TokenBucket(limits, now);
    this.#setWindow(pace * reach);
  }

  /** Measures the shortest round trip again: sends less than the path carries, until its queue is empty. */
  #drain(): void {
    this.#enter('drain');
    this.#drainRounds = DRAIN_ROUNDS;
    const rate = Math.min(...this.#rates.slice(-DRAIN_RATES));
    this.#setWindow(rate * (this.#base + this.#wayBack + this.#jitter) * DRAIN_SHARE);
  }

  #endDrainRound({ rtt, oneWay }: Round, now: number, delivered: number, lost: number): void {
    this.#drainRounds--;
    if (this.#drainRounds > 0) return;
    this.#losses.addDrain(delivered, lost);
    // The smallest window may be more than the path holds. A peer that tells when frames arrive knows the wait exactly.
    const rest = Math.max(this.#base + this.#wayBack, MIN_WINDOW / this.rate);
    const exact = oneWay - this.#shortestOneWay; // Infinity or NaN if the peer does not tell
    const wait = Number.isFinite(exact) ? Math.min(rtt - rest, exact) : rtt - rest;
    const isForeign = wait > (1 + LATE_SHARE) * this.allowedWait;
    if (isForeign && this.#drainRounds > -FURTHER_DRAIN_ROUNDS) {
      this.#setWindow(this.#window / 2);
      return;
    }
    this.#drainedAt = now;
    this.#lateRounds = 0;
    this.#foreign = isForeign ? [...this.#foreign.slice(1 - SAME_WAITS), rtt] : [];
    const isSame = Math.max(...this.#foreign) - Math.min(...this.#foreign) < this.allowedWait;
    const isLonger = this.#foreign.length === SAME_WAITS && isSame;
    if (isForeign && !isLonger) {
      this.#compete(now);
      return;
    }
    this.#foreign = [];
    if (isLonger) this.#waysBack = [];
    // A peer may lie about arrivals: the base is never shorter than a measured round trip.
    const epoch = { rtt: Math.min(rtt, Math.max(rtt - this.#wayBack, this.#base)), oneWay };
    if (isLonger || now - this.#epochAt >= MIN_EPOCH) {
      this.#epochs = isLonger ? [epoch] : [...this.#epochs.slice(1 - EPOCHS), epoch];
      this.#epochAt = now;
    } else this.#noteShortest(epoch);
    this.#updateBase();
    this.#competitionTime = Math.max(COMPETITION_TIME, this.#competitionTime * COMPETITION_FALL);
    this.#enter(isLonger ? 'startup' : 'steady');
    if (isLonger) this.#setWindow(this.rate * (this.#target + this.#jitter));
    else this.#setPace(this.#pace || this.rate, now);
  }

  /**
   * This sender keeps no queue, but there is one: others fill it. They would take the whole path from a sender that
   * avoids queues, so the system's congestion control decides for a while.
   */
  #compete(now: number): void {
    this.#enter('compete');
    this.#competesUntil = now + Math.max(this.#competitionTime, COMPETITION_ROUND_TRIPS * this.#rtt);
    this.#competitionTime = Math.min(MAX_COMPETITION_TIME, 2 * this.#competitionTime);
    this.#setWindow(MAX_WINDOW);
  }

  #continueCompetition({ rtt }: Round, now: number): void {
    if (now >= this.#competesUntil) this.#drain();
    else if (rtt <= this.#base + this.#wayBack + this.#steadyWait) {
      this.#enter('steady');
      this.#setPace(COMPETITION_REACH * this.rate, now);
    }
  }

  #noteJitter(milliseconds: number): void {
    this.#jitters = [...this.#jitters.slice(1 - JITTERS), milliseconds];
    const sorted = this.#jitters.toSorted((a, b) => a - b);
    this.#jitter = sorted[Math.floor(sorted.length * JITTER_QUANTILE)] ?? 0;
  }

  #noteShortest({ rtt, oneWay }: Shortest): void {
    const newest = this.#epochs.at(-1) as Shortest;
    newest.rtt = Math.min(rtt, newest.rtt);
    newest.oneWay = Math.min(oneWay, newest.oneWay);
    this.#updateBase();
  }

  get #shortestOneWay(): number {
    return Math.min(...this.#epochs.map((epoch) => epoch.oneWay));
  }

  #updateBase(): void {
    this.#base = Math.min(...this.#epochs.map((epoch) => epoch.rtt));
  }

  /** The part of the round trip's growth that the way there does not explain. */
  #noteWayBack({ rtt, oneWay }: Shortest, now: number): void {
    if (Number.isFinite(oneWay)) {
      const wait = rtt - this.#base - Math.max(0, oneWay - this.#shortestOneWay) - NOISE_SHARE * this.allowedWait;
      this.#waysBack = [...this.#waysBack.slice(1 - WAYS_BACK), Math.max(0, wait)];
      this.#wayBackAt = now;
    } else if (now - this.#wayBackAt > Math.max(ONE_WAY_VALID, ONE_WAY_VALID_ROUNDS * rtt)) this.#waysBack = [];
  }

  #enter(phase: PathPhase): void {
    this.#phase = phase;
    this.#bucket = undefined;
  }

  #setWindow(bytes: number): void {
    this.#window = Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, bytes));
  }
}
