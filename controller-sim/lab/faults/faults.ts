// The faults of the simulator, in the order in which they were added: the first one that matches a request, a message,
// a connection or a change is applied, so that a rule for one request can precede one for all.

import { Listeners } from '#lib/listeners.ts';
import { type Log, silentLog } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import { didYouMean } from '#lib/text/suggestion.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Network } from '../../network/network.ts';
import { requireFields } from '../input.ts';
import { InvalidError, UnknownError } from '../lab-error.ts';
import { nameOfMessage } from '../message-names.ts';
import { type NamedTable, named } from '../named.ts';
import { matchesPath } from '../request-paths.ts';
import { Active } from './active.ts';
import type {
  CheckedAnswer,
  ConnectionRule,
  ControlRule,
  Fault,
  FaultFilter,
  FaultHandle,
  HttpRule,
  NewFault,
  Rule,
  StoreRule,
} from './fault.ts';
import { checkedFault } from './fault-rule.ts';

const MAX_FAULTS = 100;

/** The faults and their hits at one moment. */
export interface FaultsMark {
  readonly active: readonly { readonly fault: Active; readonly hits: number }[];
}

/** A rule that is applied now. */
export interface Applied<R> {
  readonly id: string;
  readonly rule: R;
}

/** The answer of a rule to one request. */
export interface AppliedAnswer extends Applied<HttpRule> {
  readonly answer: CheckedAnswer;
}

export interface FaultComponents {
  readonly state: { readonly tables: Readonly<Record<'identity' | 'router', NamedTable>> };
  readonly network: Pick<Network, 'routers'>;
  readonly random: Random;
  /** For the end of faults that last some time. */
  readonly wireClock: Clock;
  readonly log?: Log;
}

/** The parts of a request that rules match. */
export interface FaultyRequest {
  readonly method: string;
  readonly path: string;
  readonly operation: string | undefined;
  readonly identity: { readonly id: string; readonly name: string } | undefined;
}

/** The parts of a connection that rules match. */
export interface FaultyConnection {
  /** Name of the proxy that carries it. */
  readonly proxy: string;
  readonly carries: 'link' | 'sdk' | undefined;
  /** Names of the routers at its ends; undefined for other programs. */
  readonly listener: string | undefined;
  readonly dialer: string | undefined;
  /** The id of each rule that was considered → whether it affects this connection. */
  readonly decided: Map<string, boolean>;
}

/** Names that rules may have, beside those of entities. */
export interface KnownPlaces {
  /** Names of the proxies. */
  proxies(): Iterable<string>;
  /** Names of the routers whose links and SDK connections pass proxies. */
  routers(): Iterable<string>;
}

const NOWHERE: KnownPlaces = { proxies: () => [], routers: () => [] };

export class Faults {
  readonly #components: FaultComponents;
  readonly #changed: Listeners<void>;
  #places = NOWHERE;
  #active: readonly Active[] = [];
  #count = 0;
  #end: Timer | undefined;

  constructor(components: FaultComponents) {
    this.#components = components;
    this.#changed = new Listeners('faults', components.log ?? silentLog);
  }

  /**
   * Adds a fault. `using fault = faults.add(…)` removes it at the end of the block. @throws InvalidError that names the
   * field, or beyond the limit; UnknownError for an identity, a router or a proxy that does not exist
   */
  add(fault: NewFault): FaultHandle {
    const rule = checkedFault(fault);
    this.#requireKnown(rule);
    if (this.#active.length >= MAX_FAULTS)
      throw new InvalidError('fault', `${MAX_FAULTS} faults exist; remove one first`, '');
    this.#count += 1;
    const { monotonic, end } = this.#ending(rule);
    const added = new Active(`f${this.#count}`, rule, end ?? Number.POSITIVE_INFINITY, (active) =>
      this.#remove(active),
    );
    this.#set([...this.#active, added], monotonic);
    return added;
  }

  /** The oldest first; those that are used up or have ended stay until they are removed. */
  list(): Fault[] {
    return this.#active.map(({ fault }) => fault);
  }

  /** Those that still affect something: neither used up nor ended. The oldest first. */
  inForce(): Fault[] {
    const now = this.#components.wireClock.monotonic();
    return this.#active.filter((active) => active.isInForce(now)).map(({ fault }) => fault);
  }

  /** @throws UnknownError */
  remove(id: string): void {
    const ids = this.#active.map((active) => active.id);
    const found = this.#active.find((active) => active.id === id);
    if (!found)
      throw new UnknownError(
        `there is no fault ${id}; ${ids.length > 0 ? `known are ${ids.join(', ')}` : 'none exist'}`,
      );
    found.remove();
  }

  /** Removes all faults, or those of a scope. @throws InvalidError for an unknown field */
  clear(filter: FaultFilter = {}): void {
    requireFields(filter, ['scope']);
    const { scope } = filter;
    this.#set(scope === undefined ? [] : this.#active.filter(({ rule }) => rule.scope !== scope));
  }

  /** The faults and their hits now, for `returnTo`. */
  mark(): FaultsMark {
    return { active: this.#active.map((fault) => ({ fault, hits: fault.hits })) };
  }

  returnTo({ active }: FaultsMark): void {
    for (const { fault, hits } of active) fault.hits = hits;
    this.#set(active.map(({ fault }) => fault));
  }

  /** Calls `listener` after each change of the faults, until the returned function is called. */
  onChange(listener: () => void): () => void {
    return this.#changed.add(listener);
  }

  /** The names of proxies and of routers behind them that rules may have. */
  know(places: KnownPlaces): void {
    this.#places = places;
  }

  close(): void {
    this.#end?.cancel();
    this.#changed.clear();
  }

  /** Closes the control channel of a router (id or name), which connects again. @throws UnknownError */
  disconnect(router: string): void {
    const { network, state } = this.#components;
    const connected = [...network.routers.values()];
    const nameOf = (id: string) => state.tables.router.get(id)?.name ?? id;
    const found = connected.find(({ id }) => id === router) ?? connected.find(({ id }) => nameOf(id) === router);
    if (!found) {
      const names = connected.map(({ id }) => nameOf(id));
      const known = didYouMean(router, names) || (names.length > 0 ? `connected are ${names.join(', ')}` : 'none is');
      throw new UnknownError(`router ${router} is not connected; ${known}`);
    }
    found.channel.close();
  }

  get hasHttp(): boolean {
    return this.#active.some(({ rule }) => rule.kind === 'http');
  }

  /** Whether a rule depends on the caller. */
  get needsIdentity(): boolean {
    return this.#active.some(({ rule }) => rule.kind === 'http' && rule.identity !== undefined);
  }

  /** The fault of a request; counts it. */
  forRequest(request: FaultyRequest): AppliedAnswer | undefined {
    const found = this.#find<HttpRule>((rule) => rule.kind === 'http' && matchesRequest(rule, request));
    return found && { id: found.id, rule: found.rule as HttpRule, answer: found.answer };
  }

  /** The fault of a message; counts it. */
  forMessage(routerId: string, direction: 'in' | 'out', contentType: number): Applied<ControlRule> | undefined {
    return this.#find<ControlRule>(
      (rule) =>
        rule.kind === 'control' &&
        !rule.reject &&
        (rule.direction === undefined || rule.direction === direction) &&
        (rule.message === undefined || rule.message === nameOfMessage(contentType)) &&
        this.#isOf(rule, routerId),
    );
  }

  /** The fault of a new control channel; counts it. */
  forChannel(routerId: string): Applied<ControlRule> | undefined {
    return this.#find<ControlRule>(
      (rule) => rule.kind === 'control' && rule.reject === true && this.#isOf(rule, routerId),
    );
  }

  /** The fault of the next change in the store; counts it. */
  forStore(): Applied<StoreRule> | undefined {
    return this.#find<StoreRule>((rule) => rule.kind === 'store');
  }

  /** The fault of one direction of a connection; counts the connection once. */
  forConnection(connection: FaultyConnection, direction: 'up' | 'down'): Applied<ConnectionRule> | undefined {
    const { random, wireClock } = this.#components;
    const now = wireClock.monotonic();
    const found = this.#active.find((active) => {
      const { rule, id, end } = active;
      if (!isOfConnection(rule) || (rule.direction ?? direction) !== direction || now >= end) return false;
      if (!matchesConnection(rule, connection)) return false;
      const decided = connection.decided.get(id) ?? active.hit(random, now);
      connection.decided.set(id, decided);
      return decided;
    });
    return found as (Active & { readonly rule: ConnectionRule }) | undefined;
  }

  #remove(removed: Active): void {
    if (this.#active.includes(removed)) this.#set(this.#active.filter((active) => active !== removed));
  }

  #find<R extends Rule>(matches: (rule: Rule) => boolean): (Active & { readonly rule: R }) | undefined {
    if (this.#active.length === 0) return undefined;
    const { random, wireClock } = this.#components;
    const now = wireClock.monotonic();
    const found = this.#active.find((active) => matches(active.rule) && active.hit(random, now));
    return found as (Active & { readonly rule: R }) | undefined;
  }

  #isOf({ router }: ControlRule, id: string): boolean {
    return router === undefined || router === id || this.#components.state.tables.router.get(id)?.name === router;
  }

  #ending({ lasts }: Rule): { readonly monotonic: number; readonly end?: number } {
    const monotonic = this.#components.wireClock.monotonic();
    return { monotonic, ...(lasts !== undefined && { end: monotonic + lasts }) };
  }

  /** A fault that has an effect over time, such as a stall, ends with a change. */
  #set(active: readonly Active[], now = this.#components.wireClock.monotonic()): void {
    this.#active = active;
    this.#end?.cancel();
    const next = Math.min(...active.flatMap(({ end }) => (end > now ? [end] : [])));
    this.#end = Number.isFinite(next)
      ? this.#components.wireClock.after('fault end', next - now, () => this.#set(this.#active))
      : undefined;
    this.#changed.call();
  }

  /** A misspelt name would affect nothing, and a test would pass for the wrong reason. */
  #requireKnown(rule: Rule): void {
    const { state } = this.#components;
    if (rule.kind === 'http' && rule.identity !== undefined) named(state.tables.identity, 'identity', rule.identity);
    if (rule.kind === 'control' && rule.router !== undefined) named(state.tables.router, 'router', rule.router);
    if (rule.kind === 'link' || rule.kind === 'sdk') {
      requirePlace('router of a test network', rule.router, this.#places.routers());
      if (rule.kind === 'link') requirePlace('router of a test network', rule.peer, this.#places.routers());
    }
    if (rule.kind === 'proxy') requirePlace('proxy', rule.proxy, this.#places.proxies());
  }
}

function requirePlace(word: string, given: string | undefined, known: Iterable<string>): void {
  const names = [...known];
  if (given === undefined || names.includes(given)) return;
  const meant = didYouMean(given, names) || (names.length > 0 ? `known are ${names.join(', ')}` : 'none exists');
  throw new UnknownError(`there is no ${word} ${given}; ${meant}`);
}

function isOfConnection(rule: Rule): rule is ConnectionRule {
  return rule.kind === 'link' || rule.kind === 'sdk' || rule.kind === 'proxy';
}

function matchesConnection(rule: ConnectionRule, { proxy, carries, listener, dialer }: FaultyConnection): boolean {
  if (rule.kind === 'proxy') return rule.proxy === undefined || rule.proxy === proxy;
  if (rule.kind !== carries) return false;
  if (rule.kind === 'sdk') return rule.router === undefined || rule.router === listener;
  const ends = [listener, dialer];
  const wanted = [rule.router, rule.peer].filter((name) => name !== undefined);
  return wanted.every((name) => ends.includes(name));
}

function matchesRequest(rule: HttpRule, { method, path, operation, identity }: FaultyRequest): boolean {
  return (
    (rule.method === undefined || rule.method === method) &&
    (rule.operation === undefined || rule.operation === operation) &&
    (rule.path === undefined || matchesPath(rule.path, path)) &&
    (rule.identity === undefined ||
      (identity !== undefined && (identity.id === rule.identity || identity.name === rule.identity)))
  );
}
