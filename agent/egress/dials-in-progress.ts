// The routes that are being worked on, by circuit: when the controller takes a circuit down before its service has answered, the
// dial is stopped. Otherwise it would leave a circuit end that nobody knows of.

import { ProjectError } from '#lib/errors.ts';

export class CircuitOverError extends ProjectError {
  constructor(circuitId: string) {
    super('CIRCUIT_OVER', `circuit ${circuitId} was taken down before its service had answered`);
  }
}

/** As many as the dial queue holds: each is ended when its task is. */
export class DialsInProgress {
  readonly #dials = new Map<string, Set<AbortController>>();

  get size(): number {
    return this.#dials.size;
  }

  /** Call `end` when the route is done. */
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

  /** The circuit is over. Routes for it that come later are dialed again. */
  cancel(circuitId: string): void {
    for (const controller of this.#dials.get(circuitId) ?? []) controller.abort(new CircuitOverError(circuitId));
    this.#dials.delete(circuitId);
  }
}
