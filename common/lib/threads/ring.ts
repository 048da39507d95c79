// A bounded queue of records in shared memory: one thread writes, one other thread reads. No record is copied on the
// way: the writer fills reserved memory, and the reader uses the record in place until it releases it.
//
//   reserve ─► fill ─► commit ─► publish   │   next ─► use ─► release
//
// A record is contiguous. If it does not fit before the end of the memory, a filler record takes the rest, and the
// record begins at the start. Both positions only grow, modulo 2³², so that a full ring differs from an empty one.

import { InvariantError } from '../errors.ts';

/** Bytes before the records: each word has a cache line of its own. */
const CONTROL_BYTES = 256;
/** Indices of the words in the control block. */
const WRITTEN = 0;
const READ = 16;
const HINT = 32;
const WAITS = 48;
/** Bytes of length and kind before each record, and the bytes to which records are aligned. */
const HEAD = 8;
const ALIGNMENT = 8;
/** The kind of records that fill the end of the memory. */
const FILLER = 0xffff_ffff;
/** Bytes of records and heads. */
const SMALLEST = 64;
const LARGEST = 64 * 1024 * 1024;

/**
 * Creates the memory of a ring for `bytes` of records with their heads, a power of two. One record may have half of
 * it, without its head.
 */
export function createRing(bytes: number): SharedArrayBuffer {
  if (bytes < SMALLEST || bytes > LARGEST || (bytes & (bytes - 1)) !== 0)
    throw new InvariantError(`a ring cannot have ${bytes} bytes`);
  return new SharedArrayBuffer(ringLength(bytes));
}

/** Bytes of the memory of such a ring. */
export function ringLength(bytes: number): number {
  return CONTROL_BYTES + bytes;
}

/** Makes the memory new for another writer and another reader, when nobody uses it any more. */
export function renewRing(memory: SharedArrayBuffer): void {
  new Int32Array(memory, 0, CONTROL_BYTES / Int32Array.BYTES_PER_ELEMENT).fill(0);
}

/** The memory, as both sides see it. */
class RingSide {
  protected readonly words: Int32Array;
  protected readonly records: Buffer;
  protected readonly size: number;

  constructor(memory: SharedArrayBuffer) {
    this.size = memory.byteLength - CONTROL_BYTES;
    this.words = new Int32Array(memory, 0, CONTROL_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.records = Buffer.from(memory as unknown as ArrayBuffer, CONTROL_BYTES, this.size);
  }

  /** Index of the byte at a position. */
  protected at(position: number): number {
    return position & (this.size - 1);
  }
}

export class RingWriter extends RingSide {
  /** Bytes of all records, without heads. */
  bytes = 0;
  #written = 0;
  #published = 0;
  /** The reader's position when it was last read. */
  #read = 0;

  /** Bytes of the largest record. */
  get maxRecord(): number {
    return this.size / 2 - HEAD;
  }

  /** Bytes that the reader has not released, heads and fillers included. */
  get used(): number {
    return (this.#written - this.released) | 0;
  }

  /** The position up to which the reader has released the memory: it changes with each release. */
  get released(): number {
    this.#read = Atomics.load(this.words, READ);
    return this.#read;
  }

  /** A number for the reader, outside of the order of the records; initially 0. */
  set hint(value: number) {
    Atomics.store(this.words, HINT, value);
  }

  /** The reader's next `release` tells that the writer waits. */
  awaitRelease(): void {
    Atomics.store(this.words, WAITS, 1);
  }

  /**
   * Memory for the next record of at most `length` bytes; undefined while there is no room: the reader's next `release`
   * then tells that the writer waits. It stays reserved until `commit`, or until the next call.
   *
   * @param min If so many bytes fit before the end of the memory and `length` bytes do not, the record is shorter.
   */
  reserve(length: number, min = length): Buffer | undefined {
    if (length > this.maxRecord) throw new InvariantError(`a record of ${length} bytes does not fit into a ring`);
    const start = this.at(this.#written);
    const toEnd = this.size - start;
    if (min < length && spaceOf(length) > toEnd && spaceOf(min) <= toEnd) return this.reserve(toEnd - HEAD);
    const wanted = spaceOf(length);
    const total = wanted <= toEnd ? wanted : toEnd + wanted;
    if (!this.#hasRoom(total)) return undefined;
    if (wanted > toEnd) this.#commit(start, FILLER, toEnd - HEAD);
    const first = this.at(this.#written) + HEAD;
    return this.records.subarray(first, first + length);
  }

  #hasRoom(bytes: number): boolean {
    if (((this.#written - this.#read) | 0) + bytes <= this.size || this.used + bytes <= this.size) return true;
    this.awaitRelease();
    return this.used + bytes <= this.size; // the reader may have released before it could see that
  }

  /** Completes the reserved record with its first `length` bytes. The reader sees it after `publish`. */
  commit(kind: number, length: number): void {
    this.bytes += length;
    this.#commit(this.at(this.#written), kind, length);
  }

  /** Shows all complete records to the reader. Returns false if it has seen them before. */
  publish(): boolean {
    if (this.#published === this.#written) return false;
    this.#published = this.#written;
    Atomics.store(this.words, WRITTEN, this.#written);
    return true;
  }

  #commit(start: number, kind: number, length: number): void {
    this.records.writeUInt32LE(length, start);
    this.records.writeUInt32LE(kind, start + 4);
    this.#written = (this.#written + spaceOf(length)) | 0;
  }
}

const NOTHING = Buffer.alloc(0);

export class RingReader extends RingSide {
  /** The current record, valid until `release`. */
  kind = FILLER;
  data: Buffer = NOTHING;
  /** Bytes of all records up to the current one, without heads. */
  bytes = 0;
  #read = 0;
  /** The writer's position when it was last read. */
  #written = 0;

  get hint(): number {
    return Atomics.load(this.words, HINT);
  }

  /** Goes on to the next record. Returns false if there is none; the current one stays. */
  next(): boolean {
    for (;;) {
      if (this.#read === this.#written) {
        this.#written = Atomics.load(this.words, WRITTEN);
        if (this.#read === this.#written) return false;
      }
      const start = this.at(this.#read);
      const length = this.records.readUInt32LE(start);
      const kind = this.records.readUInt32LE(start + 4);
      this.#read = (this.#read + spaceOf(length)) | 0;
      if (kind === FILLER) continue;
      this.bytes += length;
      this.kind = kind;
      this.data = this.records.subarray(start + HEAD, start + HEAD + length);
      return true;
    }
  }

  /** Gives the memory of all records up to the current one back to the writer. Returns whether it waits for room. */
  release(): boolean {
    Atomics.store(this.words, READ, this.#read);
    return Atomics.exchange(this.words, WAITS, 0) === 1;
  }
}

/** Bytes that a record of this length needs. */
function spaceOf(length: number): number {
  return (HEAD + length + ALIGNMENT - 1) & -ALIGNMENT;
}
