// Control over the simulator's time and state, for tests; a controller has neither. It also explains decisions.

import type { AdvanceableClock } from '#lib/clock.ts';
import { LabClock } from './lab-clock.ts';
import { LabSnapshots, type Restored, START } from './snapshots.ts';
import { explainWhy, type WhyAnswer, type WhyComponents, type WhyQuestion } from './why/why.ts';

export interface LabComponents extends WhyComponents {
  readonly clock: AdvanceableClock;
}

export class Lab {
  readonly clock: LabClock;
  readonly snapshots: LabSnapshots;
  readonly #components: LabComponents;

  constructor(components: LabComponents) {
    const { state, clock } = components;
    this.#components = components;
    this.clock = new LabClock(clock);
    this.snapshots = new LabSnapshots(state, clock);
  }

  /** Returns to the state after the start. */
  reset(): Promise<Restored> {
    return this.snapshots.restore(START);
  }

  /**
   * Explains whether an identity may dial or bind a service now, and what is missing. Identities, services and routers
   * by id or name. @throws UnknownError for an unknown one, InvalidError for another type
   */
  why(question: WhyQuestion): WhyAnswer {
    return explainWhy(this.#components, question);
  }
}
