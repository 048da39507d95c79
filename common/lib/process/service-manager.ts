// Notifies a service manager such as systemd when the daemon is ready, reloads, stops or is alive, and of its status
// (the protocol of sd_notify). Does nothing without a service manager.

import { describeError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { LASTING, RepeatedCondition } from '../log/repeated-condition.ts';
import { UnixDatagramSender } from '../net/unix-datagram.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { whyNoSystemLibrary } from './system-library.ts';

export interface ServiceManagerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID are read and removed: child processes are not this service. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Divisor of the watchdog's time; the next message is due after the result. */
const WATCHDOG_PART = 2;
/** Milliseconds between two status checks. */
const STATUS_INTERVAL = 2_000;
/** Milliseconds until a message to a slow service manager is retried. */
const RETRY_DELAY = 200;
const MAX_RETRIES = 25;
/** Messages that wait for a slow service manager; the oldest are dropped. */
const MAX_WAITING = 10_000;
/** Milliseconds that the process may take to end after the drain. */
const END_TIME = 10_000;

export class ServiceManager {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #sender: UnixDatagramSender | undefined;
  readonly #timers = new Set<Timer>();
  readonly #waiting: string[] = [];
  #retry: Timer | undefined;
  #status = '';
  readonly #failure: RepeatedCondition;

  constructor({ clock, log, environment = process.env }: ServiceManagerOptions) {
    this.#clock = clock;
    this.#failure = new RepeatedCondition(clock, LASTING);
    this.#log = log;
    const { NOTIFY_SOCKET: path = '', WATCHDOG_USEC: watchdog, WATCHDOG_PID: watched } = environment;
    for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
    this.#sender = path === '' ? undefined : this.#open(path);
    if (this.#sender && (watched === undefined || Number(watched) === process.pid)) this.#startWatchdog(watchdog);
  }

  /** The daemon is ready. From now on `status` is called for its status line. */
  ready(status: () => string): void {
    this.#send(['READY=1', this.#statusLine(status)]);
    if (!this.#sender) return;
    this.#every('service status', STATUS_INTERVAL, () => {
      const line = this.#statusLine(status);
      if (line !== undefined) this.#send([line]);
    });
  }

  /** A reload begins; call `reloaded` at its end. */
  reloading(): void {
    this.#send(['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`]);
  }

  reloaded(): void {
    this.#send(['READY=1']);
  }

  /** The daemon stops; `longest` is the time for open work in milliseconds. The watchdog continues. */
  stopping(longest: number): void {
    this.#send(['STOPPING=1', `EXTEND_TIMEOUT_USEC=${(longest + END_TIME) * 1000}`]);
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#retry?.cancel();
    this.#sender?.close();
  }

  #open(path: string): UnixDatagramSender | undefined {
    try {
      const reason = whyNoSystemLibrary();
      if (reason !== undefined) throw new Error(`sending notifications ${reason}; use Type=exec without a watchdog`);
      if (!/^[/@]/.test(path)) throw new Error(`NOTIFY_SOCKET=${path} is neither a path nor a name with @`);
      return new UnixDatagramSender(path);
    } catch (error) {
      this.#logFailure(error);
      return undefined;
    }
  }

  #startWatchdog(microseconds: string | undefined): void {
    if (microseconds === undefined) return;
    const limit = Number(microseconds) / 1000;
    if (!(limit > 0)) {
      this.#logFailure(new Error(`WATCHDOG_USEC=${microseconds} is not a number above 0`));
      return;
    }
    this.#every('service watchdog', limit / WATCHDOG_PART, () => this.#ping());
  }

  /** Another one follows soon, so that it needs neither order nor repetition. */
  #ping(): void {
    const error = this.#trySend('WATCHDOG=1');
    if (error !== undefined) this.#logFailure(error);
  }

  #every(name: string, milliseconds: number, task: () => void): void {
    this.#timers.add(this.#clock.every(name, milliseconds, task));
  }

  /** Undefined if unchanged. */
  #statusLine(status: () => string): string | undefined {
    const text = status().replaceAll('\n', ' ');
    if (text === this.#status) return undefined;
    this.#status = text;
    return `STATUS=${text}`;
  }

  /** In order: the manager would take a late `RELOADING=1` for a reload that does not end. */
  #send(lines: readonly (string | undefined)[]): void {
    if (!this.#sender) return;
    this.#waiting.push(lines.filter((line) => line !== undefined).join('\n'));
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    if (!this.#retry) this.#sendWaiting(MAX_RETRIES);
  }

  #sendWaiting(retries: number): void {
    let left = retries;
    this.#retry = undefined;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const error = this.#trySend(next);
      if (error !== undefined && left > 0) {
        this.#retry = this.#clock.after('service notification', RETRY_DELAY, () => this.#sendWaiting(left - 1));
        return;
      }
      if (error === undefined) left = MAX_RETRIES;
      else this.#logFailure(error);
      this.#waiting.shift();
    }
  }

  /** Returns the error. */
  #trySend(text: string): unknown {
    try {
      this.#sender?.send(text);
      this.#failure.ended();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #logFailure(error: unknown): void {
    if (this.#failure.happened()) this.#log.warn({ error: describeError(error) }, 'service manager cannot be notified');
  }
}
