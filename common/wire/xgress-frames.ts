// Circuit traffic on links and SDK channels: decodes and encodes payloads and acknowledgements in memory. Decoding is
// one pass over the headers that records offsets; a forwarder changes the timestamp in place and forwards the bytes
// (reference fact: link, section 2.1).

import { type BufferPool, memoryOf } from '#lib/queue/buffer-pool.ts';
import { ProtocolError } from './errors.ts';
import { FRAME_HEAD_LENGTH, type Frame, forEachHeader, writeFrameHead } from './frame.ts';
import { PayloadFlag, XgressHeader, XgressType } from './gen/numbers.ts';

const ENTRY = 8;
const ABSENT = -1;
/**
 * Bytes of a circuit id. Observed ids have 21; a router stores ids of unroutable payloads until it has reported them.
 */
export const MAX_CIRCUIT_ID = 256;
/** The value for a receiver that does not report its buffer: it counts as free. */
const UNKNOWN_BUFFER_SIZE = 0xffff_ffff;
/** The largest value that routers write: receivers add their own bytes to it, in 32 bits. */
const MAX_BUFFER_SIZE = 0x7fff_ffff;

/**
 * A payload as a whole frame. A received payload borrows the read buffer: it is valid during the call that passes it,
 * and a caller that keeps it longer must keep a `copy`. A created or copied payload may use memory of a buffer pool,
 * until its owner calls `release`.
 */
export class Payload {
  readonly circuitId: string;
  readonly sequence: number;
  readonly flags: number;
  readonly bytes: Buffer;
  readonly #bodyOffset: number;
  readonly #stampOffset: number;
  /** The owner of the memory; undefined if the garbage collector frees it. */
  #buffers: BufferPool | undefined;

  private constructor(
    id: { readonly circuitId: string; readonly sequence: number; readonly flags: number },
    bytes: Buffer,
    bodyOffset: number,
    stampOffset: number,
    buffers: BufferPool | undefined,
  ) {
    this.circuitId = id.circuitId;
    this.sequence = id.sequence;
    this.flags = id.flags;
    this.bytes = bytes;
    this.#bodyOffset = bodyOffset;
    this.#stampOffset = stampOffset;
    this.#buffers = buffers;
  }

  /** @throws ProtocolError if the circuit id or the sequence number is missing or invalid */
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
      if (end > bodyOffset) throw new ProtocolError('the header block of a payload is invalid');
      switch (bytes.readInt32LE(offset)) {
        case XgressHeader.CircuitId:
          circuitId = readCircuitId(bytes, start, end);
          break;
        case XgressHeader.Sequence:
          // A uint64 whose value fits into an int32; other values stay negative and are rejected below.
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
    return new Payload({ circuitId, sequence, flags }, bytes, bodyOffset, stamp, undefined);
  }

  /** Creates a payload with a copy of `data`, in memory of `buffers` if given. `headers`: payload headers 0 to 255. */
  static create(
    circuitId: string,
    sequence: number,
    flags: number,
    data: Buffer,
    headers?: ReadonlyMap<number, Buffer>,
    buffers?: BufferPool,
  ): Payload {
    const { bytes, bodyOffset, stampOffset } = writePayload(circuitId, sequence, flags, data, headers, buffers);
    return new Payload({ circuitId, sequence, flags }, bytes, bodyOffset, stampOffset, buffers);
  }

  /** The data as a slice, without a copy. */
  get data(): Buffer {
    return this.bytes.subarray(this.#bodyOffset);
  }

  get dataLength(): number {
    return this.bytes.length - this.#bodyOffset;
  }

  /** Bytes of memory that a stored payload occupies. */
  get memory(): number {
    return memoryOf(this.bytes.length);
  }

  get isFromTerminator(): boolean {
    return (this.flags & PayloadFlag.Originator) !== 0;
  }

  has(flag: PayloadFlag): boolean {
    return (this.flags & flag) !== 0;
  }

  /** The low 16 bits of the sender's clock in milliseconds; undefined if missing. */
  get stamp(): number | undefined {
    return this.#stampOffset === ABSENT ? undefined : this.bytes.readUInt16LE(this.#stampOffset);
  }

  /** Each hop replaces the timestamp with its own clock (milliseconds). */
  writeStamp(now: number): void {
    if (this.#stampOffset !== ABSENT) this.bytes.writeUInt16LE(now & 0xffff, this.#stampOffset);
  }

  /** The payload headers 0 to 255; undefined if there are none. */
  headers(): Map<number, Buffer> | undefined {
    let headers: Map<number, Buffer> | undefined;
    forEachHeader(this.bytes, this.#bodyOffset, (key, start, end) => {
      if (key < XgressHeader.PayloadHeaderFirst || key > XgressHeader.PayloadHeaderLast) return;
      headers ??= new Map();
      headers.set(key - XgressHeader.PayloadHeaderFirst, this.bytes.subarray(start, end));
    });
    return headers;
  }

  /** A copy of the payload in memory of `buffers`. */
  copy(buffers: BufferPool): Payload {
    return new Payload(this, buffers.copy(this.bytes), this.#bodyOffset, this.#stampOffset, buffers);
  }

  /** Returns its memory to the pool. The payload and its slices must not be used afterwards. */
  release(): void {
    const buffers = this.#buffers;
    this.#buffers = undefined;
    buffers?.release(this.bytes);
  }

  /** A copy of the payload in separate memory, marked as a retransmission. */
  retransmission(): Payload {
    return Payload.create(
      this.circuitId,
      this.sequence,
      this.flags | PayloadFlag.Retransmit,
      this.data,
      this.headers(),
      this.#buffers,
    );
  }
}

function writePayload(
  circuitId: string,
  sequence: number,
  flags: number,
  data: Buffer,
  headers?: ReadonlyMap<number, Buffer>,
  buffers?: BufferPool,
) {
  const idLength = Buffer.byteLength(circuitId);
  let headersLength = ENTRY + idLength + ENTRY + 8 + ENTRY + 2 + (flags === 0 ? 0 : ENTRY + 4);
  if (headers) for (const value of headers.values()) headersLength += ENTRY + value.length;
  const bodyOffset = FRAME_HEAD_LENGTH + headersLength;
  const length = bodyOffset + data.length;
  const bytes = buffers?.acquire(length) ?? Buffer.allocUnsafeSlow(length);
  writeFrameHead(bytes, XgressType.Payload, headersLength, data.length);
  let offset = FRAME_HEAD_LENGTH;
  if (headers) {
    for (const key of [...headers.keys()].sort((a, b) => a - b))
      offset = writeEntry(bytes, offset, XgressHeader.PayloadHeaderFirst + key, headers.get(key) as Buffer);
  }
  offset = writeKey(bytes, offset, XgressHeader.CircuitId, idLength);
  offset += bytes.write(circuitId, offset, 'utf8');
  offset = writeKey(bytes, offset, XgressHeader.Sequence, 8);
  bytes.writeUInt32LE(sequence, offset);
  bytes.writeUInt32LE(0, offset + 4);
  offset += 8;
  if (flags !== 0) offset = writeUint32Entry(bytes, offset, XgressHeader.Flags, flags);
  const stampOffset = writeKey(bytes, offset, XgressHeader.RoundTripTime, 2);
  bytes.writeUInt16LE(0, stampOffset);
  data.copy(bytes, bodyOffset);
  return { bytes, bodyOffset, stampOffset };
}

/** Acknowledges the payloads with `sequences`. Without sequences it only reports the receive buffer. */
export class Acknowledgement {
  readonly circuitId: string;
  readonly flags: number;
  /** Bytes in the receive buffer of the acknowledging side. */
  readonly receiveBufferSize: number;
  /** The timestamp of the acknowledged payload; 0 if there was none. */
  readonly stamp: number;
  readonly bytes: Buffer;
  readonly #bodyOffset: number;
  readonly #sizeOffset: number;

  private constructor(
    circuitId: string,
    flags: number,
    receiveBufferSize: number,
    stamp: number,
    bytes: Buffer,
    bodyOffset: number,
    sizeOffset: number,
  ) {
    this.circuitId = circuitId;
    this.flags = flags;
    this.receiveBufferSize = receiveBufferSize;
    this.stamp = stamp;
    this.bytes = bytes;
    this.#bodyOffset = bodyOffset;
    this.#sizeOffset = sizeOffset;
  }

  /** @throws ProtocolError if the circuit id is missing or the body is not a list of sequence numbers */
  static fromFrame(frame: Frame): Acknowledgement {
    const { bytes, bodyOffset } = frame;
    let circuitId: string | undefined;
    let flags = 0;
    let size = UNKNOWN_BUFFER_SIZE;
    let stamp = 0;
    let sizeOffset = ABSENT;
    forEachHeader(bytes, bodyOffset, (key, start, end) => {
      if (key === XgressHeader.CircuitId) circuitId = readCircuitId(bytes, start, end);
      else if (key === XgressHeader.Flags && end - start === 4) flags = bytes.readUInt32LE(start);
      else if (key === XgressHeader.ReceiveBufferSize && end - start === 4) {
        size = bytes.readUInt32LE(start);
        sizeOffset = start;
      } else if (key === XgressHeader.RoundTripTime && end - start === 2) stamp = bytes.readUInt16LE(start);
    });
    if (circuitId === undefined) throw new ProtocolError('an acknowledgement has no circuit id');
    if ((bytes.length - bodyOffset) % 4 !== 0)
      throw new ProtocolError('the body of an acknowledgement is not a list of sequence numbers');
    return new Acknowledgement(circuitId, flags, size, stamp, bytes, bodyOffset, sizeOffset);
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
    const sizeOffset = offset + ENTRY;
    offset = writeUint32Entry(bytes, offset, XgressHeader.ReceiveBufferSize, receiveBufferSize);
    offset = writeKey(bytes, offset, XgressHeader.RoundTripTime, 2);
    bytes.writeUInt16LE(stamp, offset);
    // Sequence numbers are the only big endian part of the protocol.
    for (const [index, sequence] of sequences.entries()) bytes.writeInt32BE(sequence, bodyOffset + 4 * index);
    return new Acknowledgement(circuitId, flags, receiveBufferSize, stamp, bytes, bodyOffset, sizeOffset);
  }

  get isFromTerminator(): boolean {
    return (this.flags & PayloadFlag.Originator) !== 0;
  }

  /** Writes, in place, that so many more bytes are in the receive buffer. A buffer that is not reported stays so. */
  addReceiveBuffer(bytes: number): void {
    if (this.#sizeOffset === ABSENT) return;
    this.bytes.writeUInt32LE(Math.min(MAX_BUFFER_SIZE, this.receiveBufferSize + bytes), this.#sizeOffset);
  }

  get sequences(): number[] {
    const sequences: number[] = [];
    for (let offset = this.#bodyOffset; offset < this.bytes.length; offset += 4)
      sequences.push(this.bytes.readInt32BE(offset));
    return sequences;
  }
}

/** The circuit of a payload, acknowledgement or control frame; undefined if it has none. */
export function circuitIdOf(frame: Frame): string | undefined {
  return frame.header(XgressHeader.CircuitId)?.toString('utf8');
}

/** @throws ProtocolError for an id that is too long */
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
