// Counts dials and health checks of services per minute, and publishes the counts at the end of the minute.

import type { Clock, Timer } from '#lib/time/clock.ts';
import type { ServiceEventType } from '../network/network-events.ts';

export interface ServiceCount {
  readonly type: ServiceEventType;
  readonly serviceId: string;
  readonly terminatorId: string;
}

const MINUTE = 60_000;
const VERSION = 2;

export class ServiceCounters {
  readonly #clock: Clock;
  readonly #emit: (fields: Readonly<Record<string, unknown>>) => void;
  /** Counts of the current minute. */
  readonly #counts = new Map<string, { readonly what: ServiceCount; count: number }>();
  #minute = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, emit: (fields: Readonly<Record<string, unknown>>) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  add(what: ServiceCount): void {
    const now = this.#clock.now();
    const minute = now - (now % MINUTE);
    if (minute !== this.#minute) this.#publish();
    this.#minute = minute;
    this.#timer ??= this.#clock.after('service events', minute + MINUTE - now, () => this.#publish());
    const key = `${what.type} ${what.serviceId} ${what.terminatorId}`;
    const counted = this.#counts.get(key);
    if (counted) counted.count++;
    else this.#counts.set(key, { what, count: 1 });
  }

  close(): void {
    this.#timer?.cancel();
  }

  #publish(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const counts = [...this.#counts.values()];
    this.#counts.clear();
    for (const { what, count } of counts)
      this.#emit({
        version: VERSION,
        event_type: what.type,
        terminator_id: what.terminatorId,
        service_id: what.serviceId,
        count,
        interval_start_utc: this.#minute / 1000,
        interval_length: MINUTE / 1000,
      });
  }
}
