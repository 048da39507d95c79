// Identities whose circuits are traced, until when. In memory: a trace is for somebody who watches.

import type { Clock } from '#lib/clock.ts';
import { timeText } from '#lib/duration.ts';
import type { IdSource } from '#lib/ids.ts';

export interface TraceSpec {
  /** Milliseconds. */
  readonly duration: number;
  /** Made up when empty. */
  readonly traceId: string;
}

export interface Trace {
  readonly enabled: true;
  readonly traceId: string;
  /** RFC 3339. */
  readonly until: string;
}

/** The oldest give way. */
const MOST = 10_000;

export class Traces {
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #byIdentity = new Map<string, Trace>();

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
    const [oldest] = this.#byIdentity.keys();
    if (this.#byIdentity.size > MOST && oldest !== undefined) this.#byIdentity.delete(oldest);
    return trace;
  }

  /** The trace of an identity that runs now. */
  of(identityId: string): Trace | undefined {
    const trace = this.#byIdentity.get(identityId);
    return trace && Date.parse(trace.until) > this.#clock.now() ? trace : undefined;
  }
}
