// Limits the rate-limited requests to controllers in progress (`ctrl.rateLimiter`): the window shrinks while
// controllers are busy and grows while they answer. Requests for terminators and their removal take a place and report
// their outcome (reference fact: config, section 2.3).

import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { CtrlConfig } from '#schemas/config/gen/router-config.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';

/** The section `ctrl.rateLimiter`; times in milliseconds. */
export type AdaptiveWindowInit = NonNullable<CtrlConfig['rateLimiter']>;

export interface AdaptiveWindowComponents {
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
}

/** A place for one request. Its outcome counts once; later reports are ignored. */
export interface WindowPlace {
  success(): void;
  /** The controller is busy, or did not answer in time. */
  backoff(): void;
  /** Another failure, unrelated to the controller's load. */
  failed(): void;
}

/** Defaults for a configuration without the section `ctrl.rateLimiter`. */
export const DEFAULT_WINDOW: AdaptiveWindowInit = {
  enabled: true,
  minSize: 5,
  maxSize: 250,
  timeout: 30_000,
  successThreshold: 0.9,
  increaseFactor: 1.02,
  decreaseFactor: 0.9,
  increaseCheckInterval: 10,
  decreaseCheckInterval: 10,
};

/** Number of outcomes from which the success rate is computed. */
const MAX_OUTCOMES = 128;

export class AdaptiveWindow {
  readonly #components: AdaptiveWindowComponents;
  readonly #init: AdaptiveWindowInit;
  readonly #workTimer: { update(milliseconds: number): void };
  /** The latest outcomes: 1 for a success, 0 for a rejection. A new one replaces the oldest. */
  readonly #outcomes: number[] = [];
  #size: number;
  #used = 0;
  #successes = 0;
  #rejections = 0;

  constructor(components: AdaptiveWindowComponents, init: AdaptiveWindowInit) {
    const { metrics } = components;
    this.#components = components;
    this.#init = init;
    this.#size = init.maxSize;
    this.#workTimer = metrics.timer('ctrl_limiter.work_timer');
    metrics.gauge('ctrl_limiter.in_process', () => this.#used);
    metrics.gauge('ctrl_limiter.window_size', () => this.#size);
  }

  get size(): number {
    return this.#size;
  }

  /** Milliseconds that a request waits for its answer. */
  get timeout(): number {
    return this.#init.timeout;
  }

  /** Returns a place for a request, or undefined if all are in use. */
  begin(): WindowPlace | undefined {
    if (this.#init.enabled && this.#used >= this.#size) return undefined;
    this.#used++;
    const began = this.#components.clock.monotonic();
    let isOver = false;
    const end = (report: () => void) => () => {
      if (isOver) return;
      isOver = true;
      this.#used--;
      report();
    };
    return {
      success: end(() => this.#onSuccess(this.#components.clock.monotonic() - began)),
      backoff: end(() => this.#onBackoff()),
      failed: end(() => undefined),
    };
  }

  #onSuccess(milliseconds: number): void {
    const { increaseCheckInterval, increaseFactor, maxSize } = this.#init;
    this.#workTimer.update(milliseconds);
    this.#note(1);
    if (this.#size >= maxSize || ++this.#successes % increaseCheckInterval !== 0) return;
    if (this.#successShare() > this.#init.successThreshold)
      this.#resize(Math.min(maxSize, Math.max(this.#size + 1, Math.floor(this.#size * increaseFactor))));
  }

  #onBackoff(): void {
    const { decreaseCheckInterval, decreaseFactor, minSize } = this.#init;
    this.#note(0);
    if (this.#size <= minSize || ++this.#rejections % decreaseCheckInterval !== 0) return;
    if (this.#successShare() < this.#init.successThreshold)
      this.#resize(Math.max(minSize, Math.min(this.#size - 1, Math.floor(this.#size * decreaseFactor))));
  }

  #note(outcome: 0 | 1): void {
    if (this.#outcomes.length >= MAX_OUTCOMES) this.#outcomes.shift();
    this.#outcomes.push(outcome);
  }

  #successShare(): number {
    return this.#outcomes.reduce((sum, each) => sum + each, 0) / this.#outcomes.length;
  }

  #resize(next: number): void {
    this.#components.log.debug({ previous: this.#size, size: next, used: this.#used }, 'request window changed');
    this.#size = next;
  }
}
