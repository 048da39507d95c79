// The bytes a second of circuits, for people who watch the network. Routers beside the simulator (`startNetwork`) are
// asked at each reading; the others report what circuits carried in each interval (`metrics.reportInterval`).

import type { Clock } from '#lib/time/clock.ts';
import type { Network } from '../network/network.ts';

export interface CircuitRatesComponents {
  readonly network: Pick<Network, 'events'> & { readonly circuits: Pick<Network['circuits'], 'get'> };
  /** The real time: an advance of the lab's clock moves no bytes. */
  readonly wireClock: Pick<Clock, 'monotonic'>;
}

/** Rates in bytes per second, times of the monotonic clock. */
interface Sample {
  readonly bytes: number;
  readonly at: number;
  /** Undefined until there are two samples. */
  readonly rate: number | undefined;
}

interface Reported {
  readonly rate: number;
  /** When the next report is overdue: reports omit circuits without traffic. */
  readonly until: number;
}

/** Milliseconds between two samples; readings in between answer the rate of the last one. */
const MIN_SAMPLE_TIME_MS = 500;
/** Intervals of a report after which a circuit that the next one omits is idle. */
const OVERDUE = 1.5;
const CLIENT_KINDS = ['ingress.rx', 'ingress.tx'];

export class CircuitRates {
  readonly #components: CircuitRatesComponents;
  /** The latest sample of each circuit that exists. */
  #samples = new Map<string, Sample>();
  readonly #reported = new Map<string, Reported>();
  readonly #unsubscribe: () => void;

  constructor(components: CircuitRatesComponents) {
    this.#components = components;
    this.#unsubscribe = components.network.events.subscribe((event) => {
      if (event.kind === 'circuit' && event.type === 'deleted') this.#reported.delete(event.circuit.id);
      if (event.kind === 'metrics') for (const counter of event.measured.usageCounters) this.#report(counter);
    });
  }

  close(): void {
    this.#unsubscribe();
  }

  /**
   * The rates of the circuits that exist.
   *
   * @param carried bytes in both directions of circuits since they opened, by id; empty without routers that can be
   *   asked
   * @returns bytes per second by circuit id; circuits that no router has reported are left out
   */
  read(carried: ReadonlyMap<string, number>): Map<string, number> {
    const { circuits } = this.#components.network;
    const now = this.#components.wireClock.monotonic();
    const rates = new Map<string, number>();
    for (const [id, { rate, until }] of this.#reported) rates.set(id, now < until ? rate : 0);
    const samples = new Map<string, Sample>();
    for (const [id, bytes] of carried) {
      if (!circuits.get(id)) continue;
      const sample = nextSample(this.#samples.get(id), bytes, now);
      samples.set(id, sample);
      if (sample.rate !== undefined) rates.set(id, sample.rate);
    }
    this.#samples = samples;
    return rates;
  }

  #report({ intervalLength, buckets }: ReportedUsage): void {
    const { network, wireClock } = this.#components;
    const seconds = Math.max(1, Number(intervalLength));
    const until = wireClock.monotonic() + OVERDUE * seconds * 1_000;
    for (const [id, { values }] of Object.entries(buckets)) {
      const bytes = CLIENT_KINDS.reduce((sum, kind) => sum + Number(values[kind] ?? 0), 0);
      // Other routers of the path report the same bytes as those of links and of the host.
      if (bytes > 0 && network.circuits.get(id)) this.#reported.set(id, { rate: bytes / seconds, until });
    }
  }
}

interface ReportedUsage {
  readonly intervalLength: bigint;
  readonly buckets: Readonly<Record<string, { readonly values: Readonly<Record<string, bigint>> }>>;
}

function nextSample(last: Sample | undefined, bytes: number, now: number): Sample {
  if (!last) return { bytes, at: now, rate: undefined };
  const elapsed = now - last.at;
  return elapsed < MIN_SAMPLE_TIME_MS ? last : { bytes, at: now, rate: ((bytes - last.bytes) * 1_000) / elapsed };
}
