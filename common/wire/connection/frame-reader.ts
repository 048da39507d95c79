// Splits the byte stream of one connection into frames. A frame within one chunk becomes a slice of that chunk, without
// a copy. A frame that spans chunks is gathered in a buffer that grows with the received bytes. So a length in a header
// alone never allocates memory.

import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import { ProtocolError } from '../errors.ts';
import { FRAME_HEAD_LENGTH, Frame, MAGIC } from '../frame.ts';

export interface FrameLimits {
  /** Bytes of the header block. */
  readonly maxHeaders: number;
  /** Bytes of the body. */
  readonly maxBody: number;
  /** The same for some content types. */
  readonly maxBodies?: ReadonlyMap<number, number>;
  /** Fields of a protobuf body, with those of messages inside; undefined: no limit. */
  readonly maxFields?: number;
}

/** Reference fact: control channel, section 1.2. */
export const HELLO_LIMITS: FrameLimits = { maxHeaders: 16_384, maxBody: 4_192 };

/** Enough for a payload of a full socket read with its head. */
const FIRST_GATHERING = 66 * 1024;

const EMPTY = Buffer.alloc(0);

export class WrongMagicError extends ProtocolError {
  /** The first bytes in place of the frame, at most 16. */
  readonly received: Buffer;

  constructor(received: Buffer) {
    super(
      `the connection does not use the channel protocol (it began with ${received.subarray(0, 4).toString('hex')})`,
    );
    this.received = received;
  }
}

export class FrameReader {
  limits: FrameLimits;
  /** If set, frames are valid only during the call of `onFrame`: those that span reads are gathered in its memory. */
  buffers: BufferPool | undefined;
  #gathered: Buffer = EMPTY;
  #filled = 0;

  constructor(limits: FrameLimits) {
    this.limits = limits;
  }

  /** Received bytes of an incomplete frame. */
  get pending(): number {
    return this.#filled;
  }

  /**
   * Reads the next bytes of the stream and calls `onFrame` for each complete frame. `onFrame` returns false to stop;
   * the remaining bytes are then returned for a later call. @throws ProtocolError
   */
  push(chunk: Buffer, onFrame: (frame: Frame) => boolean): Buffer | undefined {
    let rest = chunk;
    while (rest.length > 0) {
      let continues: boolean;
      if (this.#filled > 0) {
        rest = this.#gather(rest);
        const { buffers } = this; // the first frame may end the hello and change it
        const memory = this.#gathered;
        const frame = this.#gatheredFrame();
        if (!frame) continue;
        continues = onFrame(frame);
        buffers?.release(memory);
      } else {
        const length = this.#frameLength(rest, rest.length);
        if (length === undefined || length > rest.length) {
          rest = this.#gather(rest);
          continue;
        }
        const frame = new Frame(rest.subarray(0, length));
        rest = rest.subarray(length);
        continues = onFrame(frame);
      }
      if (!continues) return rest.length > 0 ? rest : undefined;
    }
    return undefined;
  }

  /** Total length of the frame at the start of `bytes`; undefined while its head is incomplete. */
  #frameLength(bytes: Buffer, available: number): number | undefined {
    if (available >= 4 && bytes.readUInt32LE(0) !== MAGIC)
      throw new WrongMagicError(Buffer.from(bytes.subarray(0, Math.min(available, 16))));
    if (available < FRAME_HEAD_LENGTH) return undefined;
    const headers = bytes.readUInt32LE(12);
    const body = bytes.readUInt32LE(16);
    if (headers > this.limits.maxHeaders)
      throw new ProtocolError(`a header block of ${headers} bytes exceeds the limit of ${this.limits.maxHeaders}`);
    if (body > this.limits.maxBody || this.limits.maxBodies) this.#checkBody(bytes.readInt32LE(4), body);
    return FRAME_HEAD_LENGTH + headers + body;
  }

  #checkBody(contentType: number, length: number): void {
    const max = this.limits.maxBodies?.get(contentType) ?? this.limits.maxBody;
    if (length <= max) return;
    const what = `a body of ${length} bytes in a message of type ${contentType}`;
    throw new ProtocolError(`${what} exceeds the limit of ${max}`);
  }

  /** Copies the missing bytes of the gathered frame; returns the rest of the chunk. */
  #gather(chunk: Buffer): Buffer {
    const wanted = this.#frameLength(this.#gathered, this.#filled) ?? FRAME_HEAD_LENGTH;
    const copied = Math.min(wanted - this.#filled, chunk.length);
    this.#reserve(this.#filled + copied, wanted);
    chunk.copy(this.#gathered, this.#filled, 0, copied);
    this.#filled += copied;
    return chunk.subarray(copied);
  }

  #gatheredFrame(): Frame | undefined {
    const length = this.#frameLength(this.#gathered, this.#filled);
    if (length === undefined || length > this.#filled) return undefined;
    const frame = new Frame(this.#gathered.subarray(0, length));
    this.#gathered = EMPTY;
    this.#filled = 0;
    return frame;
  }

  #reserve(needed: number, wanted: number): void {
    if (needed <= this.#gathered.length) return;
    const size = Math.max(needed, Math.min(wanted, Math.max(FIRST_GATHERING, this.#gathered.length * 2)));
    const larger = this.buffers?.acquire(size) ?? Buffer.allocUnsafeSlow(size);
    this.#gathered.copy(larger, 0, 0, this.#filled);
    this.buffers?.release(this.#gathered);
    this.#gathered = larger;
  }
}
