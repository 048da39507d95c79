// The sending half of flow control: tracks payloads in flight, sizes the window, and selects payloads to retransmit
// (reference fact: link, section 2.4). The xgress that owns it sends. Times are in milliseconds.

import type { EndBudget } from '#lib/queue/holder-budgets.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { Payload } from '#wire/xgress-frames.ts';
import { DelayLimit } from './delay-limit.ts';
import type { XgressOptions } from './options.ts';

/** Minimum interval between two checks for retransmissions. */
const MIN_CHECK_INTERVAL = 64;
/**
 * The scale rises by the first per batch of duplicate acknowledgements and falls by the second per batch of successful
 * ones.
 */
const RETX_SCALE_RAISE = 0.2;
const RETX_SCALE_EASE = 0.01;
/**
 * Limit of the scale, as a multiple of the configured one, for peers that acknowledge payloads which were never sent.
 */
const MAX_RETX_SCALE = 8;
/**
 * Each unanswered retransmission doubles the wait, up to this factor: a peer with a full buffer drops every payload.
 */
const MAX_BACKOFF_FACTOR = 128;
/**
 * A payload is lost if a later payload was delivered, and left at least this many milliseconds and round trips after
 * it. The connections of a link deliver independently: one that repeats a packet is late by a round trip, or by the
 * shortest retransmission timer of Linux. Only the first link shows that it still carries the payload.
 */
const MIN_REORDERING = 200;
const REORDERING_ROUND_TRIPS = 2;
/**
 * Bytes to retransmit while the peer acknowledges nothing: its answer tells which of the others are lost. A link that
 * only stood still delivers all of them. If it acknowledges these, twice as many follow.
 */
const PROBE = 64 * 1024;
/** Milliseconds, if the configuration sets no limit. */
const MAX_WAIT_MS = 60_000;
/** A payload is late by the mean round trip and so many mean deviations from it (RFC 6298). */
const VARIATIONS = 4;
const VARIATION_SHARE = 1 / 4;
/** Bytes that an entry needs beside its payload: objects, table entry. */
const ENTRY_OVERHEAD = 512;
const NOT_SENT = -1;
const NONE: number[] = [];

export interface SendBufferMetrics {
  duplicateAck(): void;
}

interface Entry {
  readonly payload: Payload;
  /** Time of the last transmission, or NOT_SENT before the first. */
  sentAt: number;
  isRetransmitted: boolean;
}

/** Field names as in the reference. */
export interface SendBufferInspection {
  readonly windowSize: number;
  readonly queuedPayloadCount: number;
  readonly linkSendBufferSize: number;
  readonly linkRecvBufferSize: number;
  readonly accumulator: number;
  readonly successfulAcks: number;
  readonly duplicateAcks: number;
  readonly retransmits: number;
  readonly closed: boolean;
  readonly blockedByLocalWindow: boolean;
  readonly blockedByRemoteWindow: boolean;
  readonly retxScale: number;
  readonly retxThreshold: number;
  readonly timeSinceLastRetx: string;
  readonly closeWhenEmpty: boolean;
  readonly acquiredSafely: boolean;
}

export class SendBuffer {
  readonly #options: XgressOptions;
  readonly #metrics: SendBufferMetrics;
  readonly #budget: EndBudget;
  /** In the order of their last transmission. */
  readonly #entries = new Map<number, Entry>();
  /** Sequences left to retransmit, in descending order; acknowledged ones may be among them. */
  #due: number[] = NONE;
  #size = 0;
  /** Bytes of memory held by the entries. */
  #memory = 0;
  #window: number;
  readonly #delayLimit = new DelayLimit();
  #peerBuffer = 0;
  #accumulator = 0;
  #successfulAcks = 0;
  #duplicateAcks = 0;
  #retransmits = 0;
  #retxScale: number;
  #retxThreshold: number;
  #lastRtt = 0;
  /** Mean deviation of round trips from it. */
  #variation = 0;
  /** When the newest delivered payload was sent, and when the peer last acknowledged one. */
  #newestDelivered = Number.NEGATIVE_INFINITY;
  #progressAt = Number.NEGATIVE_INFINITY;
  /** The payload that was sent although the peer's buffer was full. */
  #unfitting: number | undefined;
  /** Bytes of retransmissions that the peer has acknowledged since the last ones were selected. */
  #recovered = 0;
  #lastCheck = 0;
  #backoff = 1;
  #closing = false;

  constructor(options: XgressOptions, metrics: SendBufferMetrics, budget: EndBudget) {
    this.#options = options;
    this.#metrics = metrics;
    this.#budget = budget;
    this.#window = options.txPortalStartSize;
    this.#retxScale = options.retxScale;
    this.#retxThreshold = options.retxStartMs;
  }

  /** Unacknowledged bytes and payloads. */
  get size(): number {
    return this.#size;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** Bytes that may be in flight. */
  get window(): number {
    return this.#window;
  }

  /** Milliseconds after which a payload is retransmitted. */
  get retransmitAfter(): number {
    const max = this.#options.retxMaxMs > 0 ? this.#options.retxMaxMs : MAX_WAIT_MS;
    const threshold = Math.max(this.#retxThreshold, this.#lastRtt + VARIATIONS * this.#variation);
    if (this.#backoff === 1) return Math.min(max, threshold);
    return Math.min(max, Math.max(threshold, MIN_CHECK_INTERVAL) * this.#backoff);
  }

  get blockedByWindow(): boolean {
    return this.#size > this.#window || this.#size > this.#delayLimit.bytes;
  }

  /** Payloads in flight will also fill the peer's buffer: the peer drops those that do not fit. */
  get blockedByPeer(): boolean {
    return this.#peerBuffer + this.#size > this.#options.txPortalMaxSize;
  }

  /** The circuits of this router together hold too many bytes. */
  get blockedByBudget(): boolean {
    return this.#memory > this.#budget.share;
  }

  /** Whether there is room for a message of the client: large ones wait while the circuits hold too many bytes. */
  fits(bytes: number): boolean {
    return this.#closing || this.#budget.fits(bytes);
  }

  /**
   * Whether the client may send more data. The windows count only data; the budget also limits payloads without any.
   */
  get admits(): boolean {
    if (this.#closing) return true;
    return !this.blockedByBudget && (this.#size === 0 || !(this.blockedByPeer || this.blockedByWindow));
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** For inspections. */
  inspect(now: number): SendBufferInspection {
    return {
      windowSize: this.#window,
      queuedPayloadCount: this.#entries.size,
      linkSendBufferSize: this.#size,
      linkRecvBufferSize: this.#peerBuffer,
      accumulator: this.#accumulator,
      successfulAcks: this.#successfulAcks,
      duplicateAcks: this.#duplicateAcks,
      retransmits: this.#retransmits,
      closed: false,
      blockedByLocalWindow: this.blockedByWindow,
      blockedByRemoteWindow: this.blockedByPeer,
      retxScale: this.#retxScale,
      retxThreshold: Math.round(this.#retxThreshold),
      timeSinceLastRetx: formatDuration(this.#lastCheck === 0 ? 0 : now - this.#lastCheck),
      closeWhenEmpty: this.#closing,
      acquiredSafely: true,
    };
  }

  /** Admits every payload from now on: only the end of the circuit is still to be sent. */
  startClosing(): void {
    this.#closing = true;
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  /** Stores a payload. The buffer owns it from now on and releases it once it is acknowledged. */
  add(payload: Payload): void {
    if (payload.dataLength > 0 && this.#size === 0 && this.blockedByPeer) this.#unfitting = payload.sequence;
    this.#entries.set(payload.sequence, { payload, sentAt: NOT_SENT, isRetransmitted: false });
    this.#size += payload.dataLength;
    this.#keep(payload.memory + ENTRY_OVERHEAD);
  }

  /** Records that a payload was sent; from now on it can become due for retransmission. */
  sent(sequence: number, now: number): void {
    const entry = this.#entries.get(sequence);
    if (!entry) return;
    if (entry.sentAt !== NOT_SENT) {
      entry.isRetransmitted = true;
      this.#entries.delete(sequence);
      this.#entries.set(sequence, entry);
    }
    entry.sentAt = now;
  }

  /**
   * Round trips are measured here, not read from the timestamps of acknowledgements: each router on the way replaces
   * those, so they show a part of the way, by another clock.
   *
   * @param isPaced The next hop bounds the bytes on their way: circuits need no bound of their own.
   */
  acknowledge(
    sequences: readonly number[],
    peerBuffer: number,
    { now, isPaced }: { now: number; isPaced: boolean },
  ): void {
    const size = this.#size;
    const newest = this.#entries.get(sequences.at(-1) ?? -1);
    for (const sequence of sequences) this.#acknowledge(sequence, now);
    if (newest && newest.sentAt !== NOT_SENT && !newest.isRetransmitted) {
      const roundTrip = now - newest.sentAt;
      this.#measure(roundTrip);
      if (isPaced) this.#delayLimit.lift();
      else if (size > this.#size) this.#delayLimit.measured(roundTrip, size - this.#size, size, now);
    }
    if (peerBuffer < this.#peerBuffer) this.#backoff = 1; // the peer has room for the dropped payloads again
    this.#peerBuffer = peerBuffer;
    if (this.#unfitting !== undefined && !this.blockedByPeer) this.#repeatUnfitting(this.#unfitting, now);
  }

  /**
   * The peer has room and did not acknowledge the payload, so it has dropped it. It holds back all later ones until it
   * has this one, which would otherwise be repeated after a timeout.
   */
  #repeatUnfitting(sequence: number, now: number): void {
    const entry = this.#entries.get(sequence);
    if (!entry) this.#unfitting = undefined;
    if (!entry || entry.sentAt === NOT_SENT || now - entry.sentAt < this.#lastRtt || this.#due.length > 0) return;
    this.#unfitting = undefined;
    if (!entry.isRetransmitted) this.#due = [sequence];
  }

  /**
   * Yields payloads due for retransmission, in ascending order. Call `retransmitted` for each payload sent. The next
   * call continues with the payload at which the caller stopped.
   *
   * @param deliveredBefore Returns the time before which payloads have left the first link; undefined if unknown.
   */
  *due(now: number, deliveredBefore: () => number | undefined): Generator<Payload> {
    const due = this.#due.length > 0 ? this.#due : this.#select(now, deliveredBefore);
    if (due.length === 0) return;
    this.#due = NONE; // an acknowledgement that arrives meanwhile begins no second pass
    try {
      for (let sequence = due.at(-1); sequence !== undefined; sequence = due.at(-1)) {
        const entry = this.#entries.get(sequence);
        if (entry) yield entry.payload;
        due.pop();
      }
      this.#backoff = Math.min(MAX_BACKOFF_FACTOR, this.#backoff * 2);
    } finally {
      this.#due = due;
    }
  }

  /** Returns the sequences of the payloads that are due, in descending order. */
  #select(now: number, deliveredBefore: () => number | undefined): number[] {
    if (now - this.#lastCheck < MIN_CHECK_INTERVAL) return NONE;
    this.#lastCheck = now;
    const before = now - this.retransmitAfter;
    const oldest = firstSent(this.#entries.values());
    if (oldest === undefined || oldest > before) return NONE;
    // A reliable connection still carries later ones; an acknowledgement needs a round trip at most.
    const onTheWay = (deliveredBefore() ?? Number.POSITIVE_INFINITY) - this.#lastRtt;
    const lostBefore = this.#newestDelivered - Math.max(MIN_REORDERING, REORDERING_ROUND_TRIPS * this.#lastRtt);
    const lost: number[] = [];
    const late: number[] = [];
    for (const { payload, sentAt } of this.#entries.values()) {
      if (sentAt > before || sentAt >= onTheWay) break; // later entries were sent later
      if (sentAt !== NOT_SENT) (sentAt < lostBefore ? lost : late).push(payload.sequence);
    }
    const due = this.#progressAt <= before ? [...lost, ...this.#probe(late)] : lost;
    if (due.length > 0) this.#recovered = 0;
    return due.sort((a, b) => b - a);
  }

  /** The first of these payloads: the peer holds back all others for them. */
  #probe(late: number[]): number[] {
    let bytes = Math.max(PROBE, 2 * this.#recovered);
    const first = late
      .sort((a, b) => a - b)
      .findIndex((sequence) => {
        bytes -= this.#entries.get(sequence)?.payload.memory ?? 0;
        return bytes <= 0;
      });
    return first === -1 ? late : late.slice(0, first + 1);
  }

  retransmitted(sequence: number, now: number): void {
    this.sent(sequence, now);
    if (++this.#retransmits < this.#options.txPortalRetxThresh) return;
    this.#accumulator = 0;
    this.#retransmits = 0;
    this.#window = Math.max(this.#options.txPortalMinSize, Math.floor(this.#window * this.#options.txPortalRetxScale));
  }

  clear(): void {
    this.#keep(-this.#memory);
    for (const { payload } of this.#entries.values()) payload.release();
    this.#entries.clear();
    this.#due = NONE;
    this.#size = 0;
  }

  #acknowledge(sequence: number, now: number): void {
    const entry = this.#entries.get(sequence);
    if (!entry || entry.sentAt === NOT_SENT) {
      this.#onDuplicate();
      return;
    }
    this.#backoff = 1;
    this.#progressAt = now;
    // The acknowledgement of a retransmission may belong to the first transmission, if it arrives early.
    if (!entry.isRetransmitted || now - entry.sentAt >= this.#lastRtt)
      this.#newestDelivered = Math.max(this.#newestDelivered, entry.sentAt);
    this.#entries.delete(sequence);
    const length = entry.payload.dataLength;
    this.#size -= length;
    if (entry.isRetransmitted) this.#recovered += length;
    this.#keep(-entry.payload.memory - ENTRY_OVERHEAD);
    entry.payload.release();
    this.#accumulator += length;
    if (++this.#successfulAcks < this.#options.txPortalIncreaseThresh) return;
    this.#successfulAcks = 0;
    this.#window = Math.min(
      this.#options.txPortalMaxSize,
      this.#window + Math.floor(this.#accumulator * this.#options.txPortalIncreaseScale),
    );
    this.#retxScale = Math.max(this.#options.retxScale, this.#retxScale - RETX_SCALE_EASE);
  }

  #keep(bytes: number): void {
    this.#memory += bytes;
    this.#budget.add(bytes);
  }

  #onDuplicate(): void {
    this.#metrics.duplicateAck();
    if (++this.#duplicateAcks < this.#options.txPortalDupAckThresh) return;
    this.#duplicateAcks = 0;
    this.#retxScale = Math.min(this.#options.retxScale * MAX_RETX_SCALE, this.#retxScale + RETX_SCALE_RAISE);
  }

  #measure(roundTrip: number): void {
    const { maxRttScale, retxMaxMs, retxAddMs } = this.#options;
    const last = this.#lastRtt;
    const deviation = last > 0 ? Math.abs(roundTrip - last) : roundTrip / 2;
    this.#variation += (deviation - this.#variation) * VARIATION_SHARE;
    let rtt = roundTrip;
    if (last > 0 && maxRttScale > 0) rtt = Math.min(rtt, last * maxRttScale);
    if (last > 0) rtt = (rtt + last) / 2;
    this.#lastRtt = rtt;
    const threshold = Math.floor(rtt * this.#retxScale) + retxAddMs;
    this.#retxThreshold = retxMaxMs > 0 ? Math.min(retxMaxMs, threshold) : threshold;
  }
}

/** The earliest time at which an entry was sent last; entries are in this order. */
function firstSent(entries: Iterable<Entry>): number | undefined {
  for (const { sentAt } of entries) if (sentAt !== NOT_SENT) return sentAt;
  return undefined;
}
