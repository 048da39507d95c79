// The requests and control messages of the simulator as the lab sees them: recorded, and subject to faults.

import type { Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import type { Random } from '#lib/random.ts';
import type { Network } from '../network/network.ts';
import type { State } from '../state/state.ts';
import { ControlTraffic } from './control-traffic.ts';
import { Faults } from './faults/faults.ts';
import { Journal } from './journal/journal.ts';

export interface LabTrafficComponents {
  readonly state: State;
  /** For rules. */
  readonly clock: Clock;
  /** For connections. */
  readonly wireClock: Clock;
  readonly random: Random;
  readonly network: Pick<Network, 'routers'>;
  readonly log: Log;
}

export class LabTraffic {
  readonly journal: Journal;
  readonly faults: Faults;
  /** For the control channels. */
  readonly control: ControlTraffic;

  constructor({ state, clock, wireClock, random, network, log }: LabTrafficComponents) {
    this.journal = new Journal({ wireClock, log });
    this.faults = new Faults({ state, network, random });
    this.control = new ControlTraffic({ state, clock, journal: this.journal, faults: this.faults });
  }

  close(): void {
    this.journal.close();
  }
}
