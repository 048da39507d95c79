// Dynamic costs of terminators, added to the configured ones: circuits that use them, and failed dials. Strategies that
// read costs select by them (reference fact: control channel, section 4.3).

import type { Clock, Timer } from '#lib/time/clock.ts';
import { MAX_COST } from '#model/terminator.ts';

interface Costs {
  circuits: number;
  failures: number;
  lastFailure: number;
}

const CIRCUIT_COST = 2;
const FAILURE_COST = 20;
const SUCCESS_CREDIT = 2;
const MINUTE = 60_000;
/** Reduction after a minute without a new failure: at least this, doubled every five minutes. */
const MIN_CREDIT = 10;
const DOUBLING = 5 * MINUTE;

export class TerminatorCosts {
  readonly #clock: Clock;
  readonly #costs = new Map<string, Costs>();
  /** Runs while any terminator has failures. */
  #forgiving: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Added to the configured cost of a terminator. */
  get(terminatorId: string): number {
    const costs = this.#costs.get(terminatorId);
    return costs ? Math.min(MAX_COST, costs.circuits * CIRCUIT_COST + costs.failures) : 0;
  }

  /** For inspections, with the reference's field names. */
  inspect() {
    return [...this.#costs].map(([terminatorId, { circuits, failures }]) => ({
      terminatorId,
      circuitCount: circuits,
      failureCost: failures,
      currentCost: this.get(terminatorId),
    }));
  }

  dialFailed(terminatorId: string): void {
    const costs = this.#of(terminatorId);
    costs.failures += FAILURE_COST;
    costs.lastFailure = this.#clock.now();
    this.#forgiving ??= this.#clock.every('terminator costs', MINUTE, () => this.#forgive());
  }

  dialSucceeded(terminatorId: string): void {
    const costs = this.#of(terminatorId);
    costs.failures = Math.max(0, costs.failures - SUCCESS_CREDIT);
    costs.circuits++;
  }

  circuitRemoved(terminatorId: string): void {
    const costs = this.#costs.get(terminatorId);
    if (!costs) return;
    costs.circuits = Math.max(0, costs.circuits - 1);
    this.#tidy(terminatorId, costs);
  }

  forget(terminatorId: string): void {
    this.#costs.delete(terminatorId);
  }

  close(): void {
    this.#forgiving?.cancel();
    this.#forgiving = undefined;
    this.#costs.clear();
  }

  #of(terminatorId: string): Costs {
    const costs = this.#costs.get(terminatorId) ?? { circuits: 0, failures: 0, lastFailure: 0 };
    this.#costs.set(terminatorId, costs);
    return costs;
  }

  #forgive(): void {
    const now = this.#clock.now();
    let haveFailures = false;
    for (const [id, costs] of this.#costs) {
      const credit = Math.max(MIN_CREDIT, 2 ** Math.floor((now - costs.lastFailure) / DOUBLING));
      costs.failures = Math.max(0, costs.failures - credit);
      haveFailures ||= costs.failures > 0;
      this.#tidy(id, costs);
    }
    if (haveFailures) return;
    this.#forgiving?.cancel();
    this.#forgiving = undefined;
  }

  #tidy(terminatorId: string, { circuits, failures }: Costs): void {
    if (circuits === 0 && failures === 0) this.#costs.delete(terminatorId);
  }
}
