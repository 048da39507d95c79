// The Prometheus page: the figures of the rooms, the registry under names that follow the conventions of Prometheus
// (page-metrics.ts), and prom-client's figures of the process. Figures of links have labels that survive a reconnect,
// instead of the ids of links.

import { collectDefaultMetrics, Registry } from 'prom-client';
import { ownValue } from '#lib/json/own-value.ts';
import { Exposition, type Labels } from '#lib/text/exposition.ts';
import type { Histogram } from './histogram.ts';
import { PAGE_METRICS, type PageMetric } from './page-metrics.ts';
import type { MetricsRegistry } from './registry.ts';

/** All links with the same labels, since the start of the router. */
export interface PageLink {
  readonly labels: Labels;
  /** The established one; undefined if there is none. */
  readonly id: string | undefined;
  /** Counters by their names in the registry without ids. */
  readonly counts: Readonly<Record<string, number>>;
}

interface PrometheusPageComponents {
  readonly registry: MetricsRegistry;
  /** Figures that are not in the registry. */
  figures(page: Exposition): void;
  links(): Iterable<PageLink>;
}

/** Gauges that are named like counters; each is the sum of another metric. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
/** Ids of older routers contain dots. */
const LINK_NAME = /^link\.(?<id>.+?)\.(?<rest>[rt]x\.(?:bytesrate|msgrate|msgsize)|path\.\w+|[^.]+)$/;
const THREAD_NAME = /^thread\.(?<id>[^.]+)\.(?<rest>.+)$/;
const POOL_NAME = /^pool\.(?<id>.+)\.(?<rest>[^.]+)$/;

export class PrometheusPage {
  readonly #components: PrometheusPageComponents;
  readonly #process = new Registry();

  constructor(components: PrometheusPageComponents) {
    this.#components = components;
    collectDefaultMetrics({ register: this.#process });
    for (const name of MISNAMED) this.#process.removeSingleMetric(name);
  }

  get contentType(): string {
    return this.#process.contentType;
  }

  /** The current page. */
  async render(): Promise<string> {
    const page = new Exposition();
    this.#components.figures(page);
    const linkLabels = this.#addLinks(page);
    this.#addRegistry(page, (name) => placeOf(name, linkLabels));
    return `${page.text}${await this.#process.metrics()}`;
  }

  close(): void {
    this.#process.clear();
  }

  /** Adds the counters of links. Returns the labels of the established ones by id. */
  #addLinks(page: Exposition): ReadonlyMap<string, Labels> {
    const byId = new Map<string, Labels>();
    for (const { id, labels, counts } of this.#components.links()) {
      if (id !== undefined) byId.set(id, labels);
      for (const [name, count] of Object.entries(counts)) {
        const metric = ownValue(PAGE_METRICS, name);
        if (metric) page.value(metric, { ...labels, ...metric.labels }, count);
      }
    }
    return byId;
  }

  #addRegistry(page: Exposition, find: (name: string) => Place | undefined): void {
    const { gauges, meters, histograms, timers } = this.#components.registry;
    const add = (name: string, value: () => number) => {
      const found = find(name);
      if (found) page.value(found.metric, found.labels, value() / found.metric.divisor);
    };
    const summarize = (name: string, histogram: Histogram) => {
      const found = find(name);
      if (found) page.summary(found.metric, found.labels, histogram.snapshot(), found.metric.divisor);
    };
    for (const [name, read] of gauges) add(name, read);
    // Those of links are counted by their labels, and go on when a link is established again.
    for (const [name, meter] of meters) if (!name.startsWith('link.')) add(name, () => meter.count);
    for (const [name, histogram] of histograms) summarize(name, histogram);
    for (const [name, timer] of timers) summarize(name, timer.histogram);
  }
}

interface Place {
  readonly metric: PageMetric;
  readonly labels: Labels;
}

/** The metric and the labels for a name of the registry; undefined if it is not on the page. */
function placeOf(name: string, linkLabels: ReadonlyMap<string, Labels>): Place | undefined {
  const link = LINK_NAME.exec(name)?.groups;
  if (link) {
    const labels = linkLabels.get(link.id ?? '');
    return labels && place(`link.${link.rest}`, labels);
  }
  const pool = POOL_NAME.exec(name)?.groups;
  if (pool) return place(`pool.${pool.rest}`, { pool: pool.id ?? '' });
  const thread = THREAD_NAME.exec(name)?.groups;
  if (thread) return place(`thread.${thread.rest}`, { thread: thread.id ?? '' });
  return place(name, {});
}

function place(plainName: string, labels: Labels): Place | undefined {
  const metric = ownValue(PAGE_METRICS, plainName);
  return metric && { metric, labels: { ...labels, ...metric.labels } };
}
