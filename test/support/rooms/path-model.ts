// A model of a path for tests of the path controller: senders share one queue in front of a link of limited rate, and
// each has a congestion control like the system's. It has its own time, so that minutes pass within milliseconds.
//
//   sender: window ─► congestion window ─┐
//   sender: window ─► congestion window ─┴─► queue ─► rate ─► delay ─► acknowledgement ─► sender

import { RingQueue } from '../../../common/lib/queue/ring-queue.ts';
import { PathController } from '../../../common/wire/path/path-controller.ts';
import { Jitter, Walk } from './unsteady-path.ts';

export interface PathShape {
  /** Mbit/s. */
  rate: number;
  /** Round trip in milliseconds, without queues. */
  delay: number;
  /** Milliseconds that the queue can hold at the full rate. */
  queue: number;
  /** Share of lost packets. */
  loss?: number;
  /** Milliseconds of further delay at most in each direction, a new one every `every` milliseconds; the order stays. */
  jitter?: { readonly max: number; readonly every: number };
  /** Packets leave in bursts, every so many milliseconds, in each direction. */
  bursts?: number;
  /** The rate walks between this share of its top and all of it, with a new one every 100 ms. */
  walk?: number;
  /** A policer with a bucket of so many bytes drops what exceeds the rate, instead of a queue. */
  policer?: number;
}

const PACKET = 1_448;
/** Packets are joined, so that a round trip has about so many: a model of each packet would be slow. */
const PER_ROUND_TRIP = 40;
const STEPS_PER_ROUND_TRIP = 20;
const FIRST_WINDOW = 10 * PACKET;
/** Bytes of an acknowledgement's packets: the system acknowledges every second one, and smooths over eight times. */
const ACKNOWLEDGED = 2 * PACKET;
const SMOOTHING = 7 / 8;
/** Milliseconds between the clocks of both sides. */
const CLOCK_OFFSET = -12_345;

interface Chunk {
  readonly sender: ModelSender;
  readonly size: number;
  readonly sentAt: number;
  /** At the other end, then with its acknowledgement. */
  arrivesAt: number;
  /** Milliseconds to the other end, beyond the path's delay. */
  wait: number;
  isLost: boolean;
}

/** One direction of the way after the queue: its delay jitters, or its packets leave in bursts. The order stays. */
class Way {
  readonly #chunks = new RingQueue<Chunk>(Number.POSITIVE_INFINITY);
  readonly #jitter: Jitter;
  #last = 0;

  constructor(random: () => number) {
    this.#jitter = new Jitter(random);
  }

  push(chunk: Chunk, now: number, { delay, jitter, bursts }: PathShape): void {
    const extra = jitter ? this.#jitter.at(now, jitter.max, jitter.every) : 0;
    const leaves = bursts ? Math.ceil(now / bursts) * bursts : now;
    chunk.arrivesAt = this.#last = Math.max(this.#last, leaves + delay / 2 + extra);
    this.#chunks.push(chunk);
  }

  arrived(now: number): Chunk | undefined {
    const next = this.#chunks.peek();
    return next && next.arrivesAt <= now ? this.#chunks.shift() : undefined;
  }
}

export class ModelSender {
  /** Undefined: only the congestion window limits it, like a transfer without a router. */
  readonly controller: PathController | undefined;
  /** It has more to send. */
  isBusy = true;
  delivered = 0;
  inFlight = 0;
  sentAgain = 0;
  /** Lost bytes that the system sends again, in front of others. */
  toSendAgain = 0;
  rtt = 0;
  congestionWindow = FIRST_WINDOW;
  #threshold = Number.POSITIVE_INFINITY;
  #reducedAt = Number.NEGATIVE_INFINITY;

  readonly #knowsWayThere: boolean;
  readonly #isTolerant: boolean;

  /**
   * @param knowsWayThere The peer tells how long data was on the way there.
   * @param isTolerant Its congestion control does not retreat after losses.
   */
  constructor(controller: PathController | undefined, knowsWayThere: boolean, isTolerant: boolean) {
    this.controller = controller;
    this.#knowsWayThere = knowsWayThere;
    this.#isTolerant = isTolerant;
  }

  /** Whether it sends now. */
  sends(now: number): boolean {
    if (this.toSendAgain > 0) return this.inFlight < this.congestionWindow;
    if (!this.isBusy) return false;
    if (this.controller && !this.controller.isInPace(now)) {
      this.controller.waiting(true);
      return false;
    }
    if (this.inFlight >= (this.controller?.window ?? Number.POSITIVE_INFINITY)) {
      this.controller?.waiting(true);
      return false;
    }
    if (this.inFlight < this.congestionWindow) return true;
    this.controller?.waiting(false);
    return false;
  }

  acknowledged({ size, sentAt, isLost, wait }: Chunk, now: number): void {
    if (this.#knowsWayThere) this.controller?.noteOneWay(wait + CLOCK_OFFSET);
    const isInUse = 2 * this.inFlight >= this.congestionWindow;
    this.inFlight -= size;
    const sample = now - sentAt;
    this.rtt = this.rtt === 0 ? sample : sample + (this.rtt - sample) * SMOOTHING ** (size / ACKNOWLEDGED);
    if (!isLost) {
      this.delivered += size;
      // Grows only while the window is in use, as the system does.
      if (!isInUse) return;
      this.congestionWindow +=
        this.congestionWindow < this.#threshold ? size : (size * 10 * PACKET) / this.congestionWindow;
      return;
    }
    this.toSendAgain += size;
    if (sentAt > this.#reducedAt && !this.#isTolerant) {
      this.#reducedAt = now;
      this.congestionWindow = Math.max(2 * PACKET, 0.7 * this.congestionWindow);
      this.#threshold = this.congestionWindow;
    }
  }
}

export class PathModel {
  now = 0;
  /** May be changed at any time. */
  shape: PathShape;
  /** The path delivers nothing. */
  isStopped = false;
  readonly senders: ModelSender[] = [];
  readonly #random: () => number;
  readonly #queue = new RingQueue<Chunk>(Number.POSITIVE_INFINITY);
  #queued = 0;
  #credit = 0;
  readonly #there: Way;
  readonly #back: Way;
  readonly #walk: Walk;
  #tokens = 0;
  /** Milliseconds that the bytes which left the queue had waited, by time of leaving. */
  waits: number[] = [];
  /** Bytes that the path could have carried, and bytes that were sent, again or not. */
  carriable = 0;
  carried = 0;
  /** The other direction of the same path: acknowledgements wait in its queue. Both run at the same time. */
  opposite: PathModel | undefined;

  constructor(shape: PathShape, random: () => number = () => 1) {
    this.shape = shape;
    this.#random = random;
    this.#there = new Way(random);
    this.#back = new Way(random);
    this.#walk = new Walk(random);
  }

  /** Bytes per millisecond, at the top of a walk. */
  get capacity(): number {
    return this.shape.rate * 125;
  }

  /** Adds a sender with a controller, or one without. */
  add({ isPaced = true, knowsWayThere = true, isTolerant = false } = {}): ModelSender {
    const sender = new ModelSender(isPaced ? new PathController() : undefined, knowsWayThere, isTolerant);
    this.senders.push(sender);
    return sender;
  }

  /** Returns the other direction of this path. */
  addOpposite(): PathModel {
    const opposite = new PathModel(this.shape, this.#random);
    opposite.opposite = this;
    this.opposite = opposite;
    return opposite;
  }

  /** Runs for so many milliseconds. Returns what was used of the path's rate, and the waits in its queue. */
  run(milliseconds: number): { used: number; shares: number[]; waits: number[]; carried: number } {
    const before = this.senders.map(({ delivered }) => delivered);
    this.waits = [];
    this.carriable = 0;
    this.carried = 0;
    const end = this.now + milliseconds;
    const step = Math.min(1, this.shape.delay / STEPS_PER_ROUND_TRIP);
    while (this.now < end) {
      this.#step(step);
      if (this.opposite) this.opposite.#step(step);
    }
    const carried = this.senders.map(({ delivered }, index) => delivered - (before[index] ?? 0));
    const total = carried.reduce((sum, each) => sum + each, 0);
    return {
      used: total / Math.max(1, this.carriable),
      carried: this.carried / Math.max(1, total),
      shares: carried.map((each) => each / Math.max(1, total)),
      waits: this.waits.toSorted((a, b) => a - b),
    };
  }

  #step(step: number): void {
    this.now += step;
    if (!this.isStopped) this.#serve(step);
    this.#acknowledge();
    const size = Math.max(PACKET, Math.round((this.capacity * this.shape.delay) / PER_ROUND_TRIP));
    for (const sender of this.senders)
      sender.controller?.observe({
        now: this.now,
        rtt: sender.rtt,
        delivered: sender.delivered,
        inFlight: sender.inFlight,
        sentAgain: sender.sentAgain,
      });
    for (let sending = this.senders; sending.length > 0; ) {
      sending = sending.filter((sender) => sender.sends(this.now));
      for (const sender of sending) this.#send(sender, size);
    }
  }

  #serve(step: number): void {
    const { policer, loss = 0, walk } = this.shape;
    const served = step * this.capacity * (walk === undefined ? 1 : this.#walk.at(this.now, walk));
    this.carriable += served;
    this.#tokens = Math.min(policer ?? 0, this.#tokens + served);
    this.#credit = Math.min(this.#credit + served, this.#queue.length > 0 ? Number.POSITIVE_INFINITY : 0);
    for (let next = this.#queue.peek(); next && next.size <= this.#credit; next = this.#queue.peek()) {
      this.#queue.shift();
      this.#queued -= next.size;
      this.#credit -= next.size;
      this.waits.push(this.now - next.sentAt);
      next.isLost = this.#random() < loss;
      this.#there.push(next, this.now, this.shape);
    }
  }

  #send(sender: ModelSender, size: number): void {
    const chunk = { sender, size, sentAt: this.now, arrivesAt: 0, wait: 0, isLost: false };
    sender.inFlight += size;
    if (sender.toSendAgain > 0) {
      sender.toSendAgain = Math.max(0, sender.toSendAgain - size);
      sender.sentAgain += size;
    } else sender.controller?.sent(size, this.now);
    this.carried += size;
    const { policer, queue } = this.shape;
    if (policer !== undefined) {
      chunk.isLost = size > this.#tokens;
      if (!chunk.isLost) this.#tokens -= size;
      this.#there.push(chunk, this.now, this.shape);
    } else if (this.#queued + size > Math.max(2 * size, queue * this.capacity)) {
      chunk.isLost = true;
      this.#there.push(chunk, this.now, this.shape);
    } else {
      this.#queue.push(chunk);
      this.#queued += size;
    }
  }

  #return(chunk: Chunk): void {
    chunk.wait = chunk.arrivesAt - chunk.sentAt - this.shape.delay / 2;
    const wait = this.opposite ? this.opposite.#queued / this.capacity : 0;
    this.#back.push(chunk, this.now + wait, this.shape);
  }

  #acknowledge(): void {
    for (let next = this.#there.arrived(this.now); next; next = this.#there.arrived(this.now)) this.#return(next);
    for (let next = this.#back.arrived(this.now); next; next = this.#back.arrived(this.now))
      next.sender.acknowledged(next, this.now);
  }
}

/** The value below which this share of the sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
