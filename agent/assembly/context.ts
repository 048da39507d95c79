// The parts that every room of the router uses.

import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ownVersionInfo, type VersionInfo } from '#wire/channel/version-info.ts';
import type { IdentityConfig, RouterConfig } from '../config/router-config.ts';
import { Identity } from '../identity/identity.ts';
import { DialFailures } from '../metrics/dial-failures.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { ThreadFigures } from '../metrics/thread-figures.ts';
import { PROGRAM_VERSION } from '../version.ts';

/** A room that can be closed. */
interface Closable {
  close(): unknown;
}

export interface RouterContextInit {
  readonly config: RouterConfig;
  readonly log: Log;
  readonly clock: Clock;
  readonly io: IoContext;
  /** The time of day by which certificates are renewed; default: `clock`. */
  readonly calendar?: Clock | undefined;
  readonly random: Random;
  readonly identity: Identity;
  /** Closes all resources at the end, in reverse order. */
  readonly owned: AsyncDisposableStack;
}

export class RouterContext implements RouterContextInit {
  readonly config: RouterConfig;
  readonly log: Log;
  readonly clock: Clock;
  readonly io: IoContext;
  readonly calendar: Clock | undefined;
  readonly random: Random;
  readonly identity: Identity;
  readonly owned: AsyncDisposableStack;
  readonly version: VersionInfo = ownVersionInfo(PROGRAM_VERSION);
  readonly metrics: MetricsRegistry;
  readonly threads: ThreadFigures;
  readonly dialFailures = new DialFailures();
  /** True while the router drains. */
  isDraining = false;
  readonly #identities: Identity[];

  constructor({ config, log, clock, io, calendar, random, identity, owned }: RouterContextInit) {
    this.config = config;
    this.log = log;
    this.clock = clock;
    this.io = io;
    this.calendar = calendar;
    this.random = random;
    this.identity = identity;
    this.#identities = [identity];
    this.owned = owned;
    this.metrics = new MetricsRegistry(clock, () => random.next());
    this.threads = this.own(new ThreadFigures({ clock: io.realClock, metrics: this.metrics, threads: io.threads }));
  }

  /** The router's id: the common name of its certificate. */
  get routerId(): string {
    return this.identity.id;
  }

  /** The identities in use: the router's, and those of single listeners. */
  get identities(): readonly Identity[] {
    return this.#identities;
  }

  /** Whether circuits may begin and end on this router. */
  readonly acceptsCircuits = (): boolean => !this.isDraining;

  /**
   * Opens an identity that one listener uses instead of the router's. `key` names it in errors. Rejects with
   * IdentityError.
   */
  async openIdentity(config: IdentityConfig, key: string): Promise<Identity> {
    const identity = this.own(await Identity.open({ config, clock: this.clock, log: this.log, watch: true, key }));
    this.#identities.push(identity);
    return identity;
  }

  /** Reads the files of all identities again. Rejects with the first failure, after all others have been reloaded. */
  async reloadIdentities(): Promise<void> {
    const reloaded = await Promise.allSettled(this.#identities.map((identity) => identity.reload()));
    for (const result of reloaded) if (result.status === 'rejected') throw result.reason;
  }

  /** Closes `room` with the router, after those that it owns later. */
  own<T extends Closable>(room: T): T {
    this.owned.defer(async () => void (await room.close()));
    return room;
  }

  /** Returns the log of one room. */
  component(name: string): Log {
    return this.log.child({ component: name, routerId: this.routerId });
  }
}
