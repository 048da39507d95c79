// A bounded first-in first-out queue on a ring that doubles until it reaches its limit. Adding to a full queue is refused,
// never grown: who adds decides what a refusal means (wait, reject or drop).
//
//        head              head + length
//          v                   v
//   | . . | a | b | c | d | e | . . . |      slots = power of two, index & mask
//
// Taking clears the slot, so that the queue never keeps alive what has left it.

const FIRST_SIZE = 16;

export class RingQueue<T> {
  readonly limit: number;
  #slots: (T | undefined)[] = new Array(FIRST_SIZE);
  #mask = FIRST_SIZE - 1;
  #head = 0;
  #length = 0;

  /** `limit` is the number of items that may wait, at least 0. */
  constructor(limit: number) {
    this.limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  get full(): boolean {
    return this.#length >= this.limit;
  }

  /** False when the queue is full; the item was not added then. */
  push(item: T): boolean {
    if (this.#length >= this.limit) return false;
    if (this.#length === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.#length) & this.#mask] = item;
    this.#length++;
    return true;
  }

  peek(): T | undefined {
    return this.#slots[this.#head];
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & this.#mask;
    this.#length--;
    return item;
  }

  clear(): void {
    this.#slots = new Array(FIRST_SIZE);
    this.#mask = FIRST_SIZE - 1;
    this.#head = 0;
    this.#length = 0;
  }

  #grow(): void {
    const slots: (T | undefined)[] = new Array(this.#slots.length * 2);
    for (let index = 0; index < this.#length; index++) slots[index] = this.#slots[(this.#head + index) & this.#mask];
    this.#slots = slots;
    this.#mask = slots.length - 1;
    this.#head = 0;
  }
}
