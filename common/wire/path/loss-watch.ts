// Finds out whether losses limit a path although it keeps no queue: radio, a damaged cable, a busy exchange point. The
// usual congestion control takes each loss for a full queue, so 0.5 % of losses leave it 3 % of a path of 200 Mbit/s.
// There one that tolerates losses is better. A pure component: the owner passes measurements and applies the choice.
//
//   system ──packets are lost several times while no queue waits──► tolerant
//   tolerant ──this sender causes the losses (own-losses.ts): a policer drops what exceeds the rate, or
//              many more bytes are lost than before: there is a queue, a very short one──► system, for a while
//
//   system: the congestion control that the operator has chosen     tolerant: one that tolerates losses

/** The state of all connections of the path together. */
export interface LossSample {
  /** Milliseconds of a monotonic clock. */
  readonly now: number;
  /** Milliseconds. */
  readonly rtt: number;
  /** Bytes sent since the start, again or not. */
  readonly sent: number;
  /** Bytes sent again since the start, because they were lost. */
  readonly sentAgain: number;
  /** The system's congestion control limits the path: bytes wait for it. */
  readonly isLimited: boolean;
  /** The round trip shows that bytes wait nowhere on the path longer than allowed. */
  readonly isQueueShort: boolean;
  /** Nothing is lost while less is sent. */
  readonly isOwn: boolean;
}

/** Losses, at least a round trip apart, that show a path with losses; and milliseconds within which they occur. */
const LOSSES = 3;
const LOSSES_COUNT = 30_000;
/**
 * The choice is judged each time after so many milliseconds, so many round trips and so many bytes of a busy path. It
 * is wrong if that many times in a row more than this multiple of the share lost before, and this share more, is lost:
 * a single time may be the one in which the new congestion control looks for the rate of the path.
 */
const JUDGED_AFTER = 2_000;
const JUDGED_AFTER_ROUND_TRIPS = 20;
const JUDGED_BYTES = 1024 * 1024;
const WORSE_TIMES = 3;
const WORSE_FACTOR = 2;
const WORSE_BY = 0.02;
/** Milliseconds without a measurement after which the path was not busy. */
const IDLE_AFTER = 1_000;
/** Milliseconds before the next attempt on such a path. */
const NEXT_ATTEMPT = 600_000;

/** Totals at a time. */
type Mark = Pick<LossSample, 'now' | 'sent' | 'sentAgain'>;

export class LossWatch {
  #isTolerant = false;
  /** The last losses without a queue, the oldest one first. */
  #losses: Mark[] = [];
  #sentAgain = 0;
  /** Share of the bytes that was lost before the choice. */
  #shareBefore = 0;
  #judgedFrom: Mark | undefined;
  #observedAt = Number.NEGATIVE_INFINITY;
  #worseTimes = 0;
  #notBefore = Number.NEGATIVE_INFINITY;

  /** Whether connections should use a congestion control that tolerates losses. */
  get isTolerant(): boolean {
    return this.#isTolerant;
  }

  /** Share of the bytes that was lost, as far as it was measured. */
  get lossShare(): number {
    return this.#shareBefore;
  }

  /** Call it at least once per round trip while bytes are sent. Returns true if `isTolerant` has changed. */
  observe(sample: LossSample): boolean {
    const hasLost = sample.sentAgain > this.#sentAgain;
    this.#sentAgain = sample.sentAgain;
    if (sample.now - this.#observedAt > IDLE_AFTER) this.#judgedFrom = markOf(sample);
    this.#observedAt = sample.now;
    if (!this.#isTolerant) return hasLost && this.#noteLoss(sample);
    if (!this.#harms(sample)) return false;
    this.#isTolerant = false;
    this.#notBefore = sample.now + NEXT_ATTEMPT;
    return true;
  }

  #noteLoss(sample: LossSample): boolean {
    const { now, rtt, isLimited, isQueueShort } = sample;
    if (!isQueueShort) {
      this.#losses = []; // the system is right: there is a queue, and it is full
      return false;
    }
    const last = this.#losses.at(-1);
    if (!isLimited || now < this.#notBefore || (last && now - last.now < rtt)) return false;
    this.#losses = [...this.#losses.filter((loss) => now - loss.now < LOSSES_COUNT), markOf(sample)];
    if (this.#losses.length < LOSSES) return false;
    this.#shareBefore = lostShare(this.#losses[0] as Mark, sample);
    this.#losses = [];
    this.#isTolerant = true;
    this.#worseTimes = 0;
    this.#judgedFrom = markOf(sample);
    return true;
  }

  /**
   * Whether the tolerant congestion control causes losses: drains have none, or a larger share is lost than before. The
   * second shows a short queue where no drains are made, because others fill the path.
   */
  #harms(sample: LossSample): boolean {
    if (sample.isOwn) return true;
    const from = this.#judgedFrom as Mark;
    const elapsed = sample.now - from.now;
    if (elapsed < Math.max(JUDGED_AFTER, JUDGED_AFTER_ROUND_TRIPS * sample.rtt)) return false;
    if (sample.sent - from.sent < JUDGED_BYTES) return false;
    const isWorse = lostShare(from, sample) > WORSE_FACTOR * this.#shareBefore + WORSE_BY;
    this.#judgedFrom = markOf(sample);
    this.#worseTimes = isWorse ? this.#worseTimes + 1 : 0;
    return this.#worseTimes >= WORSE_TIMES;
  }
}

function markOf({ now, sent, sentAgain }: LossSample): Mark {
  return { now, sent, sentAgain };
}

function lostShare(from: Mark, to: Mark): number {
  return to.sent > from.sent ? (to.sentAgain - from.sentAgain) / (to.sent - from.sent) : 0;
}
