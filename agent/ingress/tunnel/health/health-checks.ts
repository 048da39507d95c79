// Runs the health checks of all hosted services at their intervals, and reports the results for their terminators.
//
//   timer ─► queue ─► probe ─► history of the check ─► actions ─► weight of the terminator, events

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { HostedHealth } from '../../../interface/description.ts';
import type { CheckConfig } from './check-config.ts';
import { applyActions, CheckHistory, type Weight } from './check-state.ts';
import { probe } from './probes.ts';

export interface HealthReport {
  /** Called after each result, even if the weight has not changed. */
  weight(weight: Weight): void;
  /** A check requests an event. */
  event(isPassing: boolean): void;
}

interface Watched {
  readonly serviceName: string;
  readonly base: Weight;
  readonly report: HealthReport;
  readonly checks: readonly RunningCheck[];
  weight: Weight;
  isOver: boolean;
}

interface RunningCheck {
  readonly config: CheckConfig;
  readonly history: CheckHistory;
  readonly timer: Timer;
  isRunning: boolean;
  problem: string | undefined;
}

/** Limits on parallel probes and on waiting ones; a probe beyond the queue is skipped until its next interval. */
const PROBES = { workers: 50, length: 1_000 };

export class HealthChecks {
  readonly #io: IoContext;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #queue: TaskQueue;
  readonly #watched = new Map<string, Watched>();

  constructor({ io, log }: { io: IoContext; log: Log }) {
    const { clock } = io;
    this.#io = io;
    this.#clock = clock;
    this.#log = log;
    this.#queue = new TaskQueue({ name: 'health checks', ...PROBES, clock });
  }

  /** Starts to check a service; the first probes run at once. Replaces earlier checks of the same terminator. */
  watch(
    terminatorId: string,
    serviceName: string,
    { checks, base, report }: { checks: readonly CheckConfig[]; base: Weight; report: HealthReport },
  ): void {
    this.unwatch(terminatorId);
    if (checks.length === 0) return;
    const running = checks.map((config): RunningCheck => {
      const timer = this.#clock.every('service check', config.interval, () => this.#run(watched, check));
      const check: RunningCheck = { config, history: new CheckHistory(), timer, isRunning: false, problem: undefined };
      return check;
    });
    const watched: Watched = { serviceName, base, report, checks: running, weight: base, isOver: false };
    this.#watched.set(terminatorId, watched);
    for (const check of running) this.#run(watched, check);
  }

  unwatch(terminatorId: string): void {
    const watched = this.#watched.get(terminatorId);
    if (!watched) return;
    watched.isOver = true;
    for (const { timer } of watched.checks) timer.cancel();
    this.#watched.delete(terminatorId);
  }

  /** For diagnostics. */
  describe(): HostedHealth[] {
    return [...this.#watched].flatMap(([terminatorId, { serviceName, weight, checks }]) =>
      checks.map(({ config, history, problem }) => ({
        terminatorId,
        service: serviceName,
        check: config.name,
        healthy: history.isPassing,
        ...(problem !== undefined && { problem }),
        ...weight,
      })),
    );
  }

  async close(): Promise<void> {
    for (const id of [...this.#watched.keys()]) this.unwatch(id);
    await this.#queue.close();
  }

  /** Runs one probe. While a probe of the check is running, the check waits for its next interval. */
  #run(watched: Watched, check: RunningCheck): void {
    if (check.isRunning) return;
    check.isRunning = true;
    let result: string | undefined;
    this.#queue
      .add(async (signal) => {
        if (watched.isOver) return; // it was waiting in the queue meanwhile
        try {
          await probe(check.config, { io: this.#io, signal });
        } catch (error) {
          result = describeError(error);
        }
        if (!signal.aborted && !watched.isOver) this.#onResult(watched, check, result);
      })
      .catch((error: unknown) =>
        this.#log.debug({ service: watched.serviceName, error: describeError(error) }, 'health check skipped'),
      )
      .finally(() => {
        check.isRunning = false;
      });
  }

  #onResult(watched: Watched, check: RunningCheck, problem: string | undefined): void {
    const { config, history } = check;
    const isPassing = problem === undefined;
    if (isPassing !== history.isPassing) this.#logChange(watched, check, problem);
    check.problem = problem;
    const actions = history.add(isPassing, this.#clock.monotonic(), config.actions);
    watched.weight = applyActions(watched.weight, watched.base, actions);
    if (actions.some(({ kind }) => kind === 'send event')) watched.report.event(isPassing);
    watched.report.weight(watched.weight);
  }

  #logChange({ serviceName }: Watched, { config }: RunningCheck, reason: string | undefined): void {
    const fields = { service: serviceName, check: config.name };
    if (reason === undefined) this.#log.info(fields, 'hosted service has recovered');
    else this.#log.warn({ ...fields, reason }, 'hosted service is unhealthy');
  }
}
