// Keeps the router connected to one controller: dials its endpoints in turn, waits longer after each failure, and
// redials when the channel is lost (reference facts: control channel, section 4.1; config, section 5.3). Each known
// controller has one dialer. A configured endpoint has one as long as its controller is unknown.

import { background } from '#lib/background.ts';
import { asError, ClosedError, describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { RepeatedCondition } from '#lib/log/repeated-condition.ts';
import type { Random } from '#lib/random.ts';
import { unlessAborted } from '#lib/time/abort.ts';
import { type BackoffPolicy, nextBackoff } from '#lib/time/backoff.ts';
import type { Clock } from '#lib/time/clock.ts';
import { remedyOf } from '#wire/connection/dial.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import type { ControllerProblem } from '../interface/description.ts';
import type { Controller } from './controller.ts';

export interface ControllerDialerComponents {
  clock: Clock;
  log: Log;
  random: Random;
  /** Connects to an endpoint and registers the controller; undefined if that controller is already connected. */
  connect(endpoint: string, signal: AbortSignal): Promise<{ id: string; controller: Controller | undefined }>;
  /** Returns the connected controller with this id or address. */
  connected(id: string, endpoints: readonly string[]): Controller | undefined;
}

/** From 50 ms to 5 min, factor 1.5 with a jitter of half of it, without a limit on attempts (reference fact). */
export const CONTROL_BACKOFF: BackoffPolicy = { min: 50, max: 300_000, factor: 1.5, jitter: 0.5 };
/**
 * A channel that closes within this time counts as a failure: a controller that rejects the router answers the hello
 * first.
 */
const SHORT_LIFE = 10_000;
const PAUSE_AFTER_CLOSE = 1_000;

export class ControllerDialer {
  /** Empty until the controller at the endpoint has sent its id. */
  id: string;
  #endpoints: readonly string[];
  readonly #components: ControllerDialerComponents;
  readonly #abort = new AbortController();
  readonly #unreachable: RepeatedCondition;
  #wait = 0;
  #cursor = 0;
  #endPause: (() => void) | undefined;
  #problem: ControllerProblem | undefined;
  /** A controller has accepted this router before. */
  #wasConnected = false;

  constructor(components: ControllerDialerComponents, id: string, endpoints: readonly string[]) {
    this.#components = components;
    this.#unreachable = new RepeatedCondition(components.clock);
    this.id = id;
    this.#endpoints = endpoints;
  }

  get endpoints(): readonly string[] {
    return this.#endpoints;
  }

  /** Why the last attempt or connection ended; undefined while it is connected, and before the first failure. */
  get problem(): ControllerProblem | undefined {
    return this.#problem;
  }

  /** Replaces the addresses. New ones are dialed without waiting for the end of a pause. */
  move(endpoints: readonly string[]): void {
    const hasNew = endpoints.some((each) => !this.#endpoints.includes(each));
    this.#endpoints = endpoints;
    if (!hasNew) return;
    this.#cursor = 0;
    this.#wait = 0;
    this.#endPause?.();
  }

  start(): void {
    background(this.#components.log, 'controller dialer', () => this.#run());
  }

  /** Stops dialing; an open channel stays open. */
  stop(): void {
    this.#abort.abort(new ClosedError('the controller dialer'));
    this.#endPause?.();
  }

  async #run(): Promise<void> {
    const { clock } = this.#components;
    while (!this.#abort.signal.aborted) {
      const controller = this.#components.connected(this.id, this.endpoints) ?? (await this.#dial());
      let pause = this.#wait;
      if (controller) {
        this.#wasConnected = true;
        this.id = controller.id;
        this.#problem = undefined;
        const began = clock.monotonic();
        await unlessAborted(this.#abort.signal, controller.channel.closed).catch(() => undefined); // the router stops
        if (this.#abort.signal.aborted) return;
        const reason = await controller.channel.closed;
        this.#problem = {
          endpoint: controller.address,
          error: reason ? describeError(reason) : 'the connection was closed',
        };
        if (clock.monotonic() - began < SHORT_LIFE) this.#lengthen();
        else this.#wait = 0;
        pause = Math.max(PAUSE_AFTER_CLOSE, this.#wait);
      }
      if (this.#abort.signal.aborted) return;
      await this.#pause(pause);
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#components.clock.after('controller dial pause', milliseconds, resolve);
      this.#endPause = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  async #dial(): Promise<Controller | undefined> {
    const endpoint = this.endpoints[this.#cursor++ % this.endpoints.length];
    if (endpoint === undefined) return undefined;
    try {
      const { id, controller } = await this.#components.connect(endpoint, this.#abort.signal);
      this.id = id;
      const before = this.#unreachable.ended();
      if (before) this.#components.log.info({ endpoint, ...before }, 'controller can be reached again');
      return controller ?? this.#components.connected(id, []);
    } catch (error) {
      this.#lengthen();
      if (!this.#abort.signal.aborted) this.#report(endpoint, asError(error));
      return undefined;
    }
  }

  #report(endpoint: string, error: Error): void {
    const text = describeError(error);
    const isRejected = error instanceof HelloRejectedError;
    this.#problem = { endpoint, error: text, ...(isRejected ? this.#whyRejected() : remedyOf(error)) };
    const fields = { ...this.#problem, retryIn: Math.round(this.#wait) };
    const due = this.#unreachable.happened(`${endpoint} ${text}`);
    const what = isRejected ? 'rejects this router' : 'cannot be reached';
    if (due) {
      const { attempts, seconds } = due;
      this.#components.log.warn({ ...fields, attempts, seconds }, `controller ${what}`);
    } else this.#components.log.debug(fields, `controller still ${what}`);
  }

  /**
   * Controllers send no reason when they close (reference fact: control channel, section 1.6), so these are likely
   * causes.
   */
  #whyRejected(): { likely: string; remedy: string } {
    if (this.#wasConnected)
      return {
        likely: 'another router with the same certificate is connected in place of this one, or this one was deleted',
        remedy: 'run one router per enrollment: stop the other router, or enroll this one with its own token',
      };
    return {
      likely:
        'the controller does not know the certificate, the router is disabled, the certificate has expired, or another router with the same certificate is connected',
      remedy:
        'read the log of the controller; check the certificate and the clock (config check); stop the other router, or enroll this one again',
    };
  }

  #lengthen(): void {
    this.#wait = nextBackoff(CONTROL_BACKOFF, this.#wait, this.#components.random);
  }
}
