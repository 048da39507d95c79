// Control over the simulator's time, state and faults, and a record of what was asked of it, for tests; a controller
// has none of this.

import type { AdvanceableClock, Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import type { Random } from '#lib/random.ts';
import type { Network } from '../network/network.ts';
import type { State } from '../state/state.ts';
import { ControlTraffic } from './control-traffic.ts';
import { Faults } from './faults.ts';
import { Journal } from './journal.ts';
import { LabClock } from './lab-clock.ts';
import { LabSnapshots, type Restored, START } from './snapshots.ts';

export interface LabComponents {
  readonly state: State;
  /** For rules. */
  readonly clock: AdvanceableClock;
  /** For connections. */
  readonly wireClock: Clock;
  readonly random: Random;
  readonly network: Pick<Network, 'routers'>;
  readonly log: Log;
}

export class Lab {
  readonly clock: LabClock;
  readonly snapshots: LabSnapshots;
  readonly journal: Journal;
  readonly faults: Faults;
  /** For the control channels. */
  readonly traffic: ControlTraffic;

  constructor({ state, clock, wireClock, random, network, log }: LabComponents) {
    this.clock = new LabClock(clock);
    this.snapshots = new LabSnapshots(state, clock);
    this.journal = new Journal({ wireClock, log });
    this.faults = new Faults({ state, network, random });
    this.traffic = new ControlTraffic({ state, clock, journal: this.journal, faults: this.faults });
  }

  /** Returns to the state after the start, removes the faults, and clears the journal. */
  async reset(): Promise<Restored> {
    const restored = await this.snapshots.restore(START);
    this.faults.clear();
    this.journal.clear();
    return restored;
  }

  close(): void {
    this.journal.close();
  }
}
