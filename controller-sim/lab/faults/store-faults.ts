// Applies faults of the store: before each batch of changes, a delay, then an error in place of the store's answer.

import type { Clock } from '#lib/time/clock.ts';
import type { State } from '../../state/state.ts';
import type { Faults } from './faults.ts';
import { storeErrorOf } from './store-rule.ts';

export interface StoreFaultComponents {
  readonly wireClock: Clock;
  readonly faults: Pick<Faults, 'forStore'>;
}

export class StoreFaults {
  readonly #components: StoreFaultComponents;

  constructor(components: StoreFaultComponents) {
    this.#components = components;
  }

  guard(state: Pick<State, 'guard'>): void {
    state.guard(() => this.#next());
  }

  #next(): Promise<Error | undefined> | undefined {
    const fault = this.#components.faults.forStore();
    if (!fault) return undefined;
    const { delay } = fault.rule;
    const error = storeErrorOf(fault.rule, fault.id);
    if (delay === undefined) return Promise.resolve(error);
    return this.#components.wireClock.sleep(delay, { name: 'store fault' }).then(() => error);
  }
}
