// Ends circuits that begin and end at one router when that router no longer has them. Other circuits of a lost router
// end with its links. reference fact: these circuits stay for ever there (control channel, section 4.8); here they
// would also add to the costs of their terminators for ever.

import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Circuit } from './circuit.ts';
import type { ConnectedRouter } from './connected-router.ts';
import { inspectOver } from './inspect/inspect-over.ts';
import { endsOf } from './paths.ts';

export interface OneRouterCircuitsComponents {
  clock: Clock;
  log: Log;
  circuits: {
    values(): readonly Circuit[];
    remove(id: string, options: { now: boolean }): void;
  };
}

/** Milliseconds. A router keeps its circuits while it is disconnected: most return within seconds. */
const MAX_ABSENCE_MS = 600_000;
const INSPECT_TIMEOUT = 10_000;
/** The inspection of the circuits that a router forwards. Routers before v1.6.6 do not answer it. */
const FORWARDED = 'router-circuits';

export class OneRouterCircuits {
  readonly #components: OneRouterCircuitsComponents;
  /** Timers of disconnected routers with such circuits. */
  readonly #absent = new Map<string, Timer>();

  constructor(components: OneRouterCircuitsComponents) {
    this.#components = components;
  }

  close(): void {
    for (const routerId of [...this.#absent.keys()]) this.#forget(routerId);
  }

  onDisconnected(routerId: string): void {
    if (this.#of(routerId).length === 0) return;
    const { clock } = this.#components;
    this.#forget(routerId);
    this.#absent.set(
      routerId,
      clock.after('circuits of a disconnected router', MAX_ABSENCE_MS, () => {
        this.#forget(routerId);
        this.#remove(this.#of(routerId));
      }),
    );
  }

  /** A router that is still the same process keeps its circuits. */
  onConnected(router: ConnectedRouter): void {
    this.#forget(router.id);
    const kept = this.#of(router.id);
    if (kept.length > 0) background(this.#components.log, 'circuits of a router', this.#compare(router, kept));
  }

  /** Removes all circuits that begin or end at a deleted router, also those over links. Others move. */
  onDeleted(routerId: string): void {
    this.#forget(routerId);
    this.#remove(this.#components.circuits.values().filter(({ path }) => endsOf(path).includes(routerId)));
  }

  async #compare(router: ConnectedRouter, kept: readonly Circuit[]): Promise<void> {
    try {
      const { values } = await inspectOver(router.channel, [FORWARDED], { timeout: INSPECT_TIMEOUT });
      const answer = values.find(({ name }) => name === FORWARDED)?.value;
      if (typeof answer !== 'object' || answer === null) return;
      const forwarded = (answer as { circuits?: Record<string, unknown> | null }).circuits ?? {};
      this.#remove(kept.filter(({ id }) => !Object.hasOwn(forwarded, id)));
    } catch (error) {
      const fields = { routerId: router.id, error: describeError(error) };
      this.#components.log.info(fields, 'circuits of a router could not be compared');
    }
  }

  #remove(circuits: readonly Circuit[]): void {
    for (const { id } of circuits) this.#components.circuits.remove(id, { now: true });
  }

  #of(routerId: string): readonly Circuit[] {
    return this.#components.circuits
      .values()
      .filter(({ path }) => path.routers.length === 1 && path.routers[0] === routerId);
  }

  #forget(routerId: string): void {
    this.#absent.get(routerId)?.cancel();
    this.#absent.delete(routerId);
  }
}
