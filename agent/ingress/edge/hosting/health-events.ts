// Reports results of the health checks of SDK clients to the controller, not as often as a client sends them: of the
// results that come too fast, the last one is reported.

import type { Log } from '#lib/log/log.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { HostedService } from './hosted-service.ts';

/** Reports of one service. */
const RATE = { burst: 10, perSecond: 1 };

interface Reports {
  checkPassed: boolean;
  readonly task: CoalescedTask;
}

export class HealthEvents {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #send: (service: HostedService, checkPassed: boolean) => void;
  readonly #reports = new Map<HostedService, Reports>();

  constructor(
    { log, clock }: { readonly log: Log; readonly clock: Clock },
    send: (service: HostedService, checkPassed: boolean) => void,
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#send = send;
  }

  /** Sends the result, at once or later. Call `forget` when the service is gone. */
  report(service: HostedService, checkPassed: boolean): void {
    let reports = this.#reports.get(service);
    if (!reports) {
      const send = () => this.#send(service, created.checkPassed);
      const pace = { clock: this.#clock, ...RATE };
      const created: Reports = { checkPassed, task: new CoalescedTask(this.#log, 'health event', send, { pace }) };
      reports = created;
      this.#reports.set(service, created);
    }
    reports.checkPassed = checkPassed;
    reports.task.request();
  }

  forget(service: HostedService): void {
    void this.#reports.get(service)?.task.close();
    this.#reports.delete(service);
  }

  close(): void {
    for (const service of [...this.#reports.keys()]) this.forget(service);
  }
}
