// Renders the registry as a Prometheus page. Ids inside names become labels, so that `link.<id>.latency` is one metric
// with a label `link`.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { helpSentence } from './help.ts';
import type { HistogramSnapshot } from './histogram.ts';
import type { MetricsRegistry } from './registry.ts';

const PREFIX = 'edgeweave_router_';
const QUANTILES = [0.5, 0.95, 0.99];

/** Names that contain an id, with its label. */
const LABELLED: readonly [RegExp, string][] = [
  // Ids of older routers contain dots, but no colons.
  [/^link\.(?<rest>dropped_\w+):(?<id>.+)$/, 'link'],
  [/^link\.(?<id>.+?)\.(?<rest>[rt]x\.(?:bytesrate|msgrate|msgsize)|path\.\w+|[^.]+)$/, 'link'],
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

  /** The current page. */
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
    const { metric, plain, labels } = translate(name);
    this.#gauge(metric, helpSentence(plain), Object.keys(labels)).set(labels, value);
  }

  counter(name: string, value: number): void {
    const { metric, plain, labels } = translate(name);
    const total = `${metric.replace(/rate$/, '')}_total`;
    const counter =
      (this.#page.getSingleMetric(total) as Counter | undefined) ??
      new Counter({
        name: total,
        help: helpSentence(plain),
        labelNames: Object.keys(labels),
        registers: [this.#page],
      });
    counter.inc(labels, value);
  }

  /** Quantiles as gauges: the sample is ours, so prom-client's own summaries do not fit. */
  distribution(name: string, snapshot: HistogramSnapshot): void {
    const { metric, plain, labels } = translate(name);
    const gauge = this.#gauge(metric, helpSentence(plain, 'quantiles'), [...Object.keys(labels), 'quantile']);
    for (const quantile of QUANTILES) gauge.set({ ...labels, quantile: String(quantile) }, snapshot.quantile(quantile));
    this.#gauge(`${metric}_mean`, helpSentence(plain, 'mean'), Object.keys(labels)).set(labels, snapshot.mean);
    this.#gauge(`${metric}_count`, helpSentence(plain, 'count'), Object.keys(labels)).set(labels, snapshot.count);
  }

  #gauge(metric: string, help: string, labelNames: string[]): Gauge {
    return (
      (this.#page.getSingleMetric(metric) as Gauge | undefined) ??
      new Gauge({ name: metric, help, labelNames, registers: [this.#page] })
    );
  }
}

/** `plain` is the name without ids. */
function translate(name: string): { metric: string; plain: string; labels: Record<string, string> } {
  for (const [pattern, label] of LABELLED) {
    const groups = pattern.exec(name)?.groups;
    if (groups?.id === undefined || groups.rest === undefined) continue;
    const plain = `${label}.${groups.rest}`;
    return { metric: toMetric(plain), plain, labels: { [label]: groups.id } };
  }
  return { metric: toMetric(name), plain: name, labels: {} };
}

function toMetric(name: string): string {
  return PREFIX + name.replace(/[^a-zA-Z0-9]+/g, '_');
}
