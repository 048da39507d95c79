// One frame in memory. It is not parsed: forwarding reads a few header values and rewrites two of them in place.
//
//   0        4              8          12               16             20                 20+h              20+h+b
//   | magic  | content type | sequence | header length h | body length b | headers          | body            |
//     03 06    int32          int32      uint32            uint32          key int32,
//     09 0C                                                                length uint32, bytes; repeated
//
// All integers are little endian (reference fact: control channel, section 1.2).

import { ProtocolError } from './errors.ts';

export const FRAME_HEAD_LENGTH = 20;
export const MAGIC = 0x0c_09_06_03;

/** Key and length before the value of a header. */
const ENTRY_LENGTH = 8;
const CONTENT_TYPE_OFFSET = 4;
const SEQUENCE_OFFSET = 8;
const HEADER_LENGTH_OFFSET = 12;
const BODY_LENGTH_OFFSET = 16;

export class Frame {
  /** Exactly the bytes of the frame. */
  readonly bytes: Buffer;
  readonly contentType: number;
  /** Offset of the body, after the last header. */
  readonly bodyOffset: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.contentType = bytes.readInt32LE(CONTENT_TYPE_OFFSET);
    this.bodyOffset = FRAME_HEAD_LENGTH + bytes.readUInt32LE(HEADER_LENGTH_OFFSET);
  }

  /** A copy of the frame in separate memory. */
  copy(): Frame {
    return new Frame(Buffer.from(this.bytes));
  }

  get sequence(): number {
    return this.bytes.readInt32LE(SEQUENCE_OFFSET);
  }

  get body(): Buffer {
    return this.bytes.subarray(this.bodyOffset);
  }

  /**
   * The value of a header, or undefined. The last of repeated keys wins. @throws ProtocolError for an invalid header
   * block
   */
  header(key: number): Buffer | undefined {
    let found: Buffer | undefined;
    forEachHeader(this.bytes, this.bodyOffset, (each, start, end) => {
      if (each === key) found = this.bytes.subarray(start, end);
    });
    return found;
  }
}

/**
 * Calls `visit(key, valueStart, valueEnd)` for each header of a frame. @throws ProtocolError for an entry beyond the
 * block
 */
export function forEachHeader(
  bytes: Buffer,
  bodyOffset: number,
  visit: (key: number, start: number, end: number) => void,
): void {
  let offset = FRAME_HEAD_LENGTH;
  while (offset < bodyOffset) {
    if (offset + 8 > bodyOffset) throw new ProtocolError('the header block ends in the middle of an entry');
    const key = bytes.readInt32LE(offset);
    const start = offset + 8;
    const end = start + bytes.readUInt32LE(offset + 4);
    if (end > bodyOffset) throw new ProtocolError(`header ${key} exceeds the header block`);
    visit(key, start, end);
    offset = end;
  }
}

/** The length of the frame at the start of `bytes`: undefined while its head is incomplete, NaN for other bytes. */
export function frameLength(bytes: Buffer): number | undefined {
  if (bytes.length >= 4 && bytes.readUInt32LE(0) !== MAGIC) return Number.NaN;
  if (bytes.length < FRAME_HEAD_LENGTH) return undefined;
  return FRAME_HEAD_LENGTH + bytes.readUInt32LE(HEADER_LENGTH_OFFSET) + bytes.readUInt32LE(BODY_LENGTH_OFFSET);
}

/** Writes the sequence number of the channel into a frame before it is sent. */
export function writeSequence(bytes: Buffer, sequence: number): void {
  bytes.writeInt32LE(sequence | 0, SEQUENCE_OFFSET);
}

/** Writes the first 20 bytes of a frame, except the sequence number. */
export function writeFrameHead(bytes: Buffer, contentType: number, headersLength: number, bodyLength: number): void {
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeInt32LE(contentType, CONTENT_TYPE_OFFSET);
  bytes.writeInt32LE(0, SEQUENCE_OFFSET);
  bytes.writeUInt32LE(headersLength, HEADER_LENGTH_OFFSET);
  bytes.writeUInt32LE(bodyLength, BODY_LENGTH_OFFSET);
}

/** A frame with one more header at the end: new bytes up to the body, and the body as a slice. */
export function frameWithHeader(bytes: Buffer, key: number, value: Buffer): { head: Buffer; body: Buffer } {
  const bodyOffset = FRAME_HEAD_LENGTH + bytes.readUInt32LE(HEADER_LENGTH_OFFSET);
  const head = Buffer.allocUnsafe(bodyOffset + ENTRY_LENGTH + value.length);
  bytes.copy(head, 0, 0, bodyOffset);
  head.writeInt32LE(key, bodyOffset);
  head.writeUInt32LE(value.length, bodyOffset + 4);
  value.copy(head, bodyOffset + ENTRY_LENGTH);
  head.writeUInt32LE(head.length - FRAME_HEAD_LENGTH, HEADER_LENGTH_OFFSET);
  return { head, body: bytes.subarray(bodyOffset) };
}

/**
 * Removes a header in place and returns the shorter frame: the bytes before the header move to its end, so the body
 * stays where it is. Returns the same frame if it lacks the header. @throws ProtocolError for an invalid header block
 */
export function removeHeader(frame: Frame, key: number): Frame {
  const { bytes, bodyOffset } = frame;
  let begin = 0;
  forEachHeader(bytes, bodyOffset, (each, start, end) => {
    if (each !== key) return;
    const entry = start - ENTRY_LENGTH;
    const moved = begin + end - entry;
    bytes.copyWithin(moved, begin, entry);
    begin = moved;
  });
  if (begin === 0) return frame;
  const rest = bytes.subarray(begin);
  rest.writeUInt32LE(bodyOffset - begin - FRAME_HEAD_LENGTH, HEADER_LENGTH_OFFSET);
  return new Frame(rest);
}
