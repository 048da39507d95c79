// The routes in progress, by circuit. If the controller removes a circuit before its service has answered, the dial is
// aborted. Otherwise it would leave an orphaned circuit end.

import { ProjectError } from '#lib/errors.ts';

export class CircuitOverError extends ProjectError {
  constructor(circuitId: string) {
    super('CIRCUIT_OVER', `circuit ${circuitId} was removed before its service answered`);
  }
}

/** Bounded by the dial queue: each entry ends with its task. */
export class DialsInProgress {
  readonly #dials = new Map<string, Set<AbortController>>();

  get size(): number {
    return this.#dials.size;
  }

  /** Call `end` when the route is complete. */
  begin(circuitId: string): { readonly signal: AbortSignal; end(): void } {
    const controller = new AbortController();
    const dials = this.#dials.get(circuitId) ?? new Set();
    this.#dials.set(circuitId, dials.add(controller));
    const end = () => {
      dials.delete(controller);
      if (dials.size === 0 && this.#dials.get(circuitId) === dials) this.#dials.delete(circuitId);
    };
    return { signal: controller.signal, end };
  }

  /** The circuit was removed: aborts its dials. Later routes for it are dialed again. */
  cancel(circuitId: string): void {
    for (const controller of this.#dials.get(circuitId) ?? []) controller.abort(new CircuitOverError(circuitId));
    this.#dials.delete(circuitId);
  }
}
