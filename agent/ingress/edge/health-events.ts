// Reports results of the health checks of SDK clients to the controller, not as often as a client sends them: of the
// results that come too fast, the last one is reported.

import type { Clock, Timer } from '#lib/clock.ts';
import { TokenBucket } from '#lib/token-bucket.ts';
import type { HostedService } from './hosted-service.ts';

/** Reports of one service: a burst at once, then one per second, for which the last result waits. */
const RATE = { burst: 10, perSecond: 1, ahead: 1 };

interface Reports {
  readonly rate: TokenBucket;
  waiting?: { readonly timer: Timer; checkPassed: boolean } | undefined;
}

export class HealthEvents {
  readonly #clock: Clock;
  readonly #send: (service: HostedService, checkPassed: boolean) => void;
  readonly #reports = new Map<HostedService, Reports>();

  constructor(clock: Clock, send: (service: HostedService, checkPassed: boolean) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Sends the result, at once or later. Call `forget` when the service is gone. */
  report(service: HostedService, checkPassed: boolean): void {
    const now = this.#clock.monotonic();
    const reports = this.#reports.get(service) ?? { rate: new TokenBucket(RATE, now) };
    this.#reports.set(service, reports);
    if (reports.waiting) {
      reports.waiting.checkPassed = checkPassed;
      return;
    }
    const delay = reports.rate.take(now) ?? 0;
    if (delay === 0) {
      this.#send(service, checkPassed);
      return;
    }
    const timer = this.#clock.after('health event', delay, () => {
      const { waiting } = reports;
      reports.waiting = undefined;
      if (waiting) this.#send(service, waiting.checkPassed);
    });
    reports.waiting = { timer, checkPassed };
  }

  forget(service: HostedService): void {
    this.#reports.get(service)?.waiting?.timer.cancel();
    this.#reports.delete(service);
  }

  close(): void {
    for (const service of [...this.#reports.keys()]) this.forget(service);
  }
}
