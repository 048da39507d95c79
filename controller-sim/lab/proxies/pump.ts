// One direction of a proxied connection: from a socket to another one, late, slowly, in pieces, or not at all, as the
// rule of the moment says.
//
//   source ─► queue of pieces with their times ─► target
//
// The source is paused while too much waits. Bytes keep their order; the end of the direction is a piece, too.

import type { Socket } from 'node:net';
import { RingQueue } from '#lib/queue/ring-queue.ts';
import type { Random } from '#lib/random.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { ConnectionRule } from '../faults/fault.ts';

/**
 * Bytes that wait in one direction: 100 ms at 300 Mbit/s. Each piece counts this much more: slices may have one byte.
 */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const PIECE_OVERHEAD_BYTES = 256;
const DEFAULT_SLICE_DELAY = 10;
/** Pieces per second of a direction with a limited bandwidth. */
const PIECES_PER_SECOND = 20;
const SECOND = 1_000;

export interface PumpComponents {
  readonly clock: Clock;
  readonly random: Random;
  readonly source: Socket;
  readonly target: Socket;
  /** The rule of this direction now. */
  rule(): ConnectionRule | undefined;
}

interface Piece {
  /** The end of the direction, or of the whole connection at a limit. */
  readonly bytes: Buffer | 'end' | 'limit';
  /** Monotonic milliseconds before which it is not written. */
  readonly due: number;
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
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosed) return;
    const { limit = Number.POSITIVE_INFINITY } = this.#components.rule() ?? {};
    const room = Math.max(0, limit - this.#received);
    this.#received += bytes.length;
    this.#enqueue(bytes.length > room ? bytes.subarray(0, room) : bytes);
    if (bytes.length >= room) this.#queue.push({ bytes: 'limit', due: this.#latest });
    this.#write();
  }

  #receiveEnd(): void {
    if (this.#isClosed) return;
    const { clock, rule } = this.#components;
    const { closeDelay = 0 } = rule() ?? {};
    this.#latest = Math.max(this.#latest, clock.monotonic() + this.#latency() + closeDelay);
    this.#queue.push({ bytes: 'end', due: this.#latest });
    this.#write();
  }

  #enqueue(bytes: Buffer): void {
    const { clock, rule } = this.#components;
    const { slice, sliceDelay = DEFAULT_SLICE_DELAY, bandwidth } = rule() ?? {};
    const bySecond = bandwidth === undefined ? bytes.length : Math.ceil(bandwidth / PIECES_PER_SECOND);
    const size = Math.max(1, Math.min(slice ?? bytes.length, bySecond));
    this.#latest = Math.max(this.#latest, clock.monotonic() + this.#latency());
    for (let start = 0; start < bytes.length; start += size) {
      if (slice !== undefined && start > 0) this.#latest += sliceDelay;
      this.#queue.push({ bytes: bytes.subarray(start, start + size), due: this.#latest });
      this.#waitingBytes += PIECE_OVERHEAD_BYTES;
    }
    this.#waitingBytes += bytes.length;
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
      this.#queue.shift();
      if (next.bytes === 'end') target.end();
      else if (next.bytes === 'limit') {
        target.destroySoon();
        source.destroy();
      } else {
        const { length } = next.bytes;
        this.#waitingBytes -= length + PIECE_OVERHEAD_BYTES;
        if (bandwidth !== undefined) this.#free = Math.max(now, this.#free) + (length * SECOND) / bandwidth;
        this.#isBlocked = !target.write(next.bytes);
      }
    }
    if (this.#isBlocked || this.#waitingBytes >= MAX_WAITING_BYTES) source.pause();
    else if (source.isPaused()) source.resume();
  }
}
