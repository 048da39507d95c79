// One direction of a proxied connection: from a socket to another one, late, slowly, in pieces, or not at all, as the
// rule of the moment says.
//
//   source ─► queue of reads, cut into pieces when they are due ─► target
//
// The source is paused while too much waits: here, or in all proxied connections of the same client. Bytes keep their
// order; the end of the direction is a piece, too.

import type { Socket } from 'node:net';
import type { EndBudget } from '#lib/queue/holder-budgets.ts';
import { RingQueue } from '#lib/queue/ring-queue.ts';
import type { Random } from '#lib/random.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { ConnectionRule } from '../faults/fault.ts';

/** Bytes that wait in one direction: 100 ms at 300 Mbit/s. Each read counts this much more: it may have one byte. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const READ_OVERHEAD_BYTES = 256;
const DEFAULT_SLICE_DELAY = 10;
/** Pieces per second of a direction with a limited bandwidth. */
const PIECES_PER_SECOND = 20;
const SECOND = 1_000;

export interface PumpComponents {
  readonly clock: Clock;
  readonly random: Random;
  readonly source: Socket;
  readonly target: Socket;
  /** The share of the connection in the bytes that proxies hold. */
  readonly budget: Pick<EndBudget, 'share' | 'fits' | 'add'>;
  /** The rule of this direction now. */
  rule(): ConnectionRule | undefined;
  /** A read does not fit into the budget: the connection ends. */
  onExcess(): void;
}

interface Piece {
  /** The rest of a read; the end of the direction, or of the whole connection at a limit. */
  bytes: Buffer | 'end' | 'limit';
  /** Bytes of a piece, and milliseconds between two. */
  readonly size: number;
  readonly delay: number;
  /** Monotonic milliseconds before which the next piece is not written. */
  due: number;
}

export class Pump {
  readonly #components: PumpComponents;
  /** Its length follows from the bound on bytes. */
  readonly #queue = new RingQueue<Piece>(Number.POSITIVE_INFINITY);
  #waitingBytes = 0;
  /** Bytes that the source has sent. */
  #received = 0;
  /** The time of the latest piece. */
  #latest = 0;
  /** Monotonic milliseconds from which the bandwidth permits more. */
  #free = 0;
  #isBlocked = false;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(components: PumpComponents) {
    this.#components = components;
    const { source, target } = components;
    source.on('data', (bytes: Buffer) => this.#receive(bytes));
    source.on('end', () => this.#receiveEnd());
    target.on('drain', () => {
      this.#isBlocked = false;
      this.#write();
    });
  }

  /** The rules have changed. */
  update(): void {
    this.#write();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#queue.clear();
    this.#hold(-this.#waitingBytes);
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    const { limit = Number.POSITIVE_INFINITY } = this.#components.rule() ?? {};
    const room = Math.max(0, limit - this.#received);
    this.#received += bytes.length;
    const taken = bytes.length > room ? bytes.subarray(0, room) : bytes;
    if (!this.#components.budget.fits(taken.length)) {
      this.#components.onExcess();
      return;
    }
    if (taken.length > 0) this.#enqueue(taken);
    if (bytes.length >= room) this.#enqueueEnd('limit', this.#latest);
    this.#write();
  }

  #receiveEnd(): void {
    if (this.#isClosed) return;
    const { clock, rule } = this.#components;
    const { closeDelay = 0 } = rule() ?? {};
    this.#latest = Math.max(this.#latest, clock.monotonic() + this.#latency() + closeDelay);
    this.#enqueueEnd('end', this.#latest);
    this.#write();
  }

  /** A read is cut when its pieces are due: a piece of one byte would cost a hundred bytes while it waits. */
  #enqueue(bytes: Buffer): void {
    const { clock, rule } = this.#components;
    const { slice, sliceDelay = DEFAULT_SLICE_DELAY, bandwidth } = rule() ?? {};
    const bySecond = bandwidth === undefined ? bytes.length : Math.ceil(bandwidth / PIECES_PER_SECOND);
    const size = Math.max(1, Math.min(slice ?? bytes.length, bySecond));
    const delay = slice === undefined ? 0 : sliceDelay;
    this.#latest = Math.max(this.#latest, clock.monotonic() + this.#latency());
    this.#queue.push({ bytes, size, delay, due: this.#latest });
    this.#latest += delay * (Math.ceil(bytes.length / size) - 1);
    this.#hold(bytes.length + READ_OVERHEAD_BYTES);
  }

  #enqueueEnd(bytes: 'end' | 'limit', due: number): void {
    this.#queue.push({ bytes, size: 0, delay: 0, due });
  }

  /** Bytes count until the target has taken them. */
  #hold(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#components.budget.add(bytes);
  }

  #latency(): number {
    const { random, rule } = this.#components;
    const { latency = 0, jitter = 0 } = rule() ?? {};
    return Math.max(0, latency + jitter * (2 * random.next() - 1));
  }

  /** Writes what is due. */
  #write(): void {
    this.#timer?.cancel();
    const { clock, source, target, rule } = this.#components;
    const { stall = false, bandwidth } = rule() ?? {};
    while (!stall && !this.#isBlocked && !this.#isClosed) {
      const next = this.#queue.peek();
      if (!next) break;
      const now = clock.monotonic();
      const wait = Math.max(next.due, bandwidth === undefined ? 0 : this.#free) - now;
      if (wait > 0) {
        this.#timer = clock.after('proxied bytes', wait, () => this.#write());
        break;
      }
      if (next.bytes === 'end') {
        this.#queue.shift();
        target.end();
      } else if (next.bytes === 'limit') {
        this.#queue.shift();
        target.destroySoon();
        source.destroy();
      } else {
        const piece = this.#cut(next, next.bytes);
        if (bandwidth !== undefined) this.#free = Math.max(now, this.#free) + (piece.length * SECOND) / bandwidth;
        this.#isBlocked = !target.write(piece, () => this.#written(piece.length));
      }
    }
    this.#regulate();
  }

  #written(bytes: number): void {
    if (this.#isClosed) return;
    this.#hold(-bytes);
    this.#regulate();
  }

  #regulate(): void {
    const { source, budget } = this.#components;
    const limit = Math.min(MAX_WAITING_BYTES, budget.share);
    if (this.#isBlocked || this.#waitingBytes >= limit) source.pause();
    else if (source.isPaused()) source.resume();
  }

  /** The next piece of a read, which leaves the queue with its last one. */
  #cut(read: Piece, bytes: Buffer): Buffer {
    const piece = bytes.subarray(0, read.size);
    read.bytes = bytes.subarray(read.size);
    read.due += read.delay;
    if (read.bytes.length > 0) return piece;
    this.#queue.shift();
    this.#hold(-READ_OVERHEAD_BYTES);
    return piece;
  }
}
