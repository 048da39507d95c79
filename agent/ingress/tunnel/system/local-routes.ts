// Addresses that this machine treats as its own: intercepted ones, so that their traffic arrives here, and source
// addresses of hosted services, so that sockets can bind to them. Each is a `local` route on `lo` with a protocol
// number and a metric of this router. By these the next start finds and removes the routes that a killed router left
// behind.

import { createHash } from 'node:crypto';
import type { Clock } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json.ts';
import type { Log } from '#lib/log.ts';
import type { ChangesMarker } from './changes-marker.ts';
import { runCommand } from './command.ts';

export interface LocalRoutesComponents {
  clock: Clock;
  log: Log;
  marker: ChangesMarker;
  routerId: string;
}

/** Marks our routes among those of the kernel and of routing daemons. Numbers from 5 on are unassigned. */
const ROUTE_PROTOCOL = 142;
/** Limit on routes. The controller provides the address lists; a mistake there must not fill the kernel's table. */
const MOST_ROUTES = 10_000;

export class LocalRoutes {
  readonly #components: LocalRoutesComponents;
  readonly #metric: number;
  /** Number of users of each route. */
  readonly #wanted = new Map<string, number>();
  readonly #installed = new Set<string>();
  readonly #rejected = new Set<string>();
  #source: string | undefined;
  #cleaned = false;
  #running: Promise<void> | undefined;

  constructor(components: LocalRoutesComponents) {
    this.#components = components;
    this.#metric = 1 + (createHash('sha256').update(components.routerId).digest().readUInt32BE() >>> 1);
  }

  /** Number of installed routes. */
  get count(): number {
    return this.#installed.size;
  }

  /** Connections of this machine to later routes leave from `address`, which must already be routed. */
  useSource(address: string): void {
    this.#source = address;
  }

  /** Adds a user of an address range. Takes effect with `apply`. */
  acquire(range: string): void {
    this.#wanted.set(range, (this.#wanted.get(range) ?? 0) + 1);
  }

  release(range: string): void {
    const users = (this.#wanted.get(range) ?? 0) - 1;
    if (users > 0) this.#wanted.set(range, users);
    else this.#wanted.delete(range);
  }

  /**
   * Installs and removes routes to match the wanted ones. Rejects with CommandError if routes cannot be listed; a route
   * that the system rejects is logged and skipped.
   */
  async apply(): Promise<void> {
    const before = this.#running ?? Promise.resolve();
    const running = before.catch(() => undefined).then(() => this.#apply());
    this.#running = running;
    await running;
  }

  /** Removes all routes of this router, including those of an earlier process. */
  async close(): Promise<void> {
    this.#wanted.clear();
    if (!this.#cleaned) return;
    try {
      await this.apply();
    } catch (error) {
      this.#components.marker.failed();
      this.#components.log.error({ error: describeError(error) }, 'routes of the tunneler could not be removed');
    }
  }

  async #apply(): Promise<void> {
    if (!this.#cleaned) await this.#removeLeftovers();
    this.#cleaned = true;
    for (const range of this.#installed) {
      if (this.#wanted.has(range)) continue;
      this.#installed.delete(range);
      await this.#change('del', range);
    }
    for (const range of this.#wanted.keys()) {
      if (this.#installed.has(range) || this.#rejected.has(range) || this.#isFull(range)) continue;
      this.#components.marker.set();
      if (await this.#change('add', range)) this.#installed.add(range);
      else this.#rejected.add(range);
    }
    for (const range of this.#rejected) if (!this.#wanted.has(range)) this.#rejected.delete(range);
  }

  #isFull(range: string): boolean {
    if (this.#installed.size < MOST_ROUTES) return false;
    this.#components.log.error({ range, most: MOST_ROUTES }, 'address is not intercepted: too many routes');
    this.#rejected.add(range);
    return true;
  }

  async #change(action: 'add' | 'del', range: string): Promise<boolean> {
    const source = action === 'add' && this.#source !== undefined ? ['src', this.#source] : [];
    try {
      await this.#ip(['route', action, 'local', range, 'dev', 'lo', ...this.#marks(), ...source]);
      return true;
    } catch (error) {
      if (action === 'del') this.#components.marker.failed();
      this.#components.log.error(
        { range, error: describeError(error) },
        `local route could not be changed (${action})`,
      );
      return false;
    }
  }

  async #removeLeftovers(): Promise<void> {
    const text = await this.#ip(['-json', 'route', 'show', 'table', 'local', 'proto', String(ROUTE_PROTOCOL)]);
    const routes = (text.trim() === '' ? [] : parseJson(text)) as { dst?: string; metric?: number }[];
    for (const { dst, metric } of routes) {
      if (dst === undefined || metric !== this.#metric) continue;
      this.#components.log.info({ range: dst }, 'route of an earlier process removed');
      await this.#change('del', dst);
    }
  }

  #marks(): string[] {
    return ['table', 'local', 'proto', String(ROUTE_PROTOCOL), 'metric', String(this.#metric)];
  }

  #ip(args: readonly string[]): Promise<string> {
    return runCommand({ program: 'ip', args }, this.#components.clock);
  }
}
