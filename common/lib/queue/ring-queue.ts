// A bounded first-in first-out queue on a ring that doubles until it reaches its limit. A full queue rejects new items;
// the caller decides what follows (wait, reject or drop).
//
//        head              head + length
//          v                   v
//   | . . | a | b | c | d | e | . . . |      slots = power of two, index & mask
//
// Removing an item clears its slot, so that the queue does not keep it alive.

const FIRST_SIZE = 16;

export class RingQueue<T> {
  readonly limit: number;
  #slots: (T | undefined)[] = new Array(FIRST_SIZE);
  #mask = FIRST_SIZE - 1;
  #head = 0;
  #length = 0;

  /** `limit` is the maximum number of items, at least 0. */
  constructor(limit: number) {
    this.limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  get full(): boolean {
    return this.#length >= this.limit;
  }

  /** Returns false, without adding the item, if the queue is full. */
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
    if (this.#slots.length > FIRST_SIZE) {
      this.#slots = new Array(FIRST_SIZE);
      this.#mask = FIRST_SIZE - 1;
    } else while (this.#length > 0) this.shift(); // cheaper than new slots
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
