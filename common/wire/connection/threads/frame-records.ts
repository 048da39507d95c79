// Writes the bytes that a connection received into a ring, so that a record begins and ends with frames: the reader on
// the other side uses them in place. Only frames that are larger than a record span several.
//
//   reads     | 1 . . | 2 3 4 . . . | . . . . . | 5 |        . the beginnings, middles and ends of frames
//   records   | 1 | 2 3 4 | . . . 5 . . . . . . | … |

import { CrossingRecord } from '#lib/threads/crossings.ts';
import type { RingWriter } from '#lib/threads/ring.ts';
import { frameLength } from '../../frame.ts';

const NOTHING = Buffer.alloc(0);

export class FrameRecords {
  readonly #ring: RingWriter;
  /** Memory for a frame whose end is missing, and the bytes that it has. */
  #record: Buffer | undefined;
  #filled = 0;
  /** Bytes of a large frame that are missing. */
  #missing = 0;
  /** Bytes for which there was no room, and those of an incomplete head. */
  #unsent = NOTHING;
  #isFull = false;
  /** The peer does not send frames: the reader will see that. */
  #isRaw = false;

  constructor(ring: RingWriter) {
    this.#ring = ring;
  }

  /** Takes bytes of the connection. Returns false if the ring lacks room: call `retry` until it returns true. */
  push(bytes: Buffer): boolean {
    this.#isFull = false;
    const all = this.#unsent.length === 0 ? bytes : Buffer.concat([this.#unsent, bytes]);
    const rest = all.subarray(this.#write(all));
    this.#unsent = rest.length === 0 ? NOTHING : Buffer.from(rest);
    return !this.#isFull;
  }

  /** The reader has released records. */
  retry(): boolean {
    return this.push(NOTHING);
  }

  /** The protocol of the connection has no frames. */
  beRaw(): void {
    this.#isRaw = true;
  }

  /** The connection has ended: the beginning of a frame needs not be kept. */
  end(): boolean {
    if (this.#record) this.#commit(this.#filled);
    this.#isRaw = true;
    return this.retry();
  }

  /** Returns the number of bytes that need not be kept. */
  #write(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length) {
      const written = this.#writeNext(bytes.subarray(at));
      if (written === 0) break;
      at += written;
    }
    return at;
  }

  #writeNext(bytes: Buffer): number {
    if (this.#record) return this.#fill(this.#record, bytes);
    if (this.#isRaw) return this.#pass(bytes);
    if (this.#missing > 0) {
      const passed = this.#pass(bytes.subarray(0, this.#missing));
      this.#missing -= passed;
      return passed;
    }
    const whole = wholeFrames(bytes, this.#ring.maxRecord);
    if (whole > 0) return this.#pass(bytes.subarray(0, whole));
    const length = frameLength(bytes);
    if (length === undefined) return 0;
    if (Number.isNaN(length)) this.#isRaw = true;
    else if (length > this.#ring.maxRecord) this.#missing = length;
    else {
      this.#record = this.#reserve(length);
      this.#filled = 0;
      if (!this.#record) return 0;
    }
    return this.#writeNext(bytes);
  }

  #fill(record: Buffer, bytes: Buffer): number {
    const copied = bytes.copy(record, this.#filled);
    this.#filled += copied;
    if (this.#filled === record.length) this.#commit(record.length);
    return copied;
  }

  #pass(bytes: Buffer): number {
    const length = Math.min(bytes.length, this.#ring.maxRecord);
    const room = this.#reserve(length);
    if (!room) return 0;
    bytes.copy(room, 0, 0, length);
    this.#commit(length);
    return length;
  }

  #reserve(length: number): Buffer | undefined {
    const room = this.#ring.reserve(length);
    if (!room) this.#isFull = true;
    return room;
  }

  #commit(length: number): void {
    this.#record = undefined;
    this.#ring.commit(CrossingRecord.Data, length);
  }
}

/** Bytes of the complete frames at the beginning, as many as fit into a record. */
function wholeFrames(bytes: Buffer, max: number): number {
  let end = 0;
  for (;;) {
    const length = frameLength(bytes.subarray(end));
    if (length === undefined || Number.isNaN(length) || end + length > Math.min(bytes.length, max)) return end;
    end += length;
  }
}
