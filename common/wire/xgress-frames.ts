// Circuit traffic on links and SDK channels: payloads and acknowledgements as they lie in memory, and how new ones are
// written. Reading is one pass over the headers that notes offsets; a forwarder changes the stamp in place and passes the bytes
// on (reference fact: link, section 2.1).

import { ProtocolError } from './errors.ts';
import { FRAME_HEAD_LENGTH, type Frame, forEachHeader, headWithHeader, writeFrameHead } from './frame.ts';
import { PayloadFlag, XgressHeader, XgressType } from './gen/numbers.ts';

const ENTRY = 8;
const ABSENT = -1;
/** Bytes of a circuit id. Observed ids have 21; a router keeps ids of unroutable payloads until it has reported them. */
export const MAX_CIRCUIT_ID = 256;
/** A receiver that does not report its buffer has room. */
const UNKNOWN_BUFFER_SIZE = 0xffff_ffff;

/** A payload: the frame up to the end of its headers in `head`, the data in `data`; or both in `head` when `data` is undefined. */
export class Payload {
  readonly circuitId: string;
  readonly sequence: number;
  readonly flags: number;
  readonly head: Buffer;
  readonly #separateData: Buffer | undefined;
  readonly #bodyOffset: number;
  readonly #stampOffset: number;

  private constructor(
    circuitId: string,
    sequence: number,
    flags: number,
    head: Buffer,
    data: Buffer | undefined,
    bodyOffset: number,
    stampOffset: number,
  ) {
    this.circuitId = circuitId;
    this.sequence = sequence;
    this.flags = flags;
    this.head = head;
    this.#separateData = data;
    this.#bodyOffset = bodyOffset;
    this.#stampOffset = stampOffset;
  }

  /** Throws ProtocolError when the circuit id or the sequence is missing or invalid. */
  static fromFrame(frame: Frame): Payload {
    const { bytes, bodyOffset } = frame;
    let circuitId: string | undefined;
    let sequence = ABSENT;
    let flags = 0;
    let stamp = ABSENT;
    let offset = FRAME_HEAD_LENGTH;
    while (offset < bodyOffset) {
      const start = offset + ENTRY;
      const end = start <= bodyOffset ? start + bytes.readUInt32LE(offset + 4) : bodyOffset + 1;
      if (end > bodyOffset) throw new ProtocolError('the header block of a payload is broken');
      switch (bytes.readInt32LE(offset)) {
        case XgressHeader.CircuitId:
          circuitId = readCircuitId(bytes, start, end);
          break;
        case XgressHeader.Sequence:
          // A uint64 whose value fits into an int32; anything else stays negative and is rejected below.
          if (end - start === 8) sequence = bytes.readUInt32LE(start + 4) === 0 ? bytes.readInt32LE(start) : ABSENT;
          break;
        case XgressHeader.Flags:
          if (end - start === 4) flags = bytes.readUInt32LE(start);
          break;
        case XgressHeader.RoundTripTime:
          if (end - start === 2) stamp = start;
          break;
        default:
      }
      offset = end;
    }
    if (circuitId === undefined || sequence < 0)
      throw new ProtocolError('a payload has no circuit id or no valid sequence');
    return new Payload(circuitId, sequence, flags, bytes, undefined, bodyOffset, stamp);
  }

  /** A new payload. `headers` are payload headers 0 to 255. */
  static create(
    circuitId: string,
    sequence: number,
    flags: number,
    data: Buffer,
    headers?: ReadonlyMap<number, Buffer>,
  ): Payload {
    const { head, stampOffset } = writePayloadHead(circuitId, sequence, flags, data.length, headers);
    return new Payload(circuitId, sequence, flags, head, data, head.length, stampOffset);
  }

  /** The data as a slice, no copy. */
  get data(): Buffer {
    return this.#separateData ?? this.head.subarray(this.#bodyOffset);
  }

  get dataLength(): number {
    return this.#separateData?.length ?? this.head.length - this.#bodyOffset;
  }

  /** The body to send behind `head`; undefined when `head` holds it already. */
  get separateData(): Buffer | undefined {
    return this.#separateData;
  }

  get isFromTerminator(): boolean {
    return (this.flags & PayloadFlag.Originator) !== 0;
  }

  has(flag: PayloadFlag): boolean {
    return (this.flags & flag) !== 0;
  }

  /** The low 16 bits of the sender's clock in milliseconds, undefined when there is none. */
  get stamp(): number | undefined {
    return this.#stampOffset === ABSENT ? undefined : this.head.readUInt16LE(this.#stampOffset);
  }

  /** Each hop replaces the stamp by its own clock (milliseconds). */
  writeStamp(now: number): void {
    if (this.#stampOffset !== ABSENT) this.head.writeUInt16LE(now & 0xffff, this.#stampOffset);
  }

  /** The payload headers 0 to 255; undefined when there are none. */
  headers(): Map<number, Buffer> | undefined {
    let headers: Map<number, Buffer> | undefined;
    forEachHeader(this.head, this.#bodyOffset, (key, start, end) => {
      if (key < XgressHeader.PayloadHeaderFirst || key > XgressHeader.PayloadHeaderLast) return;
      headers ??= new Map();
      headers.set(key - XgressHeader.PayloadHeaderFirst, this.head.subarray(start, end));
    });
    return headers;
  }

  /** The frame with one more header behind the others, for a hop that adds something: new bytes up to the body, and the body. */
  withHeader(key: number, value: Buffer): { head: Buffer; body: Buffer } {
    return { head: headWithHeader(this.head, this.#bodyOffset, key, value), body: this.data };
  }

  /** The same payload in memory of its own, for one that has to wait while the network buffer it lies in is large. */
  copy(): Payload {
    return new Payload(
      this.circuitId,
      this.sequence,
      this.flags,
      copyOf(this.head),
      this.#separateData && copyOf(this.#separateData),
      this.#bodyOffset,
      this.#stampOffset,
    );
  }

  /** The same payload marked as a retransmission, with a head of its own: the first one may still be on its way out. */
  retransmission(): Payload {
    return Payload.create(
      this.circuitId,
      this.sequence,
      this.flags | PayloadFlag.Retransmit,
      this.data,
      this.headers(),
    );
  }
}

/** Outside Buffer's pool: one small copy that waits would keep a whole slab of the pool alive. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function writePayloadHead(
  circuitId: string,
  sequence: number,
  flags: number,
  bodyLength: number,
  headers?: ReadonlyMap<number, Buffer>,
) {
  const id = Buffer.from(circuitId, 'utf8');
  let headersLength = ENTRY + id.length + ENTRY + 8 + ENTRY + 2 + (flags === 0 ? 0 : ENTRY + 4);
  if (headers) for (const value of headers.values()) headersLength += ENTRY + value.length;
  const head = Buffer.allocUnsafe(FRAME_HEAD_LENGTH + headersLength);
  writeFrameHead(head, XgressType.Payload, headersLength, bodyLength);
  let offset = FRAME_HEAD_LENGTH;
  if (headers) {
    for (const key of [...headers.keys()].sort((a, b) => a - b))
      offset = writeEntry(head, offset, XgressHeader.PayloadHeaderFirst + key, headers.get(key) as Buffer);
  }
  offset = writeEntry(head, offset, XgressHeader.CircuitId, id);
  offset = writeKey(head, offset, XgressHeader.Sequence, 8);
  head.writeUInt32LE(sequence, offset);
  head.writeUInt32LE(0, offset + 4);
  offset += 8;
  if (flags !== 0) offset = writeUint32Entry(head, offset, XgressHeader.Flags, flags);
  const stampOffset = writeKey(head, offset, XgressHeader.RoundTripTime, 2);
  head.writeUInt16LE(0, stampOffset);
  return { head, stampOffset };
}

/** An acknowledgement of the payloads with `sequences`, which may be none: then it only reports the receive buffer. */
export class Acknowledgement {
  readonly circuitId: string;
  readonly flags: number;
  /** Bytes in the receive buffer of the acknowledging side. */
  readonly receiveBufferSize: number;
  /** The stamp of the acknowledged payload, 0 when there was none. */
  readonly stamp: number;
  readonly bytes: Buffer;
  readonly #bodyOffset: number;

  private constructor(
    circuitId: string,
    flags: number,
    receiveBufferSize: number,
    stamp: number,
    bytes: Buffer,
    bodyOffset: number,
  ) {
    this.circuitId = circuitId;
    this.flags = flags;
    this.receiveBufferSize = receiveBufferSize;
    this.stamp = stamp;
    this.bytes = bytes;
    this.#bodyOffset = bodyOffset;
  }

  /** Throws ProtocolError when the circuit id is missing or the body is no list of sequences. */
  static fromFrame(frame: Frame): Acknowledgement {
    const { bytes, bodyOffset } = frame;
    let circuitId: string | undefined;
    let flags = 0;
    let size = UNKNOWN_BUFFER_SIZE;
    let stamp = 0;
    forEachHeader(bytes, bodyOffset, (key, start, end) => {
      if (key === XgressHeader.CircuitId) circuitId = readCircuitId(bytes, start, end);
      else if (key === XgressHeader.Flags && end - start === 4) flags = bytes.readUInt32LE(start);
      else if (key === XgressHeader.ReceiveBufferSize && end - start === 4) size = bytes.readUInt32LE(start);
      else if (key === XgressHeader.RoundTripTime && end - start === 2) stamp = bytes.readUInt16LE(start);
    });
    if (circuitId === undefined) throw new ProtocolError('an acknowledgement names no circuit');
    if ((bytes.length - bodyOffset) % 4 !== 0)
      throw new ProtocolError('the body of an acknowledgement is no list of sequences');
    return new Acknowledgement(circuitId, flags, size, stamp, bytes, bodyOffset);
  }

  static create(
    circuitId: string,
    flags: number,
    receiveBufferSize: number,
    stamp: number,
    sequences: readonly number[],
  ): Acknowledgement {
    const id = Buffer.from(circuitId, 'utf8');
    const headersLength = ENTRY + id.length + (flags === 0 ? 0 : ENTRY + 4) + ENTRY + 4 + ENTRY + 2;
    const bodyOffset = FRAME_HEAD_LENGTH + headersLength;
    const bytes = Buffer.allocUnsafe(bodyOffset + 4 * sequences.length);
    writeFrameHead(bytes, XgressType.Acknowledgement, headersLength, 4 * sequences.length);
    let offset = writeEntry(bytes, FRAME_HEAD_LENGTH, XgressHeader.CircuitId, id);
    if (flags !== 0) offset = writeUint32Entry(bytes, offset, XgressHeader.Flags, flags);
    offset = writeUint32Entry(bytes, offset, XgressHeader.ReceiveBufferSize, receiveBufferSize);
    offset = writeKey(bytes, offset, XgressHeader.RoundTripTime, 2);
    bytes.writeUInt16LE(stamp, offset);
    // Sequences are the one place where the protocol is big endian.
    for (const [index, sequence] of sequences.entries()) bytes.writeInt32BE(sequence, bodyOffset + 4 * index);
    return new Acknowledgement(circuitId, flags, receiveBufferSize, stamp, bytes, bodyOffset);
  }

  get isFromTerminator(): boolean {
    return (this.flags & PayloadFlag.Originator) !== 0;
  }

  get sequences(): number[] {
    const sequences: number[] = [];
    for (let offset = this.#bodyOffset; offset < this.bytes.length; offset += 4)
      sequences.push(this.bytes.readInt32BE(offset));
    return sequences;
  }
}

/** The circuit that a payload, acknowledgement or control frame belongs to, undefined when it names none. */
export function circuitIdOf(frame: Frame): string | undefined {
  return frame.header(XgressHeader.CircuitId)?.toString('utf8');
}

/** Throws ProtocolError for an id that is too long. */
function readCircuitId(bytes: Buffer, start: number, end: number): string {
  if (end - start > MAX_CIRCUIT_ID)
    throw new ProtocolError(`a circuit id has ${end - start} bytes, at most ${MAX_CIRCUIT_ID} are allowed`);
  return bytes.toString('utf8', start, end);
}

function writeKey(bytes: Buffer, offset: number, key: number, length: number): number {
  bytes.writeInt32LE(key, offset);
  bytes.writeUInt32LE(length, offset + 4);
  return offset + ENTRY;
}

function writeEntry(bytes: Buffer, offset: number, key: number, value: Buffer): number {
  const start = writeKey(bytes, offset, key, value.length);
  return start + value.copy(bytes, start);
}

function writeUint32Entry(bytes: Buffer, offset: number, key: number, value: number): number {
  const start = writeKey(bytes, offset, key, 4);
  return bytes.writeUInt32LE(value >>> 0, start);
}
