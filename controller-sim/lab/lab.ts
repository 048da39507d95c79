// Control over the simulator's time and state, and a record of what was asked of it, for tests; a controller has none
// of this.

import type { AdvanceableClock, Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import type { State } from '../state/state.ts';
import { ControlTraffic } from './control-traffic.ts';
import { Journal } from './journal.ts';
import { LabClock } from './lab-clock.ts';
import { LabSnapshots, type Restored, START } from './snapshots.ts';

export interface LabComponents {
  readonly state: State;
  /** For rules. */
  readonly clock: AdvanceableClock;
  /** For connections. */
  readonly wireClock: Clock;
  readonly log: Log;
}

export class Lab {
  readonly clock: LabClock;
  readonly snapshots: LabSnapshots;
  readonly journal: Journal;
  /** For the control channels. */
  readonly traffic: ControlTraffic;

  constructor({ state, clock, wireClock, log }: LabComponents) {
    this.clock = new LabClock(clock);
    this.snapshots = new LabSnapshots(state, clock);
    this.journal = new Journal({ wireClock, log });
    this.traffic = new ControlTraffic({ state, clock, journal: this.journal });
  }

  /** Returns to the state after the start, and clears the journal. */
  async reset(): Promise<Restored> {
    const restored = await this.snapshots.restore(START);
    this.journal.clear();
    return restored;
  }

  close(): void {
    this.journal.close();
  }
}
