// Sends the registry's metrics to every connected controller at each reportInterval (message 1007). Unsent reports wait
// in a bounded queue; the oldest is dropped and counted (reference fact: config, section 8.2). The reference sends a
// report as one message; ours is a message with the metrics, followed by one for each further part of the usage.

import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log/log.ts';
import { type ConditionFigures, LASTING, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import { RingQueue } from '#lib/queue/ring-queue.ts';
import type { Random } from '#lib/random.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { type MetricsMessage, MetricsMessageSchema } from '#wire/gen/metrics_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Histogram, HistogramSnapshot } from './histogram.ts';
import type { MeterSnapshot } from './meter.ts';
import type { MetricsRegistry } from './registry.ts';
import type { UsageInterval } from './usage.ts';
import { type UsageCounters, usageParts } from './usage-counters.ts';

export interface MetricsReceiver {
  readonly id: string;
  readonly channel: { trySend(message: Message): boolean };
}

export interface MetricsReporterComponents {
  clock: Clock;
  log: Log;
  random: Random;
  registry: MetricsRegistry;
  controllers: { readonly all: readonly MetricsReceiver[] };
  routerId: string;
}

interface Report {
  /** The message to send next. */
  message: MetricsMessage;
  /** Later ones. */
  readonly rest: Iterator<UsageCounters, undefined>;
}

/** Limit on usage intervals that wait for their minimum age. */
const MAX_INTERVALS = 16;

export interface MetricsReporterInit {
  /** Milliseconds. */
  reportInterval: number;
  messageQueueSize: number;
  /** Minimum age of a usage interval in milliseconds, from its beginning, before it is sent. */
  intervalAgeThreshold: number;
}

export class MetricsReporter {
  readonly #components: MetricsReporterComponents;
  readonly #interval: number;
  readonly #waiting: RingQueue<Report>;
  readonly #ids: IdSource;
  readonly #timer: Timer;
  readonly #ageThreshold: number;
  /** Usage intervals that have ended but are too young. */
  readonly #usage: RingQueue<UsageInterval> = new RingQueue(MAX_INTERVALS);
  readonly #dropped: RepeatedCondition;
  #nextPart: NodeJS.Immediate | undefined;

  constructor(components: MetricsReporterComponents, init: MetricsReporterInit) {
    this.#components = components;
    this.#dropped = new RepeatedCondition(components.clock, LASTING);
    this.#interval = init.reportInterval;
    this.#ageThreshold = init.intervalAgeThreshold;
    // Even a queue of length 0, which only passes reports on, needs a place for the current report.
    this.#waiting = new RingQueue(Math.max(1, init.messageQueueSize));
    this.#ids = new IdSource(components.random);
    this.#timer = components.clock.every('metrics report', init.reportInterval, () => this.report());
  }

  /** Creates a report and sends all queued ones. */
  report(): void {
    const rest = this.#parts(this.#dueUsage());
    const report = { message: this.#collect(rest.next().value ?? []), rest };
    if (this.#waiting.full) {
      this.#waiting.shift();
      const due = this.#dropped.happened();
      if (due) this.#logDrops(due, `metrics reports dropped, ${this.#obstacle}`);
    }
    this.#waiting.push(report);
    this.#deliver();
  }

  /** The current metrics as a report without usage. */
  snapshot(): MetricsMessage {
    return this.#collect([]);
  }

  close(): void {
    this.#timer.cancel();
    clearImmediate(this.#nextPart);
  }

  /**
   * Sends the waiting reports; the traffic goes on between the parts of one. A refused message waits for the next
   * report.
   */
  #deliver(): void {
    clearImmediate(this.#nextPart);
    for (let report = this.#waiting.peek(); report && this.#send(report.message); report = this.#waiting.peek()) {
      const { value: usageCounters } = report.rest.next();
      if (usageCounters) {
        report.message = this.#message({ usageCounters });
        this.#nextPart = setImmediate(() => this.#deliver());
        return;
      }
      this.#waiting.shift();
    }
    const before = this.#waiting.peek() ? undefined : this.#dropped.ended();
    if (before) this.#logDrops(before, 'metrics reports are delivered again');
  }

  get #obstacle(): string {
    const isConnected = this.#components.controllers.all.length > 0;
    return isConnected ? 'the queues to the controllers are full' : 'no controller is connected';
  }

  #logDrops({ attempts, seconds }: ConditionFigures, message: string): void {
    this.#components.log.warn({ dropped: attempts, seconds }, message);
  }

  /** Only the first controller forwards a report; the others keep it to themselves. */
  #send(report: MetricsMessage): boolean {
    let delivered = false;
    for (const { channel } of this.#components.controllers.all) {
      const body: Uint8Array = toBinary(MetricsMessageSchema, { ...report, doNotPropagate: delivered });
      delivered = channel.trySend(new Message(ControlType.Metrics, [], body)) || delivered;
    }
    return delivered;
  }

  /** Ends the current interval and returns those of sufficient age. */
  #dueUsage(): UsageInterval[] {
    const { registry, clock } = this.#components;
    const ended = registry.usage.endInterval();
    if (ended.circuits.size > 0) {
      if (this.#usage.full) this.#usage.shift();
      this.#usage.push(ended);
    }
    const due: UsageInterval[] = [];
    for (
      let next = this.#usage.peek();
      next && clock.monotonic() - next.begun >= this.#ageThreshold;
      next = this.#usage.peek()
    ) {
      due.push(next);
      this.#usage.shift();
    }
    return due;
  }

  *#parts(intervals: readonly UsageInterval[]): Generator<UsageCounters, undefined> {
    for (const interval of intervals) yield* usageParts(interval, this.#interval);
  }

  #collect(usageCounters: UsageCounters): MetricsMessage {
    const { registry } = this.#components;
    return this.#message({
      intValues: mapValues(registry.gauges, (read) => BigInt(Math.round(read()))),
      meters: mapValues(registry.meters, (meter) => toMeter(meter.snapshot())),
      histograms: mapValues(measured(registry.histograms), (histogram) => toHistogram(histogram.snapshot())),
      timers: mapValues(registry.timers, (timer) => ({
        ...toHistogram(timer.histogram.snapshot()),
        ...toRates(timer.meter.snapshot()),
      })),
      usageCounters,
    });
  }

  #message(content: Omit<MessageInitShape<typeof MetricsMessageSchema>, '$typeName'>): MetricsMessage {
    const { clock, routerId } = this.#components;
    const timestamp = timestampFromMs(Math.round(clock.now()));
    return create(MetricsMessageSchema, { eventId: this.#ids.uuid(), sourceId: routerId, timestamp, ...content });
  }
}

/** Histograms with values: controllers would read the mean 0 of an empty one as a latency. */
function measured(histograms: ReadonlyMap<string, Histogram>): Map<string, Histogram> {
  return new Map([...histograms].filter(([, { count }]) => count > 0));
}

function mapValues<T, R>(table: ReadonlyMap<string, T>, convert: (value: T) => R): Record<string, R> {
  return Object.fromEntries([...table].map(([name, value]) => [name, convert(value)]));
}

function toRates(snapshot: MeterSnapshot): { m1Rate: number; m5Rate: number; m15Rate: number; meanRate: number } {
  return { m1Rate: snapshot.m1, m5Rate: snapshot.m5, m15Rate: snapshot.m15, meanRate: snapshot.mean };
}

function toMeter(snapshot: MeterSnapshot): {
  count: bigint;
  m1Rate: number;
  m5Rate: number;
  m15Rate: number;
  meanRate: number;
} {
  return { count: BigInt(snapshot.count), ...toRates(snapshot) };
}

function toHistogram(snapshot: HistogramSnapshot) {
  return {
    count: BigInt(snapshot.count),
    max: BigInt(Math.round(snapshot.max)),
    min: BigInt(Math.round(snapshot.min)),
    mean: snapshot.mean,
    stdDev: snapshot.stdDev,
    variance: snapshot.variance,
    p50: snapshot.quantile(0.5),
    p75: snapshot.quantile(0.75),
    p95: snapshot.quantile(0.95),
    p99: snapshot.quantile(0.99),
    p999: snapshot.quantile(0.999),
    p9999: snapshot.quantile(0.9999),
  };
}
