// The bytes that wait to be written to one connection. It copies what it is given, so that callers can use their buffers again, and writes what has
// come together since the last write as one: few, large TLS records and system calls, without the copy and the new buffer that Node needs
// for several buffers. One write is under way at a time.

import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { sharedBuffers } from '#lib/buffer-pool.ts';

/** Bytes of the first block, for small messages: the smallest of the pool, so that a connection that is not read keeps little memory. */
const FIRST_BLOCK = 6 * 1024;
/** Bytes of one write, when there is so much: two whole socket reads with their heads. */
const LARGEST_WRITE = 132 * 1024;

interface Block {
  readonly memory: Buffer;
  filled: number;
}

export class WriteQueue {
  readonly #socket: Duplex;
  readonly #onWritten: () => void;
  /** The system copies what a socket has written. A stream within the process may hand the same memory to its reader. */
  readonly #reusesMemory: boolean;
  #blocks: Block[] = [];
  #bytes = 0;
  #isWriting = false;

  /** `onWritten` is called after each write. */
  constructor(socket: Duplex, onWritten: () => void) {
    this.#socket = socket;
    this.#onWritten = onWritten;
    this.#reusesMemory = socket instanceof Socket;
  }

  /** Bytes that have not left yet. */
  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: Buffer): void {
    this.#bytes += bytes.length;
    let block = this.#blocks.at(-1);
    if (!block || block.filled + bytes.length > block.memory.length) {
      const size = block ? Math.min(LARGEST_WRITE, 2 * block.memory.length) : FIRST_BLOCK;
      block = { memory: sharedBuffers.take(Math.max(size, bytes.length)), filled: 0 };
      this.#blocks.push(block);
    }
    bytes.copy(block.memory, block.filled);
    block.filled += bytes.length;
  }

  /** Writes the next block, unless a write is under way: then it follows by itself. */
  flush(): void {
    if (this.#isWriting) return;
    const block = this.#blocks.shift();
    if (!block) return;
    this.#isWriting = true;
    this.#socket.write(block.memory.subarray(0, block.filled), (error) => this.#written(block, error));
  }

  /** Hands everything to the socket; nothing is added afterwards. */
  end(): void {
    for (const { memory, filled } of this.#blocks.splice(0)) this.#socket.write(memory.subarray(0, filled));
  }

  #written(block: Block, error: Error | null | undefined): void {
    this.#isWriting = false;
    this.#bytes -= block.filled;
    if (error) return; // the system may still read from the block
    if (this.#reusesMemory) sharedBuffers.give(block.memory);
    this.flush();
    this.#onWritten();
  }
}
