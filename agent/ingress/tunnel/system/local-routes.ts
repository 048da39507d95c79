// Addresses that this machine treats as its own: intercepted ones, so that their traffic arrives here, and source
// addresses of hosted services, so that sockets can bind to them. Each is a `local` route on `lo` with a protocol
// number and a metric of this router. By these the next start finds and removes the routes that a killed router left
// behind.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { background } from '#lib/background.ts';
import type { Clock, Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json.ts';
import type { Log } from '#lib/log.ts';
import type { ChangesMarker } from './changes-marker.ts';
import { runCommand } from './command.ts';
import { isIpv6Range, normalizeRange } from './route-range.ts';

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
/** Milliseconds until rejected routes are retried. */
const RETRY = 30_000;
/** Limit on the list of leftover routes, in bytes: each takes up to 200. */
const MOST_LISTED = 16 * 1024 * 1024;
/** Ranges in one log line. */
const IN_LOG_LINE = 10;
/** The kernel's text for a route that does not exist. */
const NO_ROUTE = 'No such process';
/** Exists if the kernel supports IPv6. */
const IPV6_INTERFACES = '/proc/net/if_inet6';

export class LocalRoutes {
  readonly #components: LocalRoutesComponents;
  readonly #metric: number;
  /** Number of users of each route, by normalized range. */
  readonly #wanted = new Map<string, number>();
  readonly #installed = new Set<string>();
  /** Wanted ranges that the system rejected, with the reason. */
  readonly #rejected = new Map<string, string>();
  #retry: Timer | undefined;
  #isRetryDue = false;
  #isFull = false;
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

  /** IPv4 connections of this machine to later routes leave from `address`, which must already be routed. */
  useSource(address: string): void {
    this.#source = address;
  }

  /** Adds a user of an address range. Takes effect with `apply`. */
  acquire(text: string): void {
    const range = normalizeRange(text);
    this.#wanted.set(range, (this.#wanted.get(range) ?? 0) + 1);
  }

  release(text: string): void {
    const range = normalizeRange(text);
    const users = (this.#wanted.get(range) ?? 0) - 1;
    if (users > 0) this.#wanted.set(range, users);
    else this.#wanted.delete(range);
  }

  /**
   * Installs and removes routes to match the wanted ones. Rejects with CommandError if routes cannot be listed; a route
   * that the system rejects is logged and retried later.
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
    const isRetry = this.#isRetryDue;
    this.#isRetryDue = false;
    let leftOut = 0;
    for (const range of this.#wanted.keys()) {
      if (this.#installed.has(range) || (this.#rejected.has(range) && !isRetry)) continue;
      if (this.#installed.size >= MOST_ROUTES) {
        leftOut++;
        continue;
      }
      this.#components.marker.set();
      if (await this.#change('add', range)) this.#installed.add(range);
    }
    this.#reportFull(leftOut);
    for (const range of this.#rejected.keys()) if (!this.#wanted.has(range)) this.#rejected.delete(range);
    this.#scheduleRetry();
  }

  /** Later calls of `apply` add these routes once others are released. */
  #reportFull(leftOut: number): void {
    const wasFull = this.#isFull;
    this.#isFull = leftOut > 0;
    if (this.#isFull && !wasFull)
      this.#components.log.error({ leftOut, most: MOST_ROUTES }, 'addresses are not routed: too many routes');
  }

  #scheduleRetry(): void {
    const { clock, log } = this.#components;
    if (this.#rejected.size === 0) {
      this.#retry?.cancel();
      this.#retry = undefined;
      return;
    }
    this.#retry ??= clock.after('local routes retry', RETRY, () => {
      this.#retry = undefined;
      this.#isRetryDue = true;
      background(log, 'local routes retry', this.apply());
    });
  }

  async #change(action: 'add' | 'del', range: string): Promise<boolean> {
    const hasSource = action === 'add' && this.#source !== undefined && !isIpv6Range(range);
    const source = hasSource ? ['src', this.#source ?? ''] : [];
    try {
      await this.#ip(['route', action, 'local', range, 'dev', 'lo', ...this.#marks(), ...source]);
      this.#rejected.delete(range);
      return true;
    } catch (error) {
      const reason = describeError(error);
      if (action === 'del' && reason.includes(NO_ROUTE)) return true; // another program has deleted it
      const isKnown = this.#rejected.get(range) === reason;
      if (action === 'add') this.#rejected.set(range, reason);
      else this.#components.marker.failed();
      if (!isKnown)
        this.#components.log.error({ range, error: reason }, `local route could not be changed (${action})`);
      return false;
    }
  }

  /** One call removes all routes of a family: there may be thousands. */
  async #removeLeftovers(): Promise<void> {
    const { log, marker } = this.#components;
    for (const family of existsSync(IPV6_INTERFACES) ? ['-4', '-6'] : ['-4']) {
      const text = await this.#ip([family, '-json', 'route', 'show', ...this.#marks()]);
      const routes = (text.trim() === '' ? [] : parseJson(text)) as { dst?: string }[];
      if (routes.length === 0) continue;
      try {
        await this.#ip([family, 'route', 'flush', ...this.#marks()]);
        const ranges = routes.slice(0, IN_LOG_LINE).map(({ dst }) => dst);
        log.info({ routes: routes.length, ranges }, 'routes of an earlier process removed');
      } catch (error) {
        marker.failed();
        log.error({ error: describeError(error) }, 'routes of an earlier process could not be removed');
      }
    }
  }

  #marks(): string[] {
    return ['table', 'local', 'proto', String(ROUTE_PROTOCOL), 'metric', String(this.#metric)];
  }

  #ip(args: readonly string[]): Promise<string> {
    return runCommand({ program: 'ip', args, mostOutput: MOST_LISTED }, this.#components.clock);
  }
}
