// The types of a load for its callers. scenario.ts has those of the scenario.

import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';

/** A controller: the simulator or another one. */
export interface LoadTarget {
  /** `https://host:port` */
  readonly baseUrl: string;
  /** Its authorities, as PEM. */
  readonly ca: string;
  readonly username: string;
  readonly password: string;
}

export interface LoadOptions {
  /** Name of the scenario in messages. */
  readonly file?: string;
  /** Do not delete what the load created. */
  readonly keep?: boolean;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Ends the load early: members finish the step that they run. */
  readonly signal?: AbortSignal;
  /** Called when a part of the load begins. */
  onProgress?(text: string): void;
}

export interface LoadReport {
  /** The duration of the steps, without the preparation. */
  readonly seconds: number;
  readonly done: number;
  readonly failed: number;
  readonly stages: readonly StageReport[];
  /** Entities that could not be deleted afterwards. */
  readonly left: number;
}

export interface StageReport {
  readonly group: string;
  readonly step: string;
  readonly done: number;
  readonly failed: number;
  /** Done in a second, from the first start to the last end. */
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** How many failed for each reason, the most frequent first. */
  readonly errors: readonly { readonly reason: string; readonly count: number }[];
}
