// The parts that every room of the router uses.

import type { Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import type { Random } from '#lib/random.ts';
import { ownVersionInfo, type VersionInfo } from '#wire/version-info.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { Identity } from '../identity/identity.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { PROGRAM_VERSION } from '../version.ts';

export interface RouterContextInit {
  readonly config: RouterConfig;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly identity: Identity;
  /** Closes all resources at the end, in reverse order. */
  readonly owned: AsyncDisposableStack;
}

export class RouterContext implements RouterContextInit {
  readonly config: RouterConfig;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly identity: Identity;
  readonly owned: AsyncDisposableStack;
  readonly version: VersionInfo = ownVersionInfo(PROGRAM_VERSION);
  readonly metrics: MetricsRegistry;
  /** True while the router drains. */
  isDraining = false;

  constructor({ config, log, clock, random, identity, owned }: RouterContextInit) {
    this.config = config;
    this.log = log;
    this.clock = clock;
    this.random = random;
    this.identity = identity;
    this.owned = owned;
    this.metrics = new MetricsRegistry(clock, () => random.next());
  }

  /** The router's id: the common name of its certificate. */
  get routerId(): string {
    return this.identity.id;
  }

  /** Whether circuits may begin and end on this router. */
  readonly acceptsCircuits = (): boolean => !this.isDraining;

  /** Returns the log of one room. */
  component(name: string): Log {
    return this.log.child({ component: name, routerId: this.routerId });
  }
}
