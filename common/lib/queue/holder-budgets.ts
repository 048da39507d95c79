// Divides the buffer budget between holders: the identities of SDK clients, all UDP sessions together, and the sources
// of proxied connections. Circuits of clients use no descriptors, so one holder can have thousands of ends that nobody
// reads, and each end may always hold some bytes. All ends of a holder together therefore hold at most what the others
// leave free, with their least shares, their payloads beyond a share and their objects. A holder that has used its part
// delays its own ends only.
//
//   BufferBudget ─┬─ ends with a socket each
//                 ├─ HolderBudget of an identity ── its ends
//                 └─ HolderBudget of UDP sessions …

import { type BufferBudget, EXHAUSTED, MIN_SHARE_BYTES } from './buffer-budget.ts';

/** The memory of one end, as its buffers see it. */
export interface EndBudget {
  /** Bytes held by all ends that share this budget. */
  readonly used: number;
  /** Bytes that the end may hold at the moment. */
  readonly share: number;
  /** Whether the end may hold this many more bytes for one payload, even if it has used its share. */
  fits(bytes: number): boolean;
  /** Records that the end holds `bytes` more, or fewer if negative. */
  add(bytes: number): void;
}

/** Bytes of the objects of an end without any payload: xgress, buffers, client, table entries. */
const END_OBJECTS = 8 * 1024;
/** Bytes that the ends of one holder may always hold together, while others have used the budget. */
const MIN_HOLDER_BYTES = 4 * 1024 * 1024;
/** Bytes that every end may hold at any time, and of a payload beyond them: a request, a key, an end mark. */
const SMALL_PAYLOAD = 2 * 1024;

/** The part of the budget that the ends of one holder share. */
export class HolderBudget implements EndBudget {
  readonly #all: BufferBudget;
  #used = 0;
  #ends = 0;

  constructor(all: BufferBudget) {
    this.#all = all;
  }

  get ends(): number {
    return this.#ends;
  }

  /** Bytes held by all ends of the holder, without their objects. */
  get used(): number {
    return this.#used;
  }

  get share(): number {
    const part = this.#part;
    const min = Math.min(MIN_SHARE_BYTES, Math.max(SMALL_PAYLOAD, part / Math.max(1, this.#ends)));
    return Math.max(min, Math.min(part - this.#used, this.#all.share));
  }

  fits(bytes: number): boolean {
    return bytes <= SMALL_PAYLOAD || (this.#used + bytes <= EXHAUSTED * this.#part && this.#all.fits(bytes));
  }

  add(bytes: number): void {
    this.#used += bytes;
    this.#all.add(bytes);
  }

  /** Counts an end, until the returned function is called. */
  open(): () => void {
    this.#ends++;
    return () => void this.#ends--;
  }

  /** Bytes that the holder may hold: what is free, so that n holders who use all get 1/(n + 1) of the budget each. */
  get #part(): number {
    return Math.max(MIN_HOLDER_BYTES, this.#all.free - this.#ends * END_OBJECTS);
  }
}

/** The budgets of all holders that have an end. */
export class HolderBudgets {
  readonly #all: BufferBudget;
  readonly #holders = new Map<string, HolderBudget>();

  constructor(all: BufferBudget) {
    this.#all = all;
  }

  get size(): number {
    return this.#holders.size;
  }

  /** The budget for a new end of a holder. Call `release` when the end is closed. */
  use(holder: string): { readonly budget: HolderBudget; release(): void } {
    const budget = this.#holders.get(holder) ?? new HolderBudget(this.#all);
    this.#holders.set(holder, budget);
    const close = budget.open();
    const release = () => {
      close();
      if (budget.ends === 0) this.#holders.delete(holder);
    };
    return { budget, release };
  }
}
