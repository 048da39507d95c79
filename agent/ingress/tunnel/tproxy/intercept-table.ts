// Finds the service of an intercepted connection: by the name of its destination address, else by the address itself.
// The most specific intercept wins: an exact name, then the longest wildcard; the smallest network, then the smallest
// port range.

import type { Protocol } from '../config-values.ts';
import type { NameKind } from './address-pool.ts';
import type { InterceptConfig, PortRange } from './intercept-config.ts';
import { contains, type Ipv4Range } from './ipv4.ts';

export interface Intercept extends InterceptConfig {
  /** Id of the service. */
  readonly id: string;
  /** Name of the service. */
  readonly service: string;
}

/** One intercepted connection or UDP session. */
export interface Flow {
  readonly protocol: Protocol;
  readonly source: number;
  readonly destination: number;
  readonly port: number;
  /** The name to which the destination address was assigned. */
  readonly name: string | undefined;
}

/** A label of a DNS query may contain any byte, also a dot. A host of a service cannot use such names. */
const HOST_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i;

export class InterceptTable {
  #intercepts: readonly Intercept[] = [];
  readonly #byName = new Map<string, Intercept[]>();
  readonly #byWildcard = new Map<string, Intercept[]>();

  get all(): readonly Intercept[] {
    return this.#intercepts;
  }

  replace(intercepts: readonly Intercept[]): void {
    this.#intercepts = intercepts;
    this.#byName.clear();
    this.#byWildcard.clear();
    for (const intercept of intercepts) {
      for (const name of intercept.names) append(this.#byName, name, intercept);
      for (const domain of intercept.wildcards) append(this.#byWildcard, domain, intercept);
    }
  }

  /** Names that have a permanent address. */
  get names(): Iterable<string> {
    return this.#byName.keys();
  }

  /** How a name is intercepted; undefined if it is not. */
  kindOf(name: string): NameKind | undefined {
    if (this.#byName.has(name)) return 'exact';
    if (!HOST_NAME.test(name)) return undefined;
    return domainsAbove(name).some((domain) => this.#byWildcard.has(domain)) ? 'wildcard' : undefined;
  }

  find(flow: Flow): Intercept | undefined {
    if (flow.name === undefined) return this.#findByAddress(flow);
    const groups = [this.#byName.get(flow.name), ...domainsAbove(flow.name).map((each) => this.#byWildcard.get(each))];
    for (const group of groups) {
      const found = smallest(group?.filter((each) => matches(each, flow)) ?? [], (each) => portSize(each, flow.port));
      if (found) return found;
    }
    return undefined;
  }

  #findByAddress(flow: Flow): Intercept | undefined {
    const fitting = this.#intercepts.filter(
      (each) => networkSize(each, flow.destination) < Infinity && matches(each, flow),
    );
    return smallest(fitting, (each) => networkSize(each, flow.destination) * 65_536 + portSize(each, flow.port));
  }
}

/** `a.b.c` → `b.c`, `c`, and the empty domain, which matches all names. */
function domainsAbove(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_label, index) => labels.slice(index + 1).join('.'));
}

function matches({ protocols, ports, sources }: Intercept, { protocol, port, source }: Flow): boolean {
  if (!protocols.includes(protocol) || !ports.some(({ first, last }) => port >= first && port <= last)) return false;
  return sources.length === 0 || sources.some((network) => contains(network, source));
}

function networkSize({ networks }: Intercept, address: number): number {
  return sizeOf(networks, address);
}

function portSize({ ports }: Intercept, port: number): number {
  return sizeOf(ports, port);
}

/** Size of the smallest range that contains the number. */
function sizeOf(ranges: readonly (Ipv4Range | PortRange)[], number: number): number {
  const sizes = ranges.filter((range) => contains(range, number)).map(({ first, last }) => last - first + 1);
  return Math.min(...sizes);
}

/** Ties are broken by id, so that the choice does not depend on the order of changes. */
function smallest(intercepts: readonly Intercept[], size: (intercept: Intercept) => number): Intercept | undefined {
  return [...intercepts].sort((a, b) => size(a) - size(b) || (a.id < b.id ? -1 : 1))[0];
}

function append(map: Map<string, Intercept[]>, key: string, intercept: Intercept): void {
  const list = map.get(key);
  if (list) list.push(intercept);
  else map.set(key, [intercept]);
}
