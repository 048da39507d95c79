// Memory for traffic that is reused instead of left to the garbage collector: at hundreds of MiB a second, a new buffer for each
// read, payload and write costs more than the work on the bytes. Lost buffers do no harm: the collector frees them.
//
//   take(length) ─► buffer in a block of the next larger size ─► give(buffer) ─► block waits for the next take
//
// A buffer must not be used after `give`: its block belongs to somebody else then.

/** Bytes of the blocks. A payload of a whole socket read (64 KiB, its head, its seal) fits into 66 KiB. */
const BLOCK_SIZES = [6, 8, 12, 16, 24, 32, 48, 66, 132, 264].map((kibibytes) => kibibytes * 1024);
/** Shorter buffers are left to the garbage collector: they cost little. Not in Node's slabs, which a small buffer that waits keeps alive. */
const LEAST_POOLED = 4 * 1024;
/** Bytes of blocks that wait for their next use. */
const MOST_IDLE = 16 * 1024 * 1024;

export class BufferPool {
  readonly #limit: number;
  /** Idle blocks by size; the one used last is used next, since it is in the processor's cache. */
  readonly #idle = new Map<number, ArrayBufferLike[]>(BLOCK_SIZES.map((size) => [size, []]));
  #idleBytes = 0;

  constructor(limit: number = MOST_IDLE) {
    this.#limit = limit;
  }

  /** Bytes of blocks that wait for their next use. */
  get idleBytes(): number {
    return this.#idleBytes;
  }

  /** A buffer of this length with any content. */
  take(length: number): Buffer {
    const size = blockSize(length);
    if (length < LEAST_POOLED || size === undefined) return Buffer.allocUnsafeSlow(length);
    const block = this.#idle.get(size)?.pop();
    if (!block) return Buffer.from(Buffer.allocUnsafeSlow(size).buffer, 0, length);
    this.#idleBytes -= size;
    return Buffer.from(block, 0, length);
  }

  /** A copy of `bytes` in a buffer of the pool. */
  copy(bytes: Buffer): Buffer {
    const copy = this.take(bytes.length);
    bytes.copy(copy);
    return copy;
  }

  /** Takes a buffer of `take` back, once. Buffers that are not of the pool are left alone. */
  give(buffer: Buffer): void {
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

/** Bytes of memory that a buffer of a pool keeps. */
export function memoryOf(length: number): number {
  return length < LEAST_POOLED ? length : (blockSize(length) ?? length);
}

function blockSize(length: number): number | undefined {
  for (const size of BLOCK_SIZES) if (length <= size) return size;
  return undefined;
}

/** The pool of this process. Circuits and connections share it, so that its bound holds for all of them together. */
export const sharedBuffers = new BufferPool();
