// A fault with its count and its end.

import type { Random } from '#lib/random.ts';
import type { CheckedAnswer, Fault, FaultHandle, Rule } from './fault.ts';

export class Active implements FaultHandle {
  readonly id: string;
  readonly rule: Rule;
  /** Monotonic milliseconds from which it affects nothing. */
  readonly end: number;
  hits = 0;
  readonly #onRemove: (active: Active) => void;

  constructor(id: string, rule: Rule, end: number, onRemove: (active: Active) => void) {
    this.id = id;
    this.rule = rule;
    this.end = end;
    this.#onRemove = onRemove;
  }

  get fault(): Fault {
    return { id: this.id, hits: this.hits, ...this.rule };
  }

  remove(): void {
    this.#onRemove(this);
  }

  [Symbol.dispose](): void {
    this.remove();
  }

  /** Whether the rule is neither used up nor ended. */
  isInForce(now: number): boolean {
    return this.hits < this.#times && now < this.end;
  }

  /** Counts a hit, unless the rule is used up, has ended, or chance spares this one. */
  hit(random: Random, now: number): boolean {
    const { probability = 1 } = this.rule;
    if (!this.isInForce(now)) return false;
    if (probability < 1 && random.next() >= probability) return false;
    this.hits += 1;
    return true;
  }

  /** The answer of the latest hit. */
  get answer(): CheckedAnswer {
    const { rule, hits } = this;
    if (rule.kind !== 'http') return {};
    return rule.answers?.[(hits - 1) % rule.answers.length] ?? rule;
  }

  /** A sequence of answers is used up after the last one. */
  get #times(): number {
    const { rule } = this;
    return rule.times ?? (rule.kind === 'http' && rule.answers ? rule.answers.length : Number.POSITIVE_INFINITY);
  }
}
