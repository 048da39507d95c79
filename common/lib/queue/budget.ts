// An amount of which each source may use only a part, bytes or requests in progress: a flooding source leaves room for
// others. buffer-budget.ts has the budget of circuits, whose ends share what is free.

export interface BudgetLimits {
  /** The limit for all sources together. */
  readonly max: number;
  /** The limit for one source. */
  readonly maxOfSource: number;
}

export class Budget {
  readonly #limits: BudgetLimits;
  readonly #bySource = new Map<string, number>();
  #total = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** The amount that all sources have reserved. */
  get total(): number {
    return this.#total;
  }

  /** Reserves an amount for a source; returns false, and reserves nothing, if that exceeds a limit. */
  acquire(source: string, amount = 1): boolean {
    if (amount === 0) return true;
    if (!this.has(source, amount)) return false;
    this.#bySource.set(source, (this.#bySource.get(source) ?? 0) + amount);
    this.#total += amount;
    return true;
  }

  /** Whether `acquire` with this amount would succeed. */
  has(source: string, amount = 1): boolean {
    const { max, maxOfSource } = this.#limits;
    return (this.#bySource.get(source) ?? 0) + amount <= maxOfSource && this.#total + amount <= max;
  }

  /** Releases a reserved amount. */
  release(source: string, amount = 1): void {
    if (amount === 0) return;
    const own = (this.#bySource.get(source) ?? 0) - amount;
    if (own > 0) this.#bySource.set(source, own);
    else this.#bySource.delete(source);
    this.#total -= amount;
  }
}
