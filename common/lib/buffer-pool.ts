// Reuses memory for traffic instead of leaving it to the garbage collector. At hundreds of MiB per second, a new buffer
// for each read, payload and write costs more than the work on the bytes. Lost buffers are harmless: the collector
// frees them.
//
//   acquire(length) ─► buffer in a block of the next larger size ─► release(buffer) ─► block waits for the next acquire
//
// A buffer must not be used after `release`, because its block may already have another owner.

/** Sizes of the blocks in bytes. A payload of a full socket read (64 KiB, its head, its seal) fits into 66 KiB. */
const BLOCK_SIZES = [6, 8, 12, 16, 24, 32, 48, 66, 132, 264].map((kibibytes) => kibibytes * 1024);
/**
 * Shorter buffers are cheap for the garbage collector. They are not cut from Node's slabs, which one waiting buffer
 * would keep alive.
 */
const LEAST_POOLED = 4 * 1024;
/** Bytes of idle blocks. */
const MOST_IDLE = 16 * 1024 * 1024;

export class BufferPool {
  readonly #limit: number;
  /** Idle blocks by size; the last one released is reused first, since it is in the processor's cache. */
  readonly #idle = new Map<number, ArrayBufferLike[]>(BLOCK_SIZES.map((size) => [size, []]));
  #idleBytes = 0;

  constructor(limit: number = MOST_IDLE) {
    this.#limit = limit;
  }

  /** Bytes of idle blocks. */
  get idleBytes(): number {
    return this.#idleBytes;
  }

  /** Returns a buffer of this length with arbitrary content. */
  acquire(length: number): Buffer {
    const size = blockSize(length);
    if (length < LEAST_POOLED || size === undefined) return Buffer.allocUnsafeSlow(length);
    const block = this.#idle.get(size)?.pop();
    if (!block) return Buffer.from(Buffer.allocUnsafeSlow(size).buffer, 0, length);
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
    if (buffer.length < LEAST_POOLED) return;
    const block = buffer.buffer;
    const idle = this.#idle.get(block.byteLength);
    if (!idle || buffer.byteOffset !== 0 || this.#idleBytes + block.byteLength > this.#limit) return;
    idle.push(block);
    this.#idleBytes += block.byteLength;
  }

  /** Leaves the idle blocks to the garbage collector. */
  clear(): void {
    for (const idle of this.#idle.values()) idle.length = 0;
    this.#idleBytes = 0;
  }
}

/** Bytes of memory that a buffer of a pool occupies. */
export function memoryOf(length: number): number {
  return length < LEAST_POOLED ? length : (blockSize(length) ?? length);
}

function blockSize(length: number): number | undefined {
  for (const size of BLOCK_SIZES) if (length <= size) return size;
  return undefined;
}

/** The pool of this process. All circuits and connections share it, and so its bound. */
export const sharedBuffers = new BufferPool();
