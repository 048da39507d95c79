// Proxies in front of the routers: the simulator tells each router another address for the links of each other router,
// and SDK clients another address of the router. So faults act on links and SDK connections of any router, without a
// change of its configuration.
//
//   router a ─► proxy link:a:b ─► listener of router b          client ─► proxy sdk:b ─► listener of router b

import { type Address, formatAddress, joinHostPort, parseAddress } from '#lib/net/address.ts';
import type { Listener } from '#wire/gen/control_pb.js';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { RouterAddresses } from '../../network/router-addresses.ts';
import type { State } from '../../state/state.ts';
import type { Target } from './proxied-connection.ts';
import type { Proxies, TcpProxy } from './proxies.ts';

/** Proxies of this kind: each pair of routers has two for each listener. */
const MAX_ROUTER_PROXIES = 1_000;
const BY_TCP: ReadonlySet<string> = new Set(['tls', 'tcp', 'ws', 'wss']);

export interface RouterProxyComponents {
  readonly state: Pick<State, 'tables'>;
  readonly proxies: Pick<Proxies, 'openFor' | 'drop'>;
  /** The routers that are connected. */
  readonly routers: ReadonlyMap<string, ConnectedRouter>;
}

export class RouterProxies implements RouterAddresses {
  readonly #components: RouterProxyComponents;
  /** `link:dialer:listener:n` and `sdk:router` with ids → the proxy. */
  readonly #open = new Map<
    string,
    { readonly proxy: Promise<TcpProxy>; opened?: TcpProxy; readonly routers: string[] }
  >();

  constructor(components: RouterProxyComponents) {
    this.#components = components;
  }

  /** Opens the proxies that a router needs, before the others learn of it. */
  async prepare({ id, linkListeners }: ConnectedRouter): Promise<void> {
    const { state, routers } = this.#components;
    await this.#forgetDeleted();
    const ids = [...state.tables.router.values()].map((each) => each.id).filter((each) => each !== id);
    const opening = [
      this.#prepare(`sdk:${id}`, [id], 'sdk'),
      ...linkListeners.flatMap((_, place) => ids.map((dialer) => this.#prepareLink(dialer, id, place))),
      ...ids.flatMap((listener) =>
        (routers.get(listener)?.linkListeners ?? []).map((_, place) => this.#prepareLink(id, listener, place)),
      ),
    ];
    await Promise.all(opening);
  }

  links(listener: ConnectedRouter, dialerId: string): Listener[] {
    return listener.linkListeners.map((each, place) => {
      const proxy = this.#open.get(`link:${dialerId}:${listener.id}:${place}`)?.opened;
      const address = proxy && tcpAddress(each.address);
      if (!address) return each;
      return { ...each, address: formatAddress({ type: address.type, host: proxy.host, port: proxy.port }) };
    });
  }

  edge(routerId: string, urls: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const proxy = this.#open.get(`sdk:${routerId}`)?.opened;
    if (!proxy || !urlTarget(urls.tls)) return urls;
    return { ...urls, tls: `tls://${joinHostPort(proxy.host, proxy.port)}` };
  }

  #prepareLink(dialer: string, listener: string, place: number): Promise<unknown> {
    return this.#prepare(`link:${dialer}:${listener}:${place}`, [dialer, listener], 'link');
  }

  #prepare(key: string, routers: string[], carries: 'link' | 'sdk'): Promise<unknown> {
    const known = this.#open.get(key);
    if (known) return known.proxy;
    if (this.#open.size >= MAX_ROUTER_PROXIES) return Promise.resolve();
    const names = routers.map((id) => this.#components.state.tables.router.get(id)?.name ?? id);
    const [first = '', last = first] = names;
    const place = key.split(':')[3] ?? '0';
    const name = [carries, ...names, ...(place === '0' ? [] : [place])].join(':');
    const target = () => this.#targetOf(carries, routers.at(-1) ?? '', Number(place));
    const carried = { carries, router: last, target, ...(carries === 'link' && { dialer: first }) };
    const proxy = this.#components.proxies.openFor(name, carried);
    const entry: { proxy: Promise<TcpProxy>; opened?: TcpProxy; routers: string[] } = { proxy, routers };
    this.#open.set(key, entry);
    return proxy.then(
      (opened) => {
        entry.opened = opened;
      },
      () => this.#open.delete(key),
    );
  }

  #targetOf(carries: 'link' | 'sdk', routerId: string, place: number): Target | undefined {
    const router = this.#components.routers.get(routerId);
    if (carries === 'sdk') return urlTarget(router?.supportedProtocols.tls);
    return tcpAddress(router?.linkListeners[place]?.address ?? '');
  }

  async #forgetDeleted(): Promise<void> {
    const { state, proxies } = this.#components;
    for (const [key, { routers, opened }] of this.#open) {
      if (!opened || routers.every((id) => state.tables.router.has(id))) continue;
      this.#open.delete(key);
      await proxies.drop(opened);
    }
  }
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
