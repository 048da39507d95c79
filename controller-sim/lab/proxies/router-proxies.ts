// Proxies in front of the routers: the simulator tells each router another address for the links of each other router,
// and SDK clients another address of the router. So faults act on links and SDK connections of any router, without a
// change of its configuration.
//
//   router a ─► proxy link:a:b ─► listener of router b          client ─► proxy sdk:b ─► listener of router b
//
// A router says itself where it listens. So that it does not make the simulator a way to any place, only the port
// counts: a proxy leads to the address from which the router has connected to this controller, or to what an
// administrator allows. Names that an administrator allows are resolved at each connection.

import { type Address, formatAddress, joinHostPort, parseAddress } from '#lib/net/address.ts';
import { Budget } from '#lib/queue/budget.ts';
import type { Listener } from '#wire/gen/control_pb.js';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { RouterAddresses } from '../../network/router-addresses.ts';
import type { State } from '../../state/state.ts';
import type { Target } from './proxied-connection.ts';
import type { Proxies, TcpProxy } from './proxies.ts';
import type { ProxyTargets } from './proxy-targets.ts';

/** Proxies of this kind: each pair of routers has two for each listener. */
const MAX_ROUTER_PROXIES = 1_000;
/** Those that lead to one router, and its listeners among which they are: it chooses their number. */
const MAX_OF_ROUTER = 100;
const MAX_LISTENERS = 8;
const BY_TCP: ReadonlySet<string> = new Set(['tls', 'tcp', 'ws', 'wss']);

export interface RouterProxyComponents {
  readonly state: Pick<State, 'tables'>;
  readonly proxies: Pick<Proxies, 'openFor' | 'drop'>;
  /** The routers that are connected. */
  readonly routers: ReadonlyMap<string, ConnectedRouter>;
  readonly targets: Pick<ProxyTargets, 'allow'>;
  /** The host under which others reach the proxies; undefined: the address on which they listen. */
  readonly host?: string | undefined;
}

export class RouterProxies implements RouterAddresses {
  readonly #components: RouterProxyComponents;
  readonly #budget = new Budget({ max: MAX_ROUTER_PROXIES, maxOfSource: MAX_OF_ROUTER });
  /** `link:dialer:listener:n` and `sdk:router` with ids → the proxy. */
  readonly #open = new Map<
    string,
    { readonly proxy: Promise<TcpProxy>; opened?: TcpProxy; readonly routers: string[] }
  >();

  constructor(components: RouterProxyComponents) {
    this.#components = components;
  }

  /** Opens the proxies that a router needs, before the others learn of it. */
  async prepare(router: ConnectedRouter): Promise<void> {
    const { id } = router;
    const { state, routers } = this.#components;
    await this.#forgetDeleted();
    const ids = [...state.tables.router.values()].map((each) => each.id).filter((each) => each !== id);
    const opening = [
      this.#prepare(`sdk:${id}`, [id], 'sdk'),
      ...proxied(router).flatMap((_, place) => ids.map((dialer) => this.#prepareLink(dialer, id, place))),
      ...ids.flatMap((listener) =>
        proxied(routers.get(listener)).map((_, place) => this.#prepareLink(id, listener, place)),
      ),
    ];
    await Promise.all(opening);
  }

  links(listener: ConnectedRouter, dialerId: string): Listener[] {
    return listener.linkListeners.map((each, place) => {
      const proxy = this.#open.get(`link:${dialerId}:${listener.id}:${place}`)?.opened;
      const address = proxy && tcpAddress(each.address);
      if (!address) return each;
      return { ...each, address: formatAddress({ type: address.type, ...this.#placeOf(proxy) }) };
    });
  }

  edge(routerId: string, urls: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const proxy = this.#open.get(`sdk:${routerId}`)?.opened;
    if (!proxy || !urlTarget(urls.tls)) return urls;
    const { host, port } = this.#placeOf(proxy);
    return { ...urls, tls: `tls://${joinHostPort(host, port)}` };
  }

  #placeOf({ host, port }: TcpProxy): Target {
    return { host: this.#components.host ?? host, port };
  }

  #prepareLink(dialer: string, listener: string, place: number): Promise<unknown> {
    return this.#prepare(`link:${dialer}:${listener}:${place}`, [dialer, listener], 'link');
  }

  #prepare(key: string, routers: string[], carries: 'link' | 'sdk'): Promise<unknown> {
    const known = this.#open.get(key);
    if (known) return known.proxy;
    const listener = routers.at(-1) ?? '';
    if (!this.#budget.acquire(listener)) return Promise.resolve();
    const names = routers.map((id) => this.#components.state.tables.router.get(id)?.name ?? id);
    const [first = '', last = first] = names;
    const place = key.split(':')[3] ?? '0';
    const name = [carries, ...names, ...(place === '0' ? [] : [place])].join(':');
    const target = () => this.#targetOf(carries, listener, Number(place));
    const carried = { carries, router: last, target, ...(carries === 'link' && { dialer: first }) };
    const proxy = this.#components.proxies.openFor(name, carried);
    const entry: { proxy: Promise<TcpProxy>; opened?: TcpProxy; routers: string[] } = { proxy, routers };
    this.#open.set(key, entry);
    return proxy.then(
      (opened) => {
        entry.opened = opened;
      },
      () => this.#forget(key, entry),
    );
  }

  #targetOf(carries: 'link' | 'sdk', routerId: string, place: number): Target | undefined {
    const router = this.#components.routers.get(routerId);
    if (!router) return undefined;
    const advertised =
      carries === 'sdk'
        ? urlTarget(router.supportedProtocols.tls)
        : tcpAddress(router.linkListeners[place]?.address ?? '');
    if (!advertised) return undefined;
    const { port } = advertised;
    const host = this.#components.targets.allow(advertised.host) ? advertised.host : router.remoteAddress;
    return host === '' ? undefined : { host, port };
  }

  #forget(key: string, { routers }: { readonly routers: readonly string[] }): void {
    if (this.#open.delete(key)) this.#budget.release(routers.at(-1) ?? '');
  }

  async #forgetDeleted(): Promise<void> {
    const { state, proxies } = this.#components;
    for (const [key, entry] of this.#open) {
      const { routers, opened } = entry;
      if (!opened || routers.every((id) => state.tables.router.has(id))) continue;
      this.#forget(key, entry);
      await proxies.drop(opened);
    }
  }
}

/** The listeners of a router that have proxies. */
function proxied(router: ConnectedRouter | undefined): readonly Listener[] {
  return router?.linkListeners.slice(0, MAX_LISTENERS) ?? [];
}

/** `tls://host:port` */
function urlTarget(url: string | undefined): Target | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  return port === '' ? undefined : { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Undefined for links over datagrams, and for the mistake of a router. */
function tcpAddress(text: string): Address | undefined {
  try {
    const address = parseAddress(text);
    return BY_TCP.has(address.type) ? address : undefined;
  } catch {
    return undefined; // the routers that dial it report it
  }
}
