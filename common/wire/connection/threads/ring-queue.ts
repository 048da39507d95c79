// The bytes that wait to be written by another thread: frames gather in the memory that this thread reads, so that no
// further copy is needed. It takes the place of the write queue of a socket.

import type { Crossing } from '#lib/threads/crossings.ts';
import { CrossingRecord } from '#lib/threads/crossings.ts';
import type { ByteQueue } from '../write-queue.ts';
import type { WriteWatch } from '../write-watch.ts';

/** Bytes of a record: a few full TLS records, one system call. At least so many of them, before the memory ends. */
const RECORD_BYTES = 132 * 1024;
const MIN_RECORD_BYTES = 16 * 1024;

export class RingQueue implements ByteQueue {
  /** Observes the progress of the other thread. */
  watch: WriteWatch | undefined;
  /** The other thread writes whatever is there; nobody needs to know. */
  readonly isWriting = false;
  readonly #crossing: Crossing;
  readonly #onWritten: () => void;
  /** Bytes below which `onWritten` is called. */
  readonly #limit: number;
  #record: Buffer | undefined;
  #filled = 0;
  /** Bytes without room in the ring, and their number. */
  readonly #unsent: Buffer[] = [];
  #unsentBytes = 0;
  #hasEnd = false;
  #isClosed = false;
  #isEndSent = false;
  /** More bytes than the limit were waiting. */
  #isLong = false;
  /** The position of the other thread when the watch last looked. */
  #released = 0;
  #isWatching = false;

  /** `onWritten` is called when fewer than `limit` bytes wait, after more did. */
  constructor(crossing: Crossing, limit: number, onWritten: () => void) {
    this.#crossing = crossing;
    this.#limit = limit;
    this.#onWritten = onWritten;
  }

  get bytes(): number {
    return this.#crossing.sent.used + this.#filled + this.#unsentBytes;
  }

  add(bytes: Buffer): void {
    if (this.#isClosed) return;
    const added = this.#unsentBytes === 0 ? this.#put(bytes) : 0;
    if (added < bytes.length) {
      this.#unsent.push(Buffer.from(bytes.subarray(added)));
      this.#unsentBytes += bytes.length - added;
    }
    if (this.#isLong || this.bytes < this.#limit) return;
    this.#isLong = true;
    this.#crossing.touch(); // the turn waits for the release, and sees one that came before
  }

  flush(): void {
    if (this.#isClosed) return;
    this.#commit();
    this.#crossing.publish();
    this.look();
  }

  end(): void {
    this.#hasEnd = true;
    this.turn();
  }

  /** The connection is over: nothing is written to memory that serves the next one. */
  close(): void {
    this.#isClosed = true;
    this.#record = undefined;
    this.#unsent.length = 0;
    this.#unsentBytes = 0;
    this.watch?.close();
  }

  /** The other thread has made room, perhaps. */
  turn(): void {
    if (this.#isClosed) return;
    const hadUnsent = this.#unsentBytes > 0;
    for (let [first] = this.#unsent; first; [first] = this.#unsent) {
      const put = this.#put(first);
      this.#unsentBytes -= put;
      if (put < first.length) {
        this.#unsent[0] = first.subarray(put);
        break;
      }
      this.#unsent.shift();
    }
    if (hadUnsent || this.#hasEnd) this.flush();
    if (this.#hasEnd && this.#unsentBytes === 0 && !this.#isEndSent) this.#sendEnd();
    this.look();
    if (!this.#isLong) return;
    this.#crossing.sent.awaitRelease();
    if (this.bytes >= this.#limit) return;
    this.#isLong = false;
    this.#onWritten();
  }

  /** Tells the watch whether the other thread has written bytes since the last look. */
  look(): void {
    const { watch } = this;
    if (!watch) return;
    const { released } = this.#crossing.sent;
    const isWaiting = this.bytes > 0;
    if (!isWaiting) watch.end();
    else if (!this.#isWatching || released !== this.#released) watch.begin();
    this.#released = released;
    this.#isWatching = isWaiting;
  }

  #sendEnd(): void {
    if (!this.#crossing.sent.reserve(0)) return;
    this.#isEndSent = true;
    this.#crossing.sent.commit(CrossingRecord.End, 0);
    this.#crossing.publish();
  }

  /** Returns the number of bytes for which there was room. */
  #put(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length) {
      const record = this.#record ?? this.#begin();
      if (!record) break;
      const copied = bytes.copy(record, this.#filled, at);
      this.#filled += copied;
      at += copied;
      if (this.#filled === record.length) this.#commit();
    }
    return at;
  }

  #begin(): Buffer | undefined {
    const { sent } = this.#crossing;
    this.#record = sent.reserve(Math.min(RECORD_BYTES, sent.maxRecord), MIN_RECORD_BYTES);
    this.#filled = 0;
    return this.#record;
  }

  #commit(): void {
    if (this.#record && this.#filled > 0) this.#crossing.sent.commit(CrossingRecord.Data, this.#filled);
    this.#record = undefined;
    this.#filled = 0;
  }
}
