// Selects the congestion control of a path's connections: the one that the operator has chosen for the system, or,
// while losses limit the path (loss-watch.ts), one that tolerates losses, if the operator permits it.

import { describeError } from '#lib/errors.ts';
import type { TcpSensor } from '#lib/net/tcp-info.ts';
import { type LossSample, LossWatch } from './loss-watch.ts';

/** It estimates rate and delay of the path, and takes no single loss for a full queue. */
const TOLERANT = 'bbr';

export interface CongestionChange {
  /** The congestion control that would be used now. */
  readonly name: string;
  /** Share of the bytes that were lost before a tolerant one was chosen. */
  readonly lossShare: number;
  /** Why the connections keep the one that they have; undefined if they have changed. */
  readonly refused: string | undefined;
}

export class CongestionChoice {
  readonly #watch = new LossWatch();
  readonly #onChange: (change: CongestionChange) => void;
  /** The connections, and the system's choice for each one that has changed. */
  readonly #sensors = new Map<TcpSensor, string | undefined>();
  #isRefused = false;

  constructor(onChange: (change: CongestionChange) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /** A connection joins the path. */
  add(sensor: TcpSensor): void {
    this.#sensors.set(sensor, undefined);
    if (this.#watch.isTolerant && !this.#isRefused) this.#attempt(() => this.#select(sensor));
  }

  /** A connection has left the path. */
  remove(sensor: TcpSensor): void {
    this.#sensors.delete(sensor);
  }

  /** Call it at least once per round trip while bytes are sent. */
  observe(sample: LossSample): void {
    if (this.#isRefused || !this.#watch.observe(sample)) return;
    const changed = this.#watch.isTolerant
      ? this.#attempt(() => this.#selectAll())
      : this.#attempt(() => this.#returnAll());
    if (changed !== undefined) this.#report(changed);
  }

  /** Returns the new name if any connection has changed. */
  #selectAll(): string | undefined {
    const changed = [...this.#sensors.keys()].filter((sensor) => this.#select(sensor));
    return changed.length > 0 ? TOLERANT : undefined;
  }

  #select(sensor: TcpSensor): boolean {
    const before = sensor.congestionControl();
    if (before === undefined || before.startsWith(TOLERANT)) return false; // closed, or a variant of the same
    sensor.setCongestionControl(TOLERANT);
    this.#sensors.set(sensor, before);
    return true;
  }

  #returnAll(): string | undefined {
    let name: string | undefined;
    for (const [sensor, before] of this.#sensors) {
      if (before === undefined) continue;
      sensor.setCongestionControl(before);
      this.#sensors.set(sensor, undefined);
      name = before;
    }
    return name;
  }

  /** Where the system refuses, the connections stay as they are, and nothing is tried again. */
  #attempt<Result>(change: () => Result): Result | undefined {
    try {
      return change();
    } catch (error) {
      this.#isRefused = true;
      this.#report(TOLERANT, describeError(error));
      return undefined;
    }
  }

  #report(name: string, refused?: string): void {
    this.#onChange({ name, lossShare: this.#watch.lossShare, refused });
  }
}
