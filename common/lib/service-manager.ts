// Notifies a service manager such as systemd that the daemon is ready, reloads, stops or still works, and of its status (the protocol of
// sd_notify). Without a service manager nothing happens.

import type { Clock, Timer } from './clock.ts';
import { describeError } from './errors.ts';
import type { Log } from './log.ts';
import { whyNoSystemLibrary } from './system-library.ts';
import { UnixDatagramSender } from './unix-datagram.ts';

export interface ServiceManagerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID are read and removed: child processes are not this service. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** A part of the watchdog's time after which the next sign of life is due. */
const WATCHDOG_PART = 2;
/** Milliseconds between two looks at the status. */
const STATUS_INTERVAL = 5_000;
/** A service manager that reads slowly gets a message again after this many milliseconds. */
const RETRY_DELAY = 200;
const MOST_RETRIES = 25;
/** Milliseconds that the end of the process may take after the drain. */
const END_TIME = 10_000;

export class ServiceManager {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #sender: UnixDatagramSender | undefined;
  readonly #timers = new Set<Timer>();
  #status = '';
  #hasFailed = false;

  constructor({ clock, log, environment = process.env }: ServiceManagerOptions) {
    this.#clock = clock;
    this.#log = log;
    const { NOTIFY_SOCKET: path = '', WATCHDOG_USEC: watchdog, WATCHDOG_PID: watched } = environment;
    for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
    this.#sender = path === '' ? undefined : this.#open(path);
    if (this.#sender && (watched === undefined || Number(watched) === process.pid)) this.#startWatchdog(watchdog);
  }

  /** The daemon serves. From now on `status` is asked for a line about what it does. */
  ready(status: () => string): void {
    this.#send(['READY=1', this.#statusLine(status)]);
    if (!this.#sender) return;
    this.#every('service status', STATUS_INTERVAL, () => {
      const line = this.#statusLine(status);
      if (line !== undefined) this.#send([line]);
    });
  }

  /** Call `reloaded` at the end. */
  reloading(): void {
    this.#send(['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`]);
  }

  reloaded(): void {
    this.#send(['READY=1']);
  }

  /** The daemon stops; `longest` is the time that open work gets, in milliseconds. The watchdog goes on. */
  stopping(longest: number): void {
    this.#send(['STOPPING=1', `EXTEND_TIMEOUT_USEC=${(longest + END_TIME) * 1000}`]);
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#sender?.close();
  }

  #open(path: string): UnixDatagramSender | undefined {
    try {
      const reason = whyNoSystemLibrary();
      if (reason !== undefined) throw new Error(`telling it ${reason}; use Type=exec without a watchdog`);
      if (!/^[/@]/.test(path)) throw new Error(`NOTIFY_SOCKET=${path} is neither a path nor a name with @`);
      return new UnixDatagramSender(path);
    } catch (error) {
      this.#complain(error);
      return undefined;
    }
  }

  #startWatchdog(microseconds: string | undefined): void {
    if (microseconds === undefined) return;
    const limit = Number(microseconds) / 1000;
    if (!(limit > 0)) {
      this.#complain(new Error(`WATCHDOG_USEC=${microseconds} is not a number above 0`));
      return;
    }
    this.#every('service watchdog', limit / WATCHDOG_PART, () => this.#send(['WATCHDOG=1'], 0));
  }

  #every(name: string, milliseconds: number, task: () => void): void {
    this.#timers.add(this.#clock.every(name, milliseconds, task));
  }

  /** Undefined when it is what it was. */
  #statusLine(status: () => string): string | undefined {
    const text = status().replaceAll('\n', ' ');
    if (text === this.#status) return undefined;
    this.#status = text;
    return `STATUS=${text}`;
  }

  #send(lines: readonly (string | undefined)[], retries = MOST_RETRIES): void {
    if (!this.#sender) return;
    try {
      this.#sender.send(lines.filter((line) => line !== undefined).join('\n'));
      this.#hasFailed = false;
    } catch (error) {
      if (retries === 0) {
        this.#complain(error);
        return;
      }
      const timer = this.#clock.after('service notification', RETRY_DELAY, () => {
        this.#timers.delete(timer);
        this.#send(lines, retries - 1);
      });
      this.#timers.add(timer);
    }
  }

  /** Once for each run of failures. */
  #complain(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#log.warn({ error: describeError(error) }, 'service manager cannot be told');
  }
}
