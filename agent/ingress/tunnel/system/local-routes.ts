// Addresses that this machine treats as its own: intercepted ones, so that their traffic arrives here, and source
// addresses of hosted services, so that sockets can bind to them. Each is a `local` route on `lo` with a protocol
// number and a metric of this router. By these the next start finds and removes the routes that a killed router left
// behind. A periodic check restores routes that other programs removed, and retries failed changes.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Log } from '#lib/log/log.ts';
import { LASTING, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import { Turns } from '#lib/queue/turns.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
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
const MAX_ROUTES = 10_000;
/** Milliseconds between checks whether the routes exist, and retries of failed changes. */
const CHECK = 30_000;
/** Limit on the list of our routes, in bytes: each takes up to 200. */
const MAX_LISTED_BYTES = 16 * 1024 * 1024;
/** Ranges in one log line. */
const IN_LOG_LINE = 10;
/** The kernel's text for a route that does not exist. */
const NO_ROUTE = 'No such process';
/** Exists if the kernel supports IPv6. */
const IPV6_INTERFACES = '/proc/net/if_inet6';

/** `replace` also adds, and does not fail if an attempt that timed out has added the route. */
type Action = 'replace' | 'del';

export class LocalRoutes {
  readonly #components: LocalRoutesComponents;
  readonly #metric: number;
  /** Number of users of each route, by normalized range. */
  readonly #wanted = new Map<string, number>();
  #installed: Set<string> = new Set();
  /** Ranges whose route the system did not add or delete, with the reason. */
  readonly #failed = new Map<string, string>();
  #check: Timer | undefined;
  #isChecking = false;
  /** Why the last check failed. */
  readonly #problem: RepeatedCondition;
  #isFull = false;
  #source: string | undefined;
  #cleaned = false;
  readonly #turns = new Turns();
  #isClosed = false;

  constructor(components: LocalRoutesComponents) {
    this.#components = components;
    this.#problem = new RepeatedCondition(components.clock, LASTING);
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
   * Installs and removes routes to match the wanted ones. Rejects with CommandError if routes of an earlier process
   * cannot be removed; a route that the system does not change is logged. Both are retried until `close`.
   */
  apply(): Promise<void> {
    const { clock, log } = this.#components;
    if (!this.#isClosed)
      this.#check ??= clock.every('local routes check', CHECK, () =>
        background(log, 'local routes check', this.#checkAll()),
      );
    return this.#turns.run(() => this.#apply(false));
  }

  /** Removes all routes of this router, and waits for its commands. */
  async close(): Promise<void> {
    this.#wanted.clear();
    this.#isClosed = true;
    this.#check?.cancel();
    await this.#turns.settled();
    if (this.#installed.size === 0 && this.#failed.size === 0) return;
    const { log, marker } = this.#components;
    try {
      for (const family of families()) await this.#flush(family);
      this.#installed.clear();
      this.#failed.clear();
    } catch (error) {
      marker.failed();
      log.error({ error: describeError(error) }, 'routes of the tunneler could not be removed');
    }
  }

  /** Removes the routes that a killed router left behind. Rejects with CommandError. */
  async removeLeftovers(): Promise<void> {
    const { log } = this.#components;
    for (const family of families()) {
      const ranges = await this.#list(family);
      if (ranges.length === 0) continue;
      await this.#flush(family);
      log.info({ routes: ranges.length, ranges: ranges.slice(0, IN_LOG_LINE) }, 'routes of an earlier process removed');
    }
  }

  async #apply(isRetry: boolean): Promise<void> {
    if (!this.#cleaned) await this.removeLeftovers();
    this.#cleaned = true;
    const isDue = (range: string) => isRetry || !this.#failed.has(range);
    for (const range of this.#installed) {
      if (this.#wanted.has(range)) this.#failed.delete(range);
      else if (isDue(range) && (await this.#change('del', range))) this.#installed.delete(range);
    }
    let leftOut = 0;
    for (const range of this.#wanted.keys()) {
      if (this.#installed.has(range) || !isDue(range)) continue;
      if (this.#installed.size >= MAX_ROUTES) {
        leftOut++;
        continue;
      }
      this.#components.marker.set();
      if (await this.#change('replace', range)) this.#installed.add(range);
    }
    this.#reportFull(leftOut);
    for (const range of this.#failed.keys())
      if (this.#wanted.has(range) === this.#installed.has(range)) this.#failed.delete(range);
  }

  /** Later calls of `apply` add these routes once others are released. */
  #reportFull(leftOut: number): void {
    const wasFull = this.#isFull;
    this.#isFull = leftOut > 0;
    if (this.#isFull && !wasFull)
      this.#components.log.error({ leftOut, max: MAX_ROUTES }, 'addresses are not routed: too many routes');
  }

  /** Logs a failure once. */
  async #checkAll(): Promise<void> {
    if (this.#isChecking || (this.#wanted.size === 0 && this.#installed.size === 0)) return;
    this.#isChecking = true;
    try {
      await this.#turns.run(async () => {
        await this.#compare();
        await this.#apply(true);
      });
      this.#problem.ended();
    } catch (error) {
      const problem = describeError(error);
      if (this.#problem.happened(problem))
        this.#components.log.error({ error: problem }, 'local routes could not be checked, retrying');
    } finally {
      this.#isChecking = false;
    }
  }

  /** Reads which routes exist: other programs remove routes, and a change that timed out may have taken effect. */
  async #compare(): Promise<void> {
    if (!this.#cleaned || this.#isClosed) return;
    const found = new Set<string>();
    for (const family of families()) for (const range of await this.#list(family)) found.add(normalizeRange(range));
    const missing = [...this.#installed.difference(found)].filter((range) => this.#wanted.has(range));
    this.#installed = found;
    if (missing.length > 0)
      this.#components.log.warn(
        { routes: missing.length, ranges: missing.slice(0, IN_LOG_LINE) },
        'local routes were removed by another program, restoring',
      );
  }

  async #change(action: Action, range: string): Promise<boolean> {
    const own = this.#source;
    const hasSource = action === 'replace' && own !== undefined && range !== `${own}/32` && !isIpv6Range(range);
    const source = hasSource ? ['src', own] : [];
    try {
      await this.#ip(['route', action, 'local', range, 'dev', 'lo', ...this.#marks(), ...source]);
      this.#failed.delete(range);
      return true;
    } catch (error) {
      const reason = describeError(error);
      if (action === 'del' && reason.includes(NO_ROUTE)) return true; // another program has deleted it
      const isKnown = this.#failed.get(range) === reason;
      this.#failed.set(range, reason);
      const message = `local route could not be ${action === 'del' ? 'removed' : 'added'}, retrying`;
      if (!isKnown) this.#components.log.error({ range, error: reason }, message);
      return false;
    }
  }

  /** The ranges of all routes of this router. */
  async #list(family: string): Promise<string[]> {
    const text = await this.#ip([family, '-json', 'route', 'show', ...this.#marks()]);
    const routes = (text.trim() === '' ? [] : parseJson(text)) as { dst?: string }[];
    return routes.map(({ dst = '' }) => dst);
  }

  /** One call removes all routes of a family: there may be thousands. */
  #flush(family: string): Promise<string> {
    return this.#ip([family, 'route', 'flush', ...this.#marks()]);
  }

  #marks(): string[] {
    return ['table', 'local', 'proto', String(ROUTE_PROTOCOL), 'metric', String(this.#metric)];
  }

  #ip(args: readonly string[]): Promise<string> {
    return runCommand({ program: 'ip', args, maxOutput: MAX_LISTED_BYTES }, this.#components.clock);
  }
}

function families(): string[] {
  return existsSync(IPV6_INTERFACES) ? ['-4', '-6'] : ['-4'];
}
