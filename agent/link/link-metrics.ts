// Counters of one link. The hot path only adds to numbers; `fold` moves them into the registry once a second
// (reference fact: link, section 1.7, and config, section 8.2), and into the totals of all links with its key.

import type { WaitingInspection } from '#wire/channel/channel-lane.ts';
import type { PathInspection } from '#wire/path/channel-path.ts';
import type { PayloadOrigin } from '../forwarder/destination.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { LinkTotal } from './link-totals.ts';

/** The size of one message in this many is recorded: recording each size costs more than sending the message. */
const SIZE_SAMPLE = 16;
/** Kinds of drops in meter names: all, new payloads, retransmissions, forwarded payloads. */
const DROPS = ['', '_xg', '_rtx', '_fwd'] as const;
const DIRECTIONS = ['tx', 'rx'] as const;
const SERIES = ['bytesrate', 'msgrate', 'msgsize'] as const;
const PATH_GAUGES = [
  'path.rate',
  'path.round_trip',
  'path.shortest_round_trip',
  'path.window',
  'path.on_the_way',
  'path.waiting_bytes',
  'path.waiting_circuits',
] as const;

/** Nanoseconds reported for a link without answers: it costs more than any other (reference fact). */
const SILENT_LATENCY = 8_888_888_888_888;

export class LinkMetrics {
  readonly #registry: MetricsRegistry;
  readonly #id: string;
  readonly #total: LinkTotal;
  #sentBytes = 0;
  #sentMessages = 0;
  #receivedBytes = 0;
  #receivedMessages = 0;
  #isSilent = false;

  constructor(registry: MetricsRegistry, linkId: string, total = new LinkTotal()) {
    this.#registry = registry;
    this.#id = linkId;
    this.#total = total;
    for (const kind of DROPS) registry.meter(`link.dropped${kind}_msgs:${linkId}`);
    for (const direction of DIRECTIONS) registry.histogram(`link.${linkId}.${direction}.msgsize`);
    registry.histogram(`link.${linkId}.latency`);
  }

  /** Shows the path and the queue of the link. */
  watch(link: { readonly path: PathInspection | undefined; readonly waiting: WaitingInspection | undefined }): void {
    const gauge = (name: (typeof PATH_GAUGES)[number], read: () => number | undefined) =>
      this.#registry.gauge(`link.${this.#id}.${name}`, () => read() ?? 0);
    const nanoseconds = (milliseconds: number | undefined) => milliseconds && Math.round(milliseconds * 1e6);
    gauge('path.rate', () => link.path?.rate);
    gauge('path.round_trip', () => nanoseconds(link.path?.roundTrip));
    gauge('path.shortest_round_trip', () => nanoseconds(link.path?.minRoundTrip));
    gauge('path.window', () => link.path?.window);
    gauge('path.on_the_way', () => link.path?.onTheWay);
    gauge('path.waiting_bytes', () => link.waiting?.bytes);
    gauge('path.waiting_circuits', () => link.waiting?.flows);
  }

  sent(bytes: number): void {
    this.#sentBytes += bytes;
    if (this.#sentMessages++ % SIZE_SAMPLE === 0) this.#size('tx', bytes);
  }

  received(bytes: number): void {
    this.#receivedBytes += bytes;
    if (this.#receivedMessages++ % SIZE_SAMPLE === 0) this.#size('rx', bytes);
  }

  dropped(origin: PayloadOrigin): void {
    const kind = origin === 'retransmission' ? 'rtx' : origin === 'forwarded' ? 'fwd' : 'xg';
    this.#registry.meter(`link.dropped_msgs:${this.#id}`).mark();
    this.#registry.meter(`link.dropped_${kind}_msgs:${this.#id}`).mark();
    this.#total.add(`link.dropped_${kind}_msgs`, 1);
  }

  latency(nanoseconds: number): void {
    const histogram = this.#registry.histogram(`link.${this.#id}.latency`);
    if (this.#isSilent) histogram.clear();
    this.#isSilent = false;
    histogram.update(nanoseconds);
  }

  /** The other router has not answered for a long time. Its next answer restores the cost of the link. */
  silent(): void {
    this.#isSilent = true;
    this.#registry.histogram(`link.${this.#id}.latency`).replace(SILENT_LATENCY);
  }

  /** Adds the counts since the last call to the registry; `queueTime` in milliseconds. */
  fold(queueTime: number): void {
    this.foldTraffic();
    this.#registry.histogram(`link.${this.#id}.queue_time`).update(queueTime * 1e6);
  }

  /** The same without a measurement: call it before the end of the link. */
  foldTraffic(): void {
    this.#rates('tx', this.#sentBytes, this.#sentMessages);
    this.#rates('rx', this.#receivedBytes, this.#receivedMessages);
    this.#sentBytes = this.#sentMessages = this.#receivedBytes = this.#receivedMessages = 0;
  }

  /** By whole names: an id with dots may begin with the id of another link. */
  dispose(): void {
    const names = ['latency', 'queue_time', ...DIRECTIONS.flatMap((each) => SERIES.map((name) => `${each}.${name}`))];
    this.#registry.dispose(names.map((name) => `link.${this.#id}.${name}`));
    this.#registry.dispose(PATH_GAUGES.map((name) => `link.${this.#id}.${name}`));
    this.#registry.dispose(DROPS.map((kind) => `link.dropped${kind}_msgs:${this.#id}`));
  }

  #rates(direction: 'tx' | 'rx', bytes: number, messages: number): void {
    for (const prefix of [`link.${this.#id}`, 'fabric']) {
      this.#registry.meter(`${prefix}.${direction}.bytesrate`).mark(bytes);
      this.#registry.meter(`${prefix}.${direction}.msgrate`).mark(messages);
    }
    this.#total.add(`link.${direction}.bytesrate`, bytes);
    this.#total.add(`link.${direction}.msgrate`, messages);
  }

  #size(direction: 'tx' | 'rx', bytes: number): void {
    this.#registry.histogram(`link.${this.#id}.${direction}.msgsize`).update(bytes);
    this.#registry.histogram(`fabric.${direction}.msgsize`).update(bytes);
  }
}
