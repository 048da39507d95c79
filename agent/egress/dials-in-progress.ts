// The routes in progress, by circuit. If the controller removes a circuit before its service has answered, or repeats
// the route, the dial is aborted. Otherwise it would leave an orphaned circuit end, whose timeout removes the circuit.

import { ProjectError } from '#lib/errors.ts';

export class CircuitOverError extends ProjectError {
  constructor(circuitId: string, what = 'removed') {
    super('CIRCUIT_OVER', `circuit ${circuitId} was ${what} before its service answered`);
  }
}

/** Bounded by the dial queue: each entry ends with its task. */
export class DialsInProgress {
  /** The dials of each circuit, with the numbers of their attempts. */
  readonly #dials = new Map<string, Map<AbortController, number>>();

  get size(): number {
    return this.#dials.size;
  }

  /**
   * Aborts the dials of earlier attempts: their controller ignores the results. Call `end` when the route is complete.
   */
  begin(circuitId: string, attempt: number): { readonly signal: AbortSignal; end(): void } {
    const controller = new AbortController();
    const dials = this.#dials.get(circuitId) ?? new Map<AbortController, number>();
    for (const [earlier, number] of dials)
      if (number < attempt) earlier.abort(new CircuitOverError(circuitId, 'routed again'));
    this.#dials.set(circuitId, dials.set(controller, attempt));
    const end = () => {
      dials.delete(controller);
      if (dials.size === 0 && this.#dials.get(circuitId) === dials) this.#dials.delete(circuitId);
    };
    return { signal: controller.signal, end };
  }

  /** The circuit was removed: aborts its dials. Later routes for it are dialed again. */
  cancel(circuitId: string): void {
    for (const controller of this.#dials.get(circuitId)?.keys() ?? [])
      controller.abort(new CircuitOverError(circuitId));
    this.#dials.delete(circuitId);
  }
}
