// The sending half of flow control: which payloads are on their way, how many bytes may be, what has to be sent again
// (reference fact: link, section 2.4). It decides; sending is done by the xgress that owns it. Times are milliseconds.

import { formatDuration } from '#lib/duration.ts';
import type { Payload } from '#wire/xgress-frames.ts';
import type { BufferBudget } from './buffer-budget.ts';
import { DelayLimit } from './delay-limit.ts';
import type { XgressOptions } from './options.ts';

/** Retransmission is looked at no more often than this. */
const MIN_CHECK_INTERVAL = 64;
/** Raised by this per batch of duplicate acknowledgements, lowered by the other per batch of successful ones. */
const RETX_SCALE_RAISE = 0.2;
const RETX_SCALE_EASE = 0.01;
/** A peer that acknowledges what was never sent raises the scale no further than so many times the configured one. */
const MOST_RETX_SCALE = 8;
/** Each retransmission without an answer doubles the wait, up to this factor: a peer whose buffer is full drops what it gets. */
const MOST_BACKOFF = 128;
/** Milliseconds, where the configuration sets no limit. */
const LONGEST_WAIT = 60_000;
/** Bytes that an entry takes beside its payload: objects, table entry. */
const ENTRY_OVERHEAD = 512;
const NOT_SENT = -1;

export interface SendBufferMetrics {
  duplicateAck(): void;
}

interface Entry {
  readonly payload: Payload;
  /** When it was last sent, or NOT_SENT while it waits for its first time. */
  sentAt: number;
}

/** The reference's names. */
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
  readonly #budget: BufferBudget;
  /** In the order in which they were sent last. */
  readonly #entries = new Map<number, Entry>();
  #size = 0;
  /** Bytes of memory that the entries keep. */
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
  #lastCheck = 0;
  #backoff = 1;
  #closing = false;

  constructor(options: XgressOptions, metrics: SendBufferMetrics, budget: BufferBudget) {
    this.#options = options;
    this.#metrics = metrics;
    this.#budget = budget;
    this.#window = options.txPortalStartSize;
    this.#retxScale = options.retxScale;
    this.#retxThreshold = options.retxStartMs;
  }

  /** Bytes and payloads that are not acknowledged. */
  get size(): number {
    return this.#size;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** Bytes that may be on their way. */
  get window(): number {
    return this.#window;
  }

  /** Milliseconds after which a payload is sent again. */
  get retransmitAfter(): number {
    if (this.#backoff === 1) return this.#retxThreshold;
    const most = this.#options.retxMaxMs > 0 ? this.#options.retxMaxMs : LONGEST_WAIT;
    return Math.min(most, Math.max(this.#retxThreshold, MIN_CHECK_INTERVAL) * this.#backoff);
  }

  get blockedByWindow(): boolean {
    return this.#size > this.#window || this.#size > this.#delayLimit.bytes;
  }

  /** Payloads on their way will lie in the peer's buffer as well: the peer drops those that do not fit. */
  get blockedByPeer(): boolean {
    return this.#peerBuffer + this.#size > this.#options.txPortalMaxSize;
  }

  /** The router holds too much for all its circuits together. */
  get blockedByBudget(): boolean {
    return this.#memory > this.#budget.share;
  }

  /** Whether the client's next data may be taken. */
  get admits(): boolean {
    return this.#closing || this.#size === 0 || !(this.blockedByPeer || this.blockedByWindow || this.blockedByBudget);
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

  /** From now on everything is admitted: only what ends the circuit is still to come. */
  startClosing(): void {
    this.#closing = true;
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  /** The payload belongs to this buffer, which releases it when it is acknowledged. */
  add(payload: Payload): void {
    this.#entries.set(payload.sequence, { payload, sentAt: NOT_SENT });
    this.#size += payload.dataLength;
    this.#keep(payload.memory + ENTRY_OVERHEAD);
  }

  /** The payload has left; from now on it can become due again. */
  sent(sequence: number, now: number): void {
    const entry = this.#entries.get(sequence);
    if (!entry) return;
    if (entry.sentAt !== NOT_SENT) {
      this.#entries.delete(sequence);
      this.#entries.set(sequence, entry);
    }
    entry.sentAt = now;
  }

  /** `roundTrip` in milliseconds, when the acknowledgement tells it. */
  acknowledge(sequences: readonly number[], peerBuffer: number, roundTrip: number | undefined, now: number): void {
    const size = this.#size;
    const newest = this.#entries.get(sequences.at(-1) ?? -1)?.sentAt ?? NOT_SENT;
    for (const sequence of sequences) this.#acknowledge(sequence);
    if (newest !== NOT_SENT && size > this.#size) this.#delayLimit.measured(now - newest, size - this.#size, size, now);
    if (peerBuffer < this.#peerBuffer) this.#backoff = 1; // there is room again for what was dropped
    this.#peerBuffer = peerBuffer;
    if (roundTrip !== undefined) this.#measure(roundTrip);
  }

  /** Payloads that are due for retransmission, in ascending order. Call `retransmitted` for each that was sent. */
  *due(now: number): Generator<Payload> {
    if (now - this.#lastCheck < MIN_CHECK_INTERVAL) return;
    this.#lastCheck = now;
    const before = now - this.retransmitAfter;
    const due: Payload[] = [];
    for (const { payload, sentAt } of this.#entries.values()) {
      if (sentAt > before) break; // those behind it were sent later
      if (sentAt !== NOT_SENT) due.push(payload);
    }
    yield* due.sort((a, b) => a.sequence - b.sequence);
    if (due.length > 0) this.#backoff = Math.min(MOST_BACKOFF, this.#backoff * 2);
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
    this.#size = 0;
  }

  #acknowledge(sequence: number): void {
    const entry = this.#entries.get(sequence);
    if (!entry || entry.sentAt === NOT_SENT) {
      this.#onDuplicate();
      return;
    }
    this.#backoff = 1;
    this.#entries.delete(sequence);
    const length = entry.payload.dataLength;
    this.#size -= length;
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
    this.#retxScale = Math.min(this.#options.retxScale * MOST_RETX_SCALE, this.#retxScale + RETX_SCALE_RAISE);
  }

  #measure(roundTrip: number): void {
    const { maxRttScale, retxMaxMs, retxAddMs } = this.#options;
    const last = this.#lastRtt;
    let rtt = roundTrip;
    if (last > 0 && maxRttScale > 0) rtt = Math.min(rtt, last * maxRttScale);
    if (last > 0) rtt = (rtt + last) / 2;
    this.#lastRtt = rtt;
    const threshold = Math.floor(rtt * this.#retxScale) + retxAddMs;
    this.#retxThreshold = retxMaxMs > 0 ? Math.min(retxMaxMs, threshold) : threshold;
  }
}
