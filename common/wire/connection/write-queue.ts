// The bytes that wait to be written to one connection. It copies its input, so that callers can reuse their buffers,
// and writes all bytes since the last write together: few, large TLS records and system calls, without the copy and new
// buffer that Node needs for several buffers. Only one write is in progress at a time.

import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { WriteWatch } from './write-watch.ts';

/**
 * Bytes of the first block, for small messages: the smallest size of the pool, so that an unread connection needs
 * little memory.
 */
const FIRST_BLOCK = 6 * 1024;
/** Limit on the bytes of one write: two full socket reads with their heads. */
const MAX_WRITE_BYTES = 132 * 1024;

interface Block {
  readonly memory: Buffer;
  filled: number;
}

/** The bytes that wait to be written to one connection. */
export interface ByteQueue {
  /** Observes the writes. */
  watch: WriteWatch | undefined;
  /** Bytes that are not written yet. */
  readonly bytes: number;
  readonly isWriting: boolean;
  /** Takes a copy. */
  add(bytes: Buffer): void;
  /** Begins to write what was added. */
  flush(): void;
  /** Writes all bytes; none may be added afterwards. */
  end(): void;
  /** Looks for progress before the watch judges, if nobody tells it. */
  look?(): void;
}

export class WriteQueue implements ByteQueue {
  watch: WriteWatch | undefined;
  readonly #socket: Duplex;
  readonly #buffers: BufferPool;
  readonly #onWritten: () => void;
  /** The system copies the bytes that a socket writes. An in-process stream may pass the same memory to its reader. */
  readonly #reusesMemory: boolean;
  #blocks: Block[] = [];
  #bytes = 0;
  #isWriting = false;

  /** `onWritten` is called after each write. */
  constructor(socket: Duplex, buffers: BufferPool, onWritten: () => void) {
    this.#socket = socket;
    this.#buffers = buffers;
    this.#onWritten = onWritten;
    this.#reusesMemory = socket instanceof Socket;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  add(bytes: Buffer): void {
    this.#bytes += bytes.length;
    let block = this.#blocks.at(-1);
    if (!block || block.filled + bytes.length > block.memory.length) {
      const size = block ? Math.min(MAX_WRITE_BYTES, 2 * block.memory.length) : FIRST_BLOCK;
      block = { memory: this.#buffers.acquire(Math.max(size, bytes.length)), filled: 0 };
      this.#blocks.push(block);
    }
    bytes.copy(block.memory, block.filled);
    block.filled += bytes.length;
  }

  /** Writes the next block. A write in progress continues with it automatically. */
  flush(): void {
    if (this.#isWriting) return;
    const block = this.#blocks.shift();
    if (!block) return;
    this.#isWriting = true;
    this.watch?.begin();
    this.#socket.write(block.memory.subarray(0, block.filled), (error) => this.#written(block, error));
  }

  /** Passes all bytes to the socket; no bytes may be added afterwards. */
  end(): void {
    for (const { memory, filled } of this.#blocks.splice(0)) this.#socket.write(memory.subarray(0, filled));
  }

  #written(block: Block, error: Error | null | undefined): void {
    this.#isWriting = false;
    this.watch?.end();
    this.#bytes -= block.filled;
    if (error) return; // the system may still read from the block
    if (this.#reusesMemory) this.#buffers.release(block.memory);
    this.flush();
    this.#onWritten();
  }
}
