// The load of the main thread and of the I/O threads: for inspections, and as metrics `thread.<number>.…`. A thread has
// metrics while it runs. The one that takes its place continues them, so they are bounded by the places.

import { performance } from 'node:perf_hooks';
import type { IoThreadInspection, IoThreads } from '#lib/threads/io-threads.ts';
import { LoopProbe } from '#lib/threads/loop-delay.ts';
import { type LoopInspection, LoopLoad } from '#lib/threads/loop-load.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { MetricsRegistry } from './registry.ts';

/** Milliseconds in which the metrics follow the threads. */
const INTERVAL = 5_000;

const PERCENT = 100;
const NANOSECONDS = 1e6;
const LOOP_GAUGES = ['utilization', 'loop_delay', 'longest_loop_delay'] as const;
/** The kinds of connections that threads carry, by gauge. */
const KINDS = { clients: 'client', links: 'link', accepted: 'accepted' } as const;
const BYTES = { rx: 'received', tx: 'sent' } as const;

interface ThreadFiguresOptions {
  /** The real time: loops have no other one. */
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  readonly threads: IoThreads | undefined;
}

export interface ThreadsInspection {
  readonly main: LoopInspection;
  /** The I/O threads that run. */
  readonly threads: readonly IoThreadInspection[];
}

export class ThreadFigures {
  readonly #options: ThreadFiguresOptions;
  readonly #probe: LoopProbe;
  readonly #main: LoopLoad;
  readonly #timer: Timer;
  /** The I/O threads that have metrics, as they were when last seen. */
  #seen = new Map<number, IoThreadInspection>();

  constructor(options: ThreadFiguresOptions) {
    const { clock } = options;
    this.#options = options;
    this.#probe = new LoopProbe({ clock });
    this.#probe.start();
    this.#main = new LoopLoad({ clock, loop: performance.eventLoopUtilization, delays: this.#probe.delays });
    this.#gaugeLoop('main', () => this.#main.inspect());
    this.#timer = clock.every('metrics of threads', INTERVAL, () => this.#update());
  }

  inspect(): ThreadsInspection {
    return { main: this.#main.inspect(), threads: this.#options.threads?.inspect() ?? [] };
  }

  close(): void {
    this.#timer.cancel();
    this.#main.close();
    this.#probe.stop();
  }

  #update(): void {
    const running = new Map(this.inspect().threads.map((thread) => [thread.thread, thread]));
    for (const number of this.#seen.keys()) if (!running.has(number)) this.#dispose(number);
    for (const [number, thread] of running) {
      const before = this.#seen.get(number);
      if (!before) this.#register(number);
      this.#markBytes(thread, before && thread.ageMs >= before.ageMs ? before : undefined);
    }
    this.#seen = running;
  }

  #register(number: number): void {
    const find = () => this.#seen.get(number);
    this.#gaugeLoop(number, find);
    for (const [name, kind] of Object.entries(KINDS))
      this.#options.metrics.gauge(nameOf(number, name), () => find()?.kinds[kind] ?? 0);
  }

  #gaugeLoop(thread: number | 'main', find: () => LoopInspection | undefined): void {
    const gauge = (name: (typeof LOOP_GAUGES)[number], read: (load: LoopInspection) => number) =>
      this.#options.metrics.gauge(nameOf(thread, name), () => {
        const load = find();
        return load ? read(load) : 0;
      });
    gauge('utilization', ({ recentUtilization }) => recentUtilization * PERCENT);
    gauge('loop_delay', ({ loopDelayMs }) => loopDelayMs.p99 * NANOSECONDS);
    gauge('longest_loop_delay', ({ loopDelayMs }) => loopDelayMs.longest * NANOSECONDS);
  }

  /** `before`: the same thread, earlier. */
  #markBytes({ thread, bytes }: IoThreadInspection, before: IoThreadInspection | undefined): void {
    for (const [direction, way] of Object.entries(BYTES))
      this.#options.metrics
        .meter(nameOf(thread, `${direction}.bytesrate`))
        .mark(bytes[way] - (before?.bytes[way] ?? 0));
  }

  #dispose(number: number): void {
    const names = [...LOOP_GAUGES, ...Object.keys(KINDS), ...Object.keys(BYTES).map((each) => `${each}.bytesrate`)];
    this.#options.metrics.dispose(names.map((name) => nameOf(number, name)));
  }
}

function nameOf(thread: number | 'main', name: string): string {
  return `thread.${thread}.${name}`;
}
