// Counts the bytes of circuits in intervals for the reports to controllers (reference fact: config, section 8.2).

import type { Clock } from '#lib/time/clock.ts';

export type UsageTags = Readonly<Record<string, string>>;

/** `ingress`: the dialing client; `egress`: the host; `fabric`: links. */
export type UsageSide = 'ingress' | 'egress' | 'fabric';

/** Bytes that were received and sent. */
export interface UsageAmount {
  readonly rx: number;
  readonly tx: number;
}

export type UsageKind = `${UsageSide}.${'rx' | 'tx'}`;

/**
 * Bytes of one circuit. Maps of the kinds would need four times the memory, and a busy minute has tens of thousands.
 */
export class CircuitUsage implements Record<UsageKind, number> {
  'ingress.rx' = 0;
  'ingress.tx' = 0;
  'egress.rx' = 0;
  'egress.tx' = 0;
  'fabric.rx' = 0;
  'fabric.tx' = 0;
  /** Those of the clients' traffic: the reference reports that of links without tags. */
  tags = NO_TAGS;
}

export interface UsageInterval {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The monotonic time of its beginning: the clock of a machine may be set back by hours. */
  readonly begun: number;
  /** By the ids of circuits. */
  readonly circuits: ReadonlyMap<string, CircuitUsage>;
}

export const NO_TAGS: UsageTags = {};
/** Limit on circuits in one interval: a router cannot open more in a minute. */
const MAX_CIRCUITS = 200_000;

export class UsageRecorder {
  readonly #clock: Clock;
  readonly #sources: (() => void)[] = [];
  #since: number;
  #begun: number;
  #circuits = new Map<string, CircuitUsage>();
  /** By their content: circuits of the same client and service share one object. */
  #tags = new Map<string, UsageTags>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
    this.#begun = clock.monotonic();
  }

  /** `source` is called before an interval ends, to add usage that is not counted yet. */
  addSource(source: () => void): void {
    this.#sources.push(source);
  }

  /** Adds bytes to the current interval of a circuit. */
  add(circuitId: string, side: UsageSide, { rx, tx }: UsageAmount, tags: UsageTags = NO_TAGS): void {
    if (rx === 0 && tx === 0) return;
    let usage = this.#circuits.get(circuitId);
    if (!usage) {
      if (this.#circuits.size >= MAX_CIRCUITS) return;
      usage = new CircuitUsage();
      this.#circuits.set(circuitId, usage);
    }
    usage[`${side}.rx`] += rx;
    usage[`${side}.tx`] += tx;
    if (tags !== NO_TAGS && usage.tags === NO_TAGS) usage.tags = this.#shared(tags);
  }

  /** Ends the interval and returns it. */
  endInterval(): UsageInterval {
    for (const source of this.#sources) source();
    const ended = { since: this.#since, begun: this.#begun, circuits: this.#circuits };
    this.#circuits = new Map();
    this.#tags = new Map();
    this.#since = this.#clock.now();
    this.#begun = this.#clock.monotonic();
    return ended;
  }

  #shared(tags: UsageTags): UsageTags {
    const content = JSON.stringify(tags);
    const known = this.#tags.get(content);
    if (known) return known;
    this.#tags.set(content, tags);
    return tags;
  }
}
