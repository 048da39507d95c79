// Identities whose circuits are traced, with the end of each trace. In memory: a trace serves an operator who is
// watching.

import type { IdSource } from '#lib/ids.ts';
import { BoundedMap } from '#lib/queue/bounded-map.ts';
import type { Clock } from '#lib/time/clock.ts';
import { timeText } from '#lib/time/duration.ts';

export interface TraceSpec {
  /** Milliseconds. */
  readonly duration: number;
  /** Generated if it is empty. */
  readonly traceId: string;
}

export interface Trace {
  readonly enabled: true;
  readonly traceId: string;
  /** RFC 3339. */
  readonly until: string;
}

/** Limit on traced identities. The oldest is evicted. */
const MAX_TRACES = 10_000;

export class Traces {
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #byIdentity = new BoundedMap<string, Trace>(MAX_TRACES);

  constructor(clock: Clock, ids: IdSource) {
    this.#clock = clock;
    this.#ids = ids;
  }

  end(identityId: string): void {
    this.#byIdentity.delete(identityId);
  }

  begin(identityId: string, { duration, traceId }: TraceSpec): Trace {
    this.end(identityId);
    const until = timeText(this.#clock.now() + duration);
    const trace = { enabled: true, traceId: traceId || this.#ids.uuid(), until } as const;
    this.#byIdentity.set(identityId, trace);
    return trace;
  }

  /** The active trace of an identity. */
  of(identityId: string): Trace | undefined {
    const trace = this.#byIdentity.get(identityId);
    return trace && Date.parse(trace.until) > this.#clock.now() ? trace : undefined;
  }
}
