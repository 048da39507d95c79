// Starts a service and watches it until it is ready: systemd has not started it again, and its program says that it is
// healthy, or runs for a while if it does not say it.

import type { Clock } from '#lib/time/clock.ts';
import type { Service, ServiceState } from './service.ts';

export interface WatchInit {
  readonly service: Service;
  readonly clock: Clock;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Milliseconds until the service must be ready. */
  readonly limit: number;
  /**
   * Why the running program is not ready; undefined if it is.
   * @param time Milliseconds since the start.
   */
  waitsFor(time: number): Promise<string | undefined>;
}

/** Milliseconds between two looks. */
const INTERVAL = 500;

/** Resolves with undefined as soon as the service is ready, or with the reason why it is not. */
export async function startAndWatch({
  service,
  clock,
  signal,
  limit,
  waitsFor,
}: WatchInit): Promise<string | undefined> {
  const { restarts } = service.state();
  service.start();
  const begun = clock.monotonic();
  for (;;) {
    const state = service.state();
    const time = clock.monotonic() - begun;
    const failure = failureOf(state, restarts);
    if (failure !== undefined) return failure;
    const reason = state.active === 'active' ? await waitsFor(time) : `systemd reports ${state.active} (${state.sub})`;
    if (reason === undefined) return undefined;
    if (signal.aborted) return `${signal.reason} arrived while ${reason}`;
    if (time >= limit) return `after ${Math.round(time / 1_000)} s: ${reason}`;
    await clock.sleep(INTERVAL, { name: 'look at a service', signal }).catch(() => undefined); // the loop tells why
  }
}

function failureOf({ active, sub, restarts, ending }: ServiceState, before: number): string | undefined {
  const hasEnded = active === 'failed' || active === 'inactive' || sub.startsWith('auto-restart');
  const isRestarted = restarts > 0 && restarts !== before; // a start sets the number to 0
  return hasEnded || isRestarted ? ending : undefined;
}
