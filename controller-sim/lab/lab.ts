// Control over the simulator's time and state, for tests; a controller has neither.

import type { AdvanceableClock } from '#lib/clock.ts';
import type { State } from '../state/state.ts';
import { LabClock } from './lab-clock.ts';
import { LabSnapshots, type Restored, START } from './snapshots.ts';

export class Lab {
  readonly clock: LabClock;
  readonly snapshots: LabSnapshots;

  constructor({ state, clock }: { state: State; clock: AdvanceableClock }) {
    this.clock = new LabClock(clock);
    this.snapshots = new LabSnapshots(state, clock);
  }

  /** Returns to the state after the start. */
  reset(): Promise<Restored> {
    return this.snapshots.restore(START);
  }
}
