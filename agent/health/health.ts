// The health of the router: the two checks of the reference, and their answer (reference fact: config, section 7). The
// reference reports a freshly started router as failing; this router is `starting`, with the reason, until its checks
// have passed or their initial delays are over.

import { count } from '#lib/text/count.ts';
import type { Clock } from '#lib/time/clock.ts';
import { HealthCheck } from './health-check.ts';

/** Omits the link id of the reference: this answer is public. */
export interface LinkDetail {
  readonly destRouterId: string;
  /** Mean round trip in nanoseconds. */
  readonly latency: number;
  readonly addresses: Readonly<Record<string, { localAddr: string; remoteAddr: string }>>;
}

export interface HealthComponents {
  clock: Clock;
  controllers(): readonly { readonly isConnected: boolean; readonly isResponsive: boolean }[];
  links(): readonly LinkDetail[];
  isDraining(): boolean;
  /** Monotonic milliseconds since which no controller is connected; undefined while one is. */
  unconnectedSince(): number | undefined;
}

export interface HealthInit {
  /** Milliseconds. */
  readonly ctrlPingCheck: { readonly interval: number; readonly initialDelay: number };
  readonly linkCheck: { readonly interval: number; readonly initialDelay: number; readonly minLinks: number };
}

export class Health {
  readonly #checks: readonly HealthCheck[];
  readonly #isDraining: () => boolean;
  readonly #clock: Clock;
  readonly #startedAt: number;
  /** Milliseconds in which checks that have not passed yet do not count as failures. */
  readonly #startTime: number;

  constructor(components: HealthComponents, init: HealthInit) {
    const { clock } = components;
    const { minLinks } = init.linkCheck;
    this.#isDraining = components.isDraining;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
    this.#startTime = Math.max(init.ctrlPingCheck.initialDelay, init.linkCheck.initialDelay);
    this.#checks = [
      new HealthCheck(
        {
          id: 'controllerPing',
          ...init.ctrlPingCheck,
          healthyAtFirst: false,
          run: () => checkControllers(components),
          missing: () =>
            components.controllers().some(({ isConnected }) => isConnected) ? undefined : 'no controller is connected',
        },
        clock,
      ),
      new HealthCheck(
        {
          id: 'link.health',
          ...init.linkCheck,
          healthyAtFirst: minLinks === 0,
          run: () => checkLinks(components.links(), minLinks),
          missing: () => {
            const { length } = components.links();
            return length < minLinks
              ? `${length} of ${count(minLinks, 'link')} ${minLinks === 1 ? 'is' : 'are'} up (healthChecks.linkCheck.minLinks)`
              : undefined;
          },
        },
        clock,
      ),
    ];
  }

  get healthy(): boolean {
    return this.#checks.every((check) => check.healthy);
  }

  /** The reason why the router is still starting; undefined if it has started, or did not start in time. */
  get starting(): string | undefined {
    const failing = this.#checks.filter((check) => !check.healthy);
    const isEarly = this.#clock.monotonic() - this.#startedAt < this.#startTime;
    const reasons = failing.map((check) => (isEarly || !check.hasRun ? check.waitsFor : undefined));
    return reasons.length === 0 || reasons.includes(undefined) ? undefined : reasons.join('; ');
  }

  /** Whether the router is ready for new traffic. */
  get ready(): boolean {
    return this.healthy && !this.#isDraining();
  }

  /** The payload, indented by four spaces and with a trailing newline. */
  payload(options: { short?: boolean } = {}): string {
    return `${JSON.stringify(this.report(options), undefined, 4)}\n`;
  }

  report(options: { short?: boolean } = {}) {
    const checks = this.#checks.map((check) => check.describe(options.short ?? false));
    // Present only while the state applies: the reference has no such keys.
    const draining = this.#isDraining() || undefined;
    const reason = this.starting;
    const state = reason === undefined ? undefined : 'starting';
    const data = { checks, draining, healthy: this.healthy, reason, state };
    return { data, meta: {} };
  }

  close(): void {
    for (const check of this.#checks) check.close();
  }
}

function checkControllers(components: HealthComponents): null {
  const controllers = components.controllers();
  if (!controllers.some((controller) => controller.isConnected)) {
    const now = components.clock.monotonic();
    const seconds = Math.round((now - (components.unconnectedSince() ?? now)) / 1_000);
    throw new Error(`not connected to a controller for ${seconds} s`);
  }
  if (!controllers.some((controller) => controller.isResponsive)) throw new Error('control channels are slow');
  return null;
}

function checkLinks(links: readonly LinkDetail[], minLinks: number): readonly LinkDetail[] | null {
  if (links.length < minLinks)
    throw new Error(`link count ${links.length} less than configured minimum of ${minLinks}`);
  return links.length > 0 ? links : null;
}
