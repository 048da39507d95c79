// The registry's figures as a Prometheus page, with a registry of its own. Ids inside of names become labels, so that
// `link.<id>.latency` is one metric with a label `link`.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { HistogramSnapshot } from './histogram.ts';
import type { MetricsRegistry } from './registry.ts';

const PREFIX = 'edgeweave_router_';
const QUANTILES = [0.5, 0.95, 0.99];

/** Names in which an id stands, with the label that it becomes. */
const LABELLED: readonly [RegExp, string][] = [
  [/^link\.(?<id>[^.]+)\.(?<rest>.+)$/, 'link'],
  [/^link\.(?<rest>dropped_\w+):(?<id>.+)$/, 'link'],
  [/^pool\.(?<id>.+)\.(?<rest>[^.]+)$/, 'pool'],
];

export class PrometheusPage {
  readonly #source: MetricsRegistry;
  readonly #registry = new Registry();

  constructor(source: MetricsRegistry) {
    this.#source = source;
    collectDefaultMetrics({ register: this.#registry, prefix: PREFIX });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The page as it is now. */
  async render(): Promise<string> {
    const page = new Registry();
    const writer = new Writer(page);
    for (const [name, read] of this.#source.gauges) writer.gauge(name, read());
    for (const [name, meter] of this.#source.meters) writer.counter(name, meter.count);
    for (const [name, histogram] of this.#source.histograms) writer.distribution(name, histogram.snapshot());
    for (const [name, timer] of this.#source.timers) writer.distribution(name, timer.histogram.snapshot());
    return `${await page.metrics()}${await this.#registry.metrics()}`;
  }

  close(): void {
    this.#registry.clear();
  }
}

class Writer {
  readonly #page: Registry;

  constructor(page: Registry) {
    this.#page = page;
  }

  gauge(name: string, value: number): void {
    const { metric, help, labels } = translate(name);
    this.#gauge(metric, help, Object.keys(labels)).set(labels, value);
  }

  counter(name: string, value: number): void {
    const { metric, help, labels } = translate(name);
    const total = `${metric.replace(/rate$/, '')}_total`;
    const counter =
      (this.#page.getSingleMetric(total) as Counter | undefined) ??
      new Counter({
        name: total,
        help: `Total of ${help}`,
        labelNames: Object.keys(labels),
        registers: [this.#page],
      });
    counter.inc(labels, value);
  }

  /** Quantiles as gauges: the sample is ours, so prom-client's own summaries do not fit. */
  distribution(name: string, snapshot: HistogramSnapshot): void {
    const { metric, help, labels } = translate(name);
    const gauge = this.#gauge(metric, help, [...Object.keys(labels), 'quantile']);
    for (const quantile of QUANTILES) gauge.set({ ...labels, quantile: String(quantile) }, snapshot.quantile(quantile));
    this.#gauge(`${metric}_mean`, `${help}, mean`, Object.keys(labels)).set(labels, snapshot.mean);
    this.#gauge(`${metric}_count`, `${help}, count`, Object.keys(labels)).set(labels, snapshot.count);
  }

  #gauge(metric: string, help: string, labelNames: string[]): Gauge {
    return (
      (this.#page.getSingleMetric(metric) as Gauge | undefined) ??
      new Gauge({ name: metric, help, labelNames, registers: [this.#page] })
    );
  }
}

function translate(name: string): { metric: string; help: string; labels: Record<string, string> } {
  for (const [pattern, label] of LABELLED) {
    const groups = pattern.exec(name)?.groups;
    if (groups?.id === undefined || groups.rest === undefined) continue;
    const plain = `${label}.${groups.rest}`;
    return { metric: toMetric(plain), help: toWords(plain), labels: { [label]: groups.id } };
  }
  return { metric: toMetric(name), help: toWords(name), labels: {} };
}

function toMetric(name: string): string {
  return PREFIX + name.replace(/[^a-zA-Z0-9]+/g, '_');
}

function toWords(name: string): string {
  return name.replace(/[^a-zA-Z0-9]+/g, ' ');
}
