// Metrics of threads exist while their threads run, and belong to places, so that threads may come and go.

import t from 'tap';
import type { IoThreadInspection, IoThreads } from '#lib/threads/io-threads.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { PrometheusPage } from './prometheus.ts';
import { MetricsRegistry } from './registry.ts';
import { ThreadFigures } from './thread-figures.ts';

function thread(values: Partial<IoThreadInspection> = {}): IoThreadInspection {
  return {
    ...{ thread: 1, ageMs: 5_000, connections: 3, kinds: { client: 1, link: 2, accepted: 3 }, carried: 4 },
    ...{ bytes: { received: 1_000, sent: 2_000 }, utilization: 0.2, recentUtilization: 0.9 },
    loopDelayMs: { median: 1, p99: 20, longest: 50 },
    ...values,
  };
}

/** The figures of threads that `running` names. */
function figures() {
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry(clock, () => 0.5);
  const state = { running: [] as IoThreadInspection[] };
  const threads = { inspect: () => state.running } as unknown as IoThreads;
  const all = new ThreadFigures({ clock, metrics, threads });
  const names = () => [...metrics.gauges.keys(), ...metrics.meters.keys()].sort();
  const gauge = (name: string) => metrics.gauges.get(name)?.();
  return { clock, metrics, state, all, names, gauge };
}

const MAIN = ['thread.main.longest_loop_delay', 'thread.main.loop_delay', 'thread.main.utilization'];

t.test('a thread has metrics while it runs, and the one at its place continues them', async (t) => {
  const { clock, metrics, state, all, names, gauge } = figures();
  t.same(names(), MAIN);
  state.running = [thread()];
  await clock.advance(5_000);
  t.equal(names().length, MAIN.length + 8);
  t.equal(gauge('thread.1.utilization'), 90);
  t.equal(gauge('thread.1.loop_delay'), 20e6);
  t.equal(gauge('thread.1.longest_loop_delay'), 50e6);
  t.equal(gauge('thread.1.clients'), 1);
  t.equal(gauge('thread.1.links'), 2);
  t.equal(gauge('thread.1.accepted'), 3);
  const bytes = () => ['rx', 'tx'].map((direction) => metrics.meters.get(`thread.1.${direction}.bytesrate`)?.count);
  t.same(bytes(), [1_000, 2_000]);
  state.running = [thread({ ageMs: 10_000, bytes: { received: 1_500, sent: 2_100 } })];
  await clock.advance(5_000);
  t.same(bytes(), [1_500, 2_100]);
  state.running = [thread({ ageMs: 1_000, bytes: { received: 5_000, sent: 7 } })];
  await clock.advance(5_000);
  t.same(bytes(), [6_500, 2_107], 'another one took its place meanwhile');
  state.running = [];
  await clock.advance(5_000);
  t.same(names(), MAIN);
  all.close();
  t.same(clock.timers(), []);
});

t.test('threads that come and go leave no metrics', async (t) => {
  const { clock, state, all, names } = figures();
  for (let round = 0; round < 50; round++) {
    state.running = Array.from({ length: 8 }, (_, index) => thread({ thread: index + 1, ageMs: 1_000 })).slice(
      round % 9,
    );
    await clock.advance(5_000);
    t.equal(names().length, MAIN.length + 8 * state.running.length);
  }
  all.close();
});

t.test('inspections show the main thread beside the others, and without them', (t) => {
  const { state, all } = figures();
  const main = { utilization: Number, recentUtilization: Number, loopDelayMs: { median: 0, p99: 0, longest: Number } };
  t.match(all.inspect(), { main, threads: [] });
  state.running = [thread()];
  t.match(all.inspect(), { main, threads: [thread()] });
  all.close();
  const alone = new ThreadFigures({ clock: new VirtualClock(), metrics: figures().metrics, threads: undefined });
  t.match(alone.inspect(), { main, threads: [] });
  alone.close();
  t.end();
});

t.test('the Prometheus page names the thread, and has base units', async (t) => {
  const { clock, metrics, state, all } = figures();
  const page = new PrometheusPage({ registry: metrics, figures: () => undefined, links: () => [] });
  state.running = [thread({ thread: 3 })];
  await clock.advance(5_000);
  const text = await page.render();
  for (const line of [
    'thread_utilization_ratio{thread="3"} 0.9',
    'thread_loop_delay_seconds{thread="3"} 0.02',
    'thread_longest_loop_delay_seconds{thread="3"} 0.05',
    'thread_connections{thread="3",kind="client"} 1',
    'thread_connections{thread="3",kind="link"} 2',
    'thread_bytes_total{thread="3",direction="rx"} 1000',
    'thread_bytes_total{thread="3",direction="tx"} 2000',
  ])
    t.ok(text.includes(`\nedgeweave_router_${line}\n`), line);
  t.match(text, /edgeweave_router_thread_utilization_ratio\{thread="main"\} [\d.]+\n/);
  page.close();
  all.close();
});
