// Reports of a router to its controllers, and its Prometheus page.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { Exposition, type MetricDefinition } from '#lib/text/exposition.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { MetricsMessageSchema } from '#wire/gen/metrics_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import { Histogram } from './histogram.ts';
import { PAGE_METRICS } from './page-metrics.ts';
import { type PageLink, PrometheusPage } from './prometheus.ts';
import { MetricsRegistry } from './registry.ts';
import { MetricsReporter } from './reporter.ts';

function setup(
  controllers: { id: string; channel: { trySend(message: Message): boolean } }[],
  intervalAgeThreshold = 0,
  log = silentLog,
) {
  const clock = new VirtualClock();
  const registry = new MetricsRegistry(clock, () => 0.5);
  const components = {
    clock,
    log,
    random: seededRandom(1),
    registry,
    controllers: { all: controllers },
    routerId: 'router',
  };
  const reporter = new MetricsReporter(components, {
    reportInterval: 60_000,
    messageQueueSize: 2,
    intervalAgeThreshold,
  });
  return { clock, registry, reporter };
}

function controller(id: string) {
  const sent: Message[] = [];
  const receiver = {
    id,
    accepts: true,
    sent,
    channel: { trySend: (message: Message) => (receiver.accepts ? (sent.push(message), true) : false) },
  };
  return receiver;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

t.test('a report contains all metrics and goes to every controller; only the first forwards it', async (t) => {
  const [one, two] = [controller('one'), controller('two')];
  const { clock, registry, reporter } = setup([one, two]);
  registry.gauge('circuits', () => 7);
  registry.meter('ingress.rx.msgrate').mark(3);
  registry.histogram('link.l1.latency').update(2_000_000);
  registry.timer('pool.link.dialer.work').update(5);
  let unreported = 100;
  registry.usage.addSource(() => {
    registry.usage.add('circuit', 'ingress', { rx: unreported, tx: 0 }, { serviceId: 's' });
    unreported = 0;
  });
  await clock.advance(60_000);
  const [first, second] = [one, two].map(({ sent }) => sent[0]?.decode(MetricsMessageSchema));
  t.equal(one.sent[0]?.contentType, ControlType.Metrics);
  t.equal(first?.sourceId, 'router');
  t.equal(first?.intValues.circuits, 7n);
  t.equal(first?.meters['ingress.rx.msgrate']?.count, 3n);
  t.equal(first?.histograms['link.l1.latency']?.mean, 2_000_000);
  t.equal(first?.timers['pool.link.dialer.work']?.count, 1n);
  t.match(first?.usageCounters[0]?.buckets.circuit, { values: { 'ingress.rx': 100n }, tags: { serviceId: 's' } });
  t.notOk(first?.doNotPropagate);
  t.ok(second?.doNotPropagate);
  await clock.advance(60_000);
  t.same(one.sent[1]?.decode(MetricsMessageSchema).usageCounters, [], 'usage is reported once');
  reporter.close();
});

t.test('usage is reported when its interval is old enough', async (t) => {
  const one = controller('one');
  const { clock, registry, reporter } = setup([one], 80_000);
  registry.usage.add('circuit', 'egress', { rx: 0, tx: 5 }, {});
  await clock.advance(60_000);
  t.same(one.sent[0]?.decode(MetricsMessageSchema).usageCounters, []);
  await clock.advance(60_000);
  t.equal(one.sent[1]?.decode(MetricsMessageSchema).usageCounters.length, 1);
  reporter.close();
});

t.test('usage is sent although the clock of the machine is set back', async (t) => {
  const one = controller('one');
  const { clock, registry, reporter } = setup([one], 80_000);
  const right = clock.now.bind(clock);
  clock.now = () => right() + 3_600_000;
  await clock.advance(60_000);
  registry.usage.add('circuit', 'egress', { rx: 0, tx: 5 }, {});
  clock.now = right;
  await clock.advance(120_000);
  t.same(
    one.sent.map((message) => message.decode(MetricsMessageSchema).usageCounters.length),
    [0, 0, 1],
  );
  reporter.close();
});

t.test('the usage of many circuits is sent in parts, one a turn', async (t) => {
  const one = controller('one');
  const { registry, reporter } = setup([one]);
  for (let each = 0; each < 1_001; each++) registry.usage.add(`circuit-${each}`, 'fabric', { rx: 1, tx: 2 ** 40 });
  registry.usage.add('circuit-1000', 'egress', { rx: 3, tx: 0 }, { serviceId: 's' });
  registry.gauge('circuits', () => 7);
  reporter.report();
  t.equal(one.sent.length, 1);
  one.accepts = false;
  await turns();
  t.equal(one.sent.length, 1);
  one.accepts = true;
  reporter.report();
  await turns();
  const reports = one.sent.map((message) => message.decode(MetricsMessageSchema));
  const sizes = reports.map(({ usageCounters }) => Object.keys(usageCounters[0]?.buckets ?? {}).length);
  t.same(sizes, [250, 250, 250, 250, 1, 0], 'a refused part is sent before the next report');
  t.same(
    reports.map(({ intValues }) => intValues.circuits),
    [7n, undefined, undefined, undefined, undefined, 7n],
  );
  t.equal(
    new Set(reports.flatMap(({ usageCounters }) => usageCounters.flatMap((each) => Object.keys(each.buckets)))).size,
    1_001,
  );
  const [clients, fabric] = reports[4]?.usageCounters.map(({ buckets }) => buckets['circuit-1000']) ?? [];
  t.match(clients, { values: { 'egress.rx': 3n }, tags: { serviceId: 's' } });
  t.match(fabric, { values: { 'fabric.rx': 1n, 'fabric.tx': 2n ** 40n }, tags: {} });
  reporter.close();
});

t.test('a closed reporter sends no further parts', async (t) => {
  const one = controller('one');
  const { registry, reporter } = setup([one]);
  for (let each = 0; each < 1_000; each++) registry.usage.add(`${each}`, 'fabric', { rx: 1, tx: 0 });
  reporter.report();
  reporter.close();
  await turns();
  t.equal(one.sent.length, 1);
});

t.test('reports wait for a controller, in order and bounded; the oldest are dropped', async (t) => {
  const one = controller('one');
  one.accepts = false;
  const { clock, registry, reporter } = setup([one]);
  let round = 0;
  registry.gauge('round', () => ++round);
  await clock.advance(240_000);
  one.accepts = true;
  await clock.advance(60_000);
  t.same(
    one.sent.map((message) => Number(message.decode(MetricsMessageSchema).intValues.round)),
    [4, 5],
  );
  reporter.close();
});

t.test('a line about dropped reports tells why they could not be sent', async (t) => {
  const one = controller('one');
  one.accepts = false;
  const table: [ReturnType<typeof controller>[], string][] = [
    [[], 'metrics reports dropped, no controller is connected'],
    [[one], 'metrics reports dropped, the queues to the controllers are full'],
  ];
  for (const [controllers, msg] of table) {
    const lines: { msg: string }[] = [];
    const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
    const { clock, reporter } = setup(controllers, 0, log);
    await clock.advance(240_000);
    t.match(lines, [{ msg }]);
    reporter.close();
  }
});

/** The page of a registry; `links` by the ids of the established ones. */
async function pageOf(registry: MetricsRegistry, links: readonly PageLink[] = []): Promise<string> {
  const page = new PrometheusPage({ registry, figures: () => undefined, links: () => links });
  const text = await page.render();
  page.close();
  return text;
}

/** Names of the messages whose values other metrics of the page contain. */
const CONTAINED = ['link.dropped_msgs', 'xgress.edge.dropped_msgs', 'control.channels', 'links'];
const LINK = { peer: 'b', link_key: 'default->tls:b->default', protocol: 'tls' };

t.test('the Prometheus page has base units and labels instead of ids', async (t) => {
  const registry = new MetricsRegistry(new VirtualClock(), () => 0.5);
  registry.gauge('pool.link.dialer.queue_size', () => 3);
  registry.gauge('pool.link.dialer.rejected', () => 2);
  registry.timer('pool.link.dialer.wait_timer').update(250);
  registry.gauge('link.d.e-f.path.window', () => 4);
  registry.gauge('link.d.e-f.path.round_trip', () => 20_000_000);
  registry.histogram('link.d.e-f.latency').update(1_500_000);
  registry.histogram('link.gone.latency').update(1);
  registry.meter('link.d.e-f.tx.bytesrate').mark(5);
  registry.meter('egress.tx.bytesrate').mark(1_000);
  registry.meter('ingress.tx.bytesrate').mark(1);
  const counts = { 'link.tx.bytesrate': 7, 'link.rx.bytesrate': 8, 'link.dropped_xg_msgs': 9 };
  const text = await pageOf(registry, [
    { labels: LINK, id: 'd.e-f', counts },
    { labels: { ...LINK, peer: 'c' }, id: undefined, counts },
  ]);
  const label = 'peer="b",link_key="default->tls:b->default",protocol="tls"';
  for (const line of [
    'edgeweave_router_pool_queue_size{pool="link.dialer"} 3',
    'edgeweave_router_pool_rejected_total{pool="link.dialer"} 2',
    'edgeweave_router_pool_wait_seconds{pool="link.dialer",quantile="0.5"} 0.25',
    'edgeweave_router_pool_wait_seconds_sum{pool="link.dialer"} 0.25',
    'edgeweave_router_pool_wait_seconds_count{pool="link.dialer"} 1',
    `edgeweave_router_link_path_window_bytes{${label}} 4`,
    `edgeweave_router_link_path_round_trip_seconds{${label}} 0.02`,
    `edgeweave_router_link_round_trip_seconds{${label},quantile="0.95"} 0.0015`,
    `edgeweave_router_link_bytes_total{${label},direction="tx"} 7`,
    `edgeweave_router_link_bytes_total{${label.replace('"b"', '"c"')},direction="rx"} 8`,
    `edgeweave_router_link_dropped_messages_total{${label},kind="new"} 9`,
    'edgeweave_router_xgress_bytes_total{role="egress",direction="tx"} 1000',
    'edgeweave_router_xgress_bytes_total{role="ingress",direction="tx"} 1',
    '# TYPE edgeweave_router_pool_rejected_total counter',
    '# TYPE edgeweave_router_link_round_trip_seconds summary',
  ])
    t.ok(text.includes(`\n${line}\n`), line);
  t.match(text, /^process_resident_memory_bytes \d/m, 'the default names of prom-client');
  t.notMatch(text, /d\.e-f|gone/, 'ids of links change with each reconnect');
  t.notMatch(text, /^# TYPE \S+_total (?!counter)/m);
  t.notMatch(text, /^# TYPE \S*__/m);
  const declared = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  t.equal(new Set(declared).size, declared.length, 'each metric is declared once');
});

t.test('a closed page measures the process no longer', async (t) => {
  const registry = new MetricsRegistry(new VirtualClock(), () => 0.5);
  const page = new PrometheusPage({ registry, figures: () => undefined, links: () => [] });
  t.match(await page.render(), /^process_cpu_seconds_total /m);
  page.close();
  t.equal(await page.render(), '\n');
});

t.test('labels are escaped, special values have their names, and an empty summary has no quantiles', async (t) => {
  const page = new Exposition();
  const gauge: MetricDefinition = { name: 'a', type: 'gauge', help: 'A back\\slash.' };
  page.value(gauge, { text: 'a "quote", a \\ and\na line' }, Number.POSITIVE_INFINITY);
  page.summary({ name: 'b', type: 'summary', help: 'B.' }, {}, new Histogram(new VirtualClock(), () => 0.5).snapshot());
  t.equal(
    page.text,
    `# HELP a A back\\\\slash.
# TYPE a gauge
a{text="a \\"quote\\", a \\\\ and\\na line"} +Inf
# HELP b B.
# TYPE b summary
b{quantile="0.5"} NaN
b{quantile="0.95"} NaN
b{quantile="0.99"} NaN
b_sum 0
b_count 0
`,
  );
});

t.test('every documented metric of the messages is on the page, and every help line is a sentence', async (t) => {
  const documented = readFileSync(join(import.meta.dirname, '../../docs/reference/metrics.md'), 'utf8');
  const messages = documented.slice(documented.indexOf('## Messages to controllers'));
  const plainNames = new Set<string>();
  for (const [, name = ''] of messages.matchAll(/^\| `([^`]+)` +\| \w+ /gm)) {
    const plain = name.replace(/[.:]<id>/, '').replace(/^pool\..*\./, 'pool.');
    plainNames.add(plain);
    t.ok(plain in PAGE_METRICS || CONTAINED.includes(plain), plain);
  }
  for (const name of [...Object.keys(PAGE_METRICS), ...CONTAINED]) t.ok(plainNames.has(name), name);
  for (const { name, type, help } of Object.values(PAGE_METRICS)) {
    t.match(help, /^[A-Z][^_]+ [^_]+\.$/, name);
    t.equal(type === 'counter', name.endsWith('_total'), name);
  }
});

t.test('a page counts all measurements, although a silent link replaces its round trips', async (t) => {
  const histogram = new Histogram(new VirtualClock(), () => 0.5);
  for (const value of [1, 2, 3]) histogram.update(value);
  histogram.replace(1_000);
  t.match(histogram.snapshot(), { count: 1, mean: 1_000, measured: { count: 3, sum: 6 } });
  histogram.clear();
  histogram.update(4);
  t.match(histogram.snapshot(), { count: 1, mean: 4, measured: { count: 4, sum: 10 } });
});

t.test('a histogram follows a change within minutes and counts all values', async (t) => {
  const clock = new VirtualClock();
  const random = seededRandom(7);
  const histogram = new Histogram(clock, () => random.next());
  const measure = async (value: number, seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      histogram.update(value);
      await clock.advance(1_000);
    }
  };
  await measure(1, 3_600);
  t.match(histogram.snapshot(), { count: 3_600, min: 1, max: 1, mean: 1, stdDev: 0 });
  await measure(101, 60);
  const soon = histogram.snapshot().mean;
  t.ok(soon > 20 && soon < 90, `${soon} after a minute`);
  await measure(101, 900);
  const { mean, count, min } = histogram.snapshot();
  t.ok(mean > 99, `${mean} after a quarter of an hour`);
  t.equal(count, 4_560);
  t.ok(min === 1 || min === 101);
  await measure(101, 3_600);
  t.match(histogram.snapshot(), { min: 101, mean: 101 }, 'no value stays for hours');
});
