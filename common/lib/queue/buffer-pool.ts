// Reuses memory for traffic instead of leaving it to the garbage collector. At hundreds of MiB per second, a new buffer
// for each read, payload and write costs more than the work on the bytes. Lost buffers are harmless: the collector
// frees them.
//
//   acquire(length) ─► buffer in a block of the next larger size ─► release(buffer) ─► block waits for the next acquire
//                                                                                      shed() ─► frees it if none comes
//
// A buffer must not be used after `release`, because its block may already have another owner.

/** Sizes of the blocks in bytes. A payload of a full socket read (64 KiB, its head, its seal) fits into 66 KiB. */
const BLOCK_SIZES = [6, 8, 12, 16, 24, 32, 48, 66, 132, 264].map((kibibytes) => kibibytes * 1024);
/**
 * Shorter buffers are cheap for the garbage collector. They are not cut from Node's slabs, which one waiting buffer
 * would keep alive.
 */
const MIN_POOLED_BYTES = 4 * 1024;
/** Bytes of idle blocks. */
const MAX_IDLE_BYTES = 16 * 1024 * 1024;

/** The idle blocks of one size. */
interface Shelf {
  /** The last one released is reused first, since it is in the processor's cache. */
  readonly blocks: ArrayBuffer[];
  /** Number of the first blocks that nobody needed since the last call of `shed`. */
  unneeded: number;
}

export class BufferPool {
  readonly #limit: number;
  readonly #shelves = new Map<number, Shelf>(BLOCK_SIZES.map((size) => [size, { blocks: [], unneeded: 0 }]));
  #idleBytes = 0;

  constructor(limit: number = MAX_IDLE_BYTES) {
    this.#limit = limit;
  }

  /** Bytes of idle blocks. */
  get idleBytes(): number {
    return this.#idleBytes;
  }

  /** Returns a buffer of this length with arbitrary content. */
  acquire(length: number): Buffer {
    const size = blockSize(length);
    if (length < MIN_POOLED_BYTES || size === undefined) return Buffer.allocUnsafeSlow(length);
    const shelf = this.#shelves.get(size);
    const block = shelf?.blocks.pop();
    if (!shelf || !block) return Buffer.from(Buffer.allocUnsafeSlow(size).buffer, 0, length);
    shelf.unneeded = Math.min(shelf.unneeded, shelf.blocks.length);
    this.#idleBytes -= size;
    return Buffer.from(block, 0, length);
  }

  /** Returns a copy of `bytes` in a buffer of the pool. */
  copy(bytes: Buffer): Buffer {
    const copy = this.acquire(bytes.length);
    bytes.copy(copy);
    return copy;
  }

  /** Releases a buffer of `acquire`, once. Buffers of other origin are ignored. */
  release(buffer: Buffer): void {
    if (buffer.length < MIN_POOLED_BYTES) return;
    const block = buffer.buffer as ArrayBuffer;
    const shelf = this.#shelves.get(block.byteLength);
    if (!shelf || buffer.byteOffset !== 0 || this.#idleBytes + block.byteLength > this.#limit) return;
    shelf.blocks.push(block);
    this.#idleBytes += block.byteLength;
  }

  /** Frees the blocks that were idle since the last call. Call it regularly while there is traffic. */
  shed(): void {
    for (const [size, shelf] of this.#shelves) {
      this.#free(shelf, size, shelf.unneeded);
      shelf.unneeded = shelf.blocks.length;
    }
  }

  /** Frees all idle blocks. */
  clear(): void {
    for (const [size, shelf] of this.#shelves) {
      this.#free(shelf, size, shelf.blocks.length);
      shelf.unneeded = 0;
    }
  }

  /** Moving the memory out frees it now, not when the garbage collector comes to it. */
  #free(shelf: Shelf, size: number, count: number): void {
    for (const block of shelf.blocks.splice(0, count)) block.transfer(0);
    this.#idleBytes -= count * size;
  }
}

/** Bytes of memory that a buffer of a pool occupies. */
export function memoryOf(length: number): number {
  return length < MIN_POOLED_BYTES ? length : (blockSize(length) ?? length);
}

function blockSize(length: number): number | undefined {
  for (const size of BLOCK_SIZES) if (length <= size) return size;
  return undefined;
}
