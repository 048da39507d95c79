// The faults of the simulator, in the order in which they were added: the first one that matches a request or a message
// is applied, so that a rule for one request can precede one for all.

import type { Random } from '#lib/random.ts';
import { didYouMean } from '#lib/suggestion.ts';
import type { Network } from '../../network/network.ts';
import type { State } from '../../state/state.ts';
import { InvalidError, UnknownError } from '../lab-error.ts';
import { nameOfMessage } from '../message-names.ts';
import {
  type ControlRule,
  checkedFault,
  type Fault,
  type FaultHandle,
  type HttpRule,
  type NewFault,
} from './fault-rule.ts';

const MAX_FAULTS = 100;

/** A rule with its count, in the hand of its user too. */
class Active<Rule extends HttpRule | ControlRule> implements FaultHandle {
  readonly id: string;
  readonly rule: Rule;
  hits = 0;
  readonly #onRemove: (active: Active<HttpRule | ControlRule>) => void;

  constructor(id: string, rule: Rule, onRemove: (active: Active<HttpRule | ControlRule>) => void) {
    this.id = id;
    this.rule = rule;
    this.#onRemove = onRemove;
  }

  get fault(): Fault {
    return { id: this.id, hits: this.hits, ...this.rule } as Fault;
  }

  /** Counts a hit, unless the rule is used up or chance spares this one. */
  hit(random: Random): boolean {
    const { times = Number.POSITIVE_INFINITY, probability = 1 } = this.rule;
    if (this.hits >= times || (probability < 1 && random.next() >= probability)) return false;
    this.hits += 1;
    return true;
  }

  remove(): void {
    this.#onRemove(this);
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}

/** A rule and its count at one moment. */
interface Counted<Rule extends HttpRule | ControlRule> {
  readonly active: Active<Rule>;
  readonly hits: number;
}

/** The faults at one moment. */
export interface FaultsMark {
  readonly http: readonly Counted<HttpRule>[];
  readonly control: readonly Counted<ControlRule>[];
}

/** A rule that is applied now. */
export interface Applied<Rule> {
  readonly id: string;
  readonly rule: Rule;
}

export interface FaultComponents {
  readonly state: State;
  readonly network: Pick<Network, 'routers'>;
  readonly random: Random;
}

/** The parts of a request that rules match. */
export interface FaultyRequest {
  readonly method: string;
  readonly path: string;
  readonly operation: string | undefined;
  readonly identity: { readonly id: string; readonly name: string } | undefined;
}

export class Faults {
  readonly #components: FaultComponents;
  #http: readonly Active<HttpRule>[] = [];
  #control: readonly Active<ControlRule>[] = [];
  #count = 0;

  constructor(components: FaultComponents) {
    this.#components = components;
  }

  /** @throws InvalidError that names the field, or beyond the limit */
  add(fault: NewFault): FaultHandle {
    const rule = checkedFault(fault);
    if (this.#http.length + this.#control.length >= MAX_FAULTS)
      throw new InvalidError('fault', `${MAX_FAULTS} faults exist; remove one first`, '');
    this.#count += 1;
    const id = `f${this.#count}`;
    if (rule.kind === 'http') {
      const added = new Active(id, rule, this.#remove);
      this.#http = [...this.#http, added];
      return added;
    }
    const added = new Active(id, rule, this.#remove);
    this.#control = [...this.#control, added];
    return added;
  }

  /** The oldest first; those that are used up stay until they are removed. */
  list(): Fault[] {
    return [...this.#http, ...this.#control]
      .map((active) => active.fault)
      .sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
  }

  /** @throws UnknownError */
  remove(id: string): void {
    const found = [...this.#http, ...this.#control].find((active) => active.id === id);
    const ids = this.list().map((fault) => fault.id);
    if (!found)
      throw new UnknownError(
        `there is no fault ${id}; ${ids.length > 0 ? `known are ${ids.join(', ')}` : 'none exist'}`,
      );
    found.remove();
  }

  clear(): void {
    this.#http = [];
    this.#control = [];
  }

  /** The faults and their hits now, for `returnTo`. */
  mark(): FaultsMark {
    return { http: this.#http.map(counted), control: this.#control.map(counted) };
  }

  returnTo({ http, control }: FaultsMark): void {
    this.#http = http.map(activeAgain);
    this.#control = control.map(activeAgain);
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
    return this.#http.length > 0;
  }

  /** Whether a rule depends on the caller. */
  get needsIdentity(): boolean {
    return this.#http.some(({ rule }) => rule.identity !== undefined);
  }

  /** The fault of a request; counts it. */
  forRequest(request: FaultyRequest): Applied<HttpRule> | undefined {
    const { random } = this.#components;
    return this.#http.find((active) => matchesRequest(active.rule, request) && active.hit(random));
  }

  /** The fault of a message; counts it. */
  forMessage(routerId: string, direction: 'in' | 'out', contentType: number): Applied<ControlRule> | undefined {
    if (this.#control.length === 0) return undefined;
    const { random } = this.#components;
    return this.#control.find(
      (active) =>
        !active.rule.reject &&
        (active.rule.direction === undefined || active.rule.direction === direction) &&
        (active.rule.message === undefined || active.rule.message === nameOfMessage(contentType)) &&
        this.#isOf(active.rule, routerId) &&
        active.hit(random),
    );
  }

  /** The fault of a new connection; counts it. */
  forConnection(routerId: string): Applied<ControlRule> | undefined {
    const { random } = this.#components;
    return this.#control.find(
      (active) => active.rule.reject === true && this.#isOf(active.rule, routerId) && active.hit(random),
    );
  }

  readonly #remove = (removed: Active<HttpRule | ControlRule>): void => {
    this.#http = this.#http.filter((active) => active !== removed);
    this.#control = this.#control.filter((active) => active !== removed);
  };

  #isOf({ router }: ControlRule, id: string): boolean {
    return router === undefined || router === id || this.#components.state.tables.router.get(id)?.name === router;
  }
}

function counted<Rule extends HttpRule | ControlRule>(active: Active<Rule>): Counted<Rule> {
  return { active, hits: active.hits };
}

function activeAgain<Rule extends HttpRule | ControlRule>({ active, hits }: Counted<Rule>): Active<Rule> {
  active.hits = hits;
  return active;
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

/** A prefix; or a pattern for the whole path, whose `*` stands for any characters. */
export function matchesPath(pattern: string, path: string): boolean {
  if (!pattern.includes('*')) return path.startsWith(pattern);
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop() ?? '';
  if (!path.startsWith(first) || !path.endsWith(last)) return false;
  let from = first.length;
  for (const part of others) {
    const at = path.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= path.length - last.length;
}
