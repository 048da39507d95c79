// One health check: runs on its own schedule and records its last result and the time since which it fails (reference
// fact: config, section 7).

import { describeError } from '#lib/errors.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';

export interface CheckDefinition {
  readonly id: string;
  /** Milliseconds. */
  readonly initialDelay: number;
  readonly interval: number;
  /** The state until the first run. */
  readonly healthyAtFirst: boolean;
  /** Throws an Error with the problem as message; the return value becomes the details. */
  run(): unknown;
  /** The missing condition while the router starts; undefined if none is missing. */
  missing(): string | undefined;
}

const NOT_RUN = "didn't run yet";

export class HealthCheck {
  readonly id: string;
  readonly #definition: CheckDefinition;
  readonly #clock: Clock;
  #timer: Timer;
  #healthy: boolean;
  #error: string | undefined;
  #failures: number;
  #failingSince: number | undefined;
  #lastTime: number;
  #lastDuration = 0;
  #hasRun = false;
  #hasPassed: boolean;
  #details: unknown;

  constructor(definition: CheckDefinition, clock: Clock) {
    this.id = definition.id;
    this.#definition = definition;
    this.#clock = clock;
    this.#lastTime = clock.now();
    this.#healthy = definition.healthyAtFirst;
    this.#hasPassed = this.#healthy;
    this.#error = this.#healthy ? undefined : NOT_RUN;
    this.#failures = this.#healthy ? 0 : 1;
    this.#failingSince = this.#healthy ? undefined : this.#lastTime;
    this.#timer = clock.after(`health check ${this.id}`, definition.initialDelay, () => this.#run());
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  /** The condition that the check waits for until it has passed once; undefined afterwards. */
  get waitsFor(): string | undefined {
    if (this.#hasPassed) return undefined;
    const { id, initialDelay, missing } = this.#definition;
    return missing() ?? `the first run of ${id} is due ${formatDuration(initialDelay)} after the start`;
  }

  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** The form of the API: sorted keys, undefined ones omitted. */
  describe(short: boolean) {
    if (short) return { healthy: this.#healthy, id: this.id };
    return {
      consecutiveFailures: this.#healthy ? undefined : this.#failures,
      details: this.#details,
      err: this.#healthy ? undefined : { message: this.#error },
      failingSince: this.#healthy ? undefined : seconds(this.#failingSince ?? this.#lastTime),
      healthy: this.#healthy,
      id: this.id,
      lastCheckDuration: formatDuration(this.#lastDuration),
      lastCheckTime: seconds(this.#lastTime),
    };
  }

  close(): void {
    this.#timer.cancel();
  }

  #run(): void {
    const begun = this.#clock.monotonic();
    this.#hasRun = true;
    this.#lastTime = this.#clock.now();
    try {
      this.#details = this.#definition.run() ?? null;
      this.#healthy = true;
      this.#hasPassed = true;
      this.#failures = 0;
      this.#failingSince = undefined;
    } catch (error) {
      this.#healthy = false;
      this.#error = describeError(error);
      this.#details ??= null;
      this.#failures++;
      this.#failingSince ??= this.#lastTime;
    }
    this.#lastDuration = this.#clock.monotonic() - begun;
    this.#timer = this.#clock.after(`health check ${this.id}`, this.#definition.interval, () => this.#run());
  }
}

/** RFC 3339 with seconds, UTC. */
function seconds(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
