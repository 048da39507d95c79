// The work that the clients of one identity cause by their requests: they share the list of their services, and the
// pace at which their requests are served. An identity may have thousands of services, and any number of clients.

import { BoundedMap } from '#lib/queue/bounded-map.ts';
import { TokenBucket } from '#lib/queue/token-bucket.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { type ServiceView, type ServiceViewComponents, sizeOfView, viewOf } from './service-view.ts';

export interface IdentityWorkComponents extends ServiceViewComponents {
  clock: Clock;
}

/** Services, policies and circuits that requests of one identity make the router look at: at once, and in a second. */
const WORK = { burst: 40_000, perSecond: 10_000, ahead: Number.POSITIVE_INFINITY };
/** Milliseconds. A request may report that a right is lost. */
const MAX_DELAY = 10_000;
/** Limit on identities without a client whose pace is remembered: a client that connects again has no new burst. */
const MAX_UNUSED = 1_000;

export class IdentityWork {
  readonly #components: IdentityWorkComponents;
  readonly #identityId: string;
  readonly #bucket: TokenBucket;
  readonly #waiting = new Map<object, Timer>();
  #view: ServiceView | undefined;
  /** Entries of the last view. */
  #size = 0;
  /** Counts changes of the data model. */
  #version = 0;
  /** Bytes of the list of services, when it was last sent. */
  fullBytes = 0;
  /** Number of clients. */
  clients = 0;

  constructor(components: IdentityWorkComponents, identityId: string) {
    this.#components = components;
    this.#identityId = identityId;
    this.#bucket = new TokenBucket(WORK, components.clock.monotonic());
  }

  /** Entries of the list of services, when it was last needed. */
  get size(): number {
    return this.#size;
  }

  /**
   * The services of the identity. The steps between are work only if the data model has changed since the last view.
   */
  *view(): Generator<void, ServiceView> {
    if (this.#view) return this.#view;
    const version = this.#version;
    const view = yield* viewOf(this.#components, this.#identityId);
    if (version === this.#version) this.#view = view;
    this.#size = sizeOfView(view);
    return view;
  }

  /** The data model has changed. */
  outdate(): void {
    this.#version++;
    this.#view = undefined;
  }

  /** Runs `task` for a client when the identity may cause this much work. One that waits serves later requests, too. */
  request(client: object, cost: number, task: () => void): void {
    if (this.#waiting.has(client)) return;
    const { clock } = this.#components;
    const delay = Math.min(MAX_DELAY, this.#bucket.take(clock.monotonic(), cost) ?? MAX_DELAY);
    if (delay === 0) {
      task();
      return;
    }
    const timer = clock.after('work of an identity', delay, () => {
      this.#waiting.delete(client);
      task();
    });
    this.#waiting.set(client, timer);
  }

  /** A task of the client that waits does not run. */
  cancel(client: object): void {
    this.#waiting.get(client)?.cancel();
    this.#waiting.delete(client);
  }
}

/** By identity. */
export class IdentityWorks {
  readonly #components: IdentityWorkComponents;
  readonly #used = new Map<string, IdentityWork>();
  /** Those without a client, in the order of their last one. */
  readonly #unused = new BoundedMap<string, IdentityWork>(MAX_UNUSED);
  readonly #unsubscribe: () => void;

  constructor(components: IdentityWorkComponents) {
    this.#components = components;
    this.#unsubscribe = components.model.onChange(() => {
      for (const work of this.#used.values()) work.outdate();
    });
  }

  /** For one more client of an identity. `release` ends its use. */
  use(identityId: string): { readonly work: IdentityWork; release(): void } {
    const known = this.#used.get(identityId) ?? this.#unused.get(identityId);
    const work = known ?? new IdentityWork(this.#components, identityId);
    this.#unused.delete(identityId);
    this.#used.set(identityId, work);
    work.clients++;
    return { work, release: () => this.#release(identityId, work) };
  }

  close(): void {
    this.#unsubscribe();
  }

  #release(identityId: string, work: IdentityWork): void {
    if (--work.clients > 0) return;
    work.outdate();
    this.#used.delete(identityId);
    this.#unused.set(identityId, work);
  }
}
