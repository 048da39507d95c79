// TCP proxies of the lab: each listens on a port and leads to one target, so that faults act on its connections. The
// links and the SDK connections of a test network pass proxies of their own.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { ClosedError, describeError } from '#lib/errors.ts';
import { joinHostPort, MAX_PORT, splitHostPort } from '#lib/net/address.ts';
import { maxClientSockets, openFileLimit } from '#lib/net/client-sockets.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { WorkSlots } from '#lib/queue/fair-slots.ts';
import { HolderBudgets } from '#lib/queue/holder-budgets.ts';
import type { Random } from '#lib/random.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Faults, FaultyConnection } from '../faults/faults.ts';
import { InvalidError, UnknownError } from '../lab-error.ts';
import { ProxiedConnection, type Target } from './proxied-connection.ts';

const MAX_PROXIES = 100;
/** Connections of all proxies, and part of the sockets of clients that they may be: each has two. */
const MAX_CONNECTIONS = 10_000;
const SOCKETS_SHARE = 0.5;
/** Bytes that wait in all proxies. */
const PROXIED_BYTES = 64 * 1024 * 1024;
const NAME = /^[\w.:-]{1,100}$/;

export interface NewProxy {
  readonly name: string;
  /** `host:port` to which its connections lead. */
  readonly to: string;
  /** Where it listens; default: a free port. */
  readonly port?: number;
}

export interface ProxyInfo {
  readonly name: string;
  /** Where it listens. */
  readonly host: string;
  readonly port: number;
  readonly to: string;
  /** Open connections. */
  readonly connections: number;
}

/** A proxy that a test opened: `await using proxy = await proxies.open(…)` closes it with the block. */
export interface ProxyHandle extends ProxyInfo, AsyncDisposable {
  /** Closes the proxy and resets its connections. Further calls have no effect. */
  close(): Promise<void>;
}

/** The use of a proxy in front of a router. */
export interface Carried {
  readonly carries: 'link' | 'sdk';
  /** Name of the router to which the proxy leads. */
  readonly router: string;
  /** Name of the router that dials, of a link. */
  readonly dialer?: string;
  /** Where the router listens; undefined while the simulator does not know it. */
  target(): Target | undefined;
}

export interface ProxyComponents {
  readonly wireClock: Clock;
  readonly io: Pick<IoContext, 'clientSockets'>;
  readonly random: Random;
  readonly faults: Pick<Faults, 'forConnection' | 'onChange' | 'know'>;
  /** Where proxies listen. */
  readonly host: string;
}

/** The target of a router becomes known later: until then connections are closed. */
export class TcpProxy {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly connections = new Set<ProxiedConnection>();
  readonly carried: Carried | undefined;
  readonly #server: Server;
  #target: Target | undefined;

  constructor(server: Server, name: string, carried?: Carried) {
    const { address, port } = server.address() as AddressInfo;
    this.#server = server;
    this.name = name;
    this.host = address;
    this.port = port;
    this.carried = carried;
  }

  /** A router that is disconnected from the simulator keeps its address. */
  get target(): Target | undefined {
    this.#target = this.carried?.target() ?? this.#target;
    return this.#target;
  }

  leadTo(target: Target): void {
    this.#target = target;
  }

  show(): ProxyInfo {
    const { name, host, port, connections, target } = this;
    const to = target ? joinHostPort(target.host, target.port) : '';
    return { name, host, port, to, connections: connections.size };
  }

  /** Resets its connections. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const connection of this.connections) connection.reset();
    await closed;
  }
}

export class Proxies {
  readonly #components: ProxyComponents;
  readonly #open = new Map<string, TcpProxy>();
  /** The places of connections, by source: a flood takes those of its own source. */
  readonly #slots: WorkSlots;
  readonly #budget = new BufferBudget(PROXIED_BYTES);
  readonly #budgets = new HolderBudgets(this.#budget);
  readonly #stop: () => void;
  #isClosed = false;

  constructor(components: ProxyComponents, maxConnections = mostConnections()) {
    this.#components = components;
    this.#slots = new WorkSlots(maxConnections, () => new ClosedError('the proxied connection'));
    const { faults } = components;
    this.#stop = faults.onChange(() => this.#update());
    faults.know({
      proxies: () => this.#open.keys(),
      routers: () => new Set([...this.#open.values()].flatMap(({ carried }) => carried?.router ?? [])),
    });
  }

  /**
   * Opens a proxy. Rejects with InvalidError that names the field: a name in use, a target that is not `host:port`, a
   * port in use, or beyond the limit.
   */
  async open(proxy: NewProxy): Promise<ProxyHandle> {
    const { name, to, port = 0 } = proxy;
    const target = targetOf(to);
    if (typeof name !== 'string' || !NAME.test(name))
      throw new InvalidError('name', 'use 1 to 100 letters, digits, dots, colons, hyphens and underscores', name);
    if ([...this.#open.values()].filter(({ carried }) => !carried).length >= MAX_PROXIES)
      throw new InvalidError('name', `${MAX_PROXIES} proxies exist; close one first`, name);
    if (!(Number.isInteger(port) && port >= 0 && port <= MAX_PORT))
      throw new InvalidError('port', `use 0 to ${MAX_PORT}`, port);
    const opened = await this.openFor(name, undefined, port);
    opened.leadTo(target);
    const close = () => this.drop(opened);
    return { ...opened.show(), close, [Symbol.asyncDispose]: close };
  }

  /** Opens a proxy, for what it carries. Rejects like `open`. */
  async openFor(name: string, carried?: Carried, port = 0): Promise<TcpProxy> {
    if (this.#open.has(name)) throw new InvalidError('name', `the proxy ${name} exists; close it first`, name);
    if (this.#isClosed) throw new ClosedError('the simulator');
    const server = createServer({ allowHalfOpen: true });
    try {
      server.listen(port, this.#components.host);
      await once(server, 'listening');
    } catch (error) {
      throw new InvalidError('port', `port ${port} cannot be used: ${describeError(error)}`, port);
    }
    const proxy = new TcpProxy(server, name, carried);
    if (this.#open.has(name) || this.#isClosed) {
      await proxy.close();
      throw new InvalidError('name', `the proxy ${name} exists; close it first`, name);
    }
    this.#open.set(name, proxy);
    server.on('connection', (socket) => this.#accept(proxy, socket));
    server.on('error', () => undefined); // of a single accept: the client sees it
    return proxy;
  }

  /** The oldest first. */
  list(): ProxyInfo[] {
    return [...this.#open.values()].map((proxy) => proxy.show());
  }

  /**
   * Whether the proxy on this port has an open connection that was dialed from the other port. Undefined if no proxy
   * of a link listens there.
   */
  carriesLink(port: number, dialerPort: number): boolean | undefined {
    const proxy = [...this.#open.values()].find((each) => each.carried?.carries === 'link' && each.port === port);
    if (!proxy) return undefined;
    return [...proxy.connections].some((connection) => connection.dialerPort === dialerPort && connection.isOpen);
  }

  /** Closes a proxy and resets its connections. Rejects with UnknownError, and InvalidError for one of a router. */
  async remove(name: string): Promise<void> {
    const proxy = this.#open.get(name);
    if (!proxy) {
      const names = [...this.#open.keys()];
      throw new UnknownError(
        `there is no proxy ${name}; ${names.length > 0 ? meantOrKnown(name, names) : 'none exists'}`,
      );
    }
    if (proxy.carried) throw new InvalidError('name', `${name} belongs to a router; add a fault to cut it`, name);
    await this.drop(proxy);
  }

  async drop(proxy: TcpProxy): Promise<void> {
    if (this.#open.get(proxy.name) !== proxy) return;
    this.#open.delete(proxy.name);
    await proxy.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await Promise.all([...this.#open.values()].map((proxy) => proxy.close()));
    this.#open.clear();
  }

  #accept(proxy: TcpProxy, socket: Socket): void {
    const { wireClock: clock, io, random, faults } = this.#components;
    const { clientSockets } = io;
    const { carried, target } = proxy;
    const source = sourceOf(socket.remoteAddress);
    const slot = target && this.#slots.take(source);
    if (!slot) {
      socket.on('error', () => undefined);
      resetSocket(socket);
      return;
    }
    const { budget: own, release } = this.#budgets.use(source);
    const all = this.#budget;
    const budget = {
      get share() {
        return own.share;
      },
      fits: (bytes: number) => own.fits(bytes) && !all.isExhausted,
      add: (bytes: number) => own.add(bytes),
    };
    const facts: FaultyConnection = {
      proxy: proxy.name,
      carries: carried?.carries,
      listener: carried?.router,
      dialer: carried?.dialer,
      decided: new Map(),
    };
    const connection = new ProxiedConnection({ clock, clientSockets, random, faults, budget }, facts, socket, target);
    proxy.connections.add(connection);
    slot.displaced.addEventListener('abort', () => connection.reset());
    void connection.closed.then(() => {
      proxy.connections.delete(connection);
      slot.release();
      release();
    });
  }

  #update(): void {
    for (const proxy of this.#open.values()) for (const connection of proxy.connections) connection.update();
  }
}

function mostConnections(): number {
  const sockets = maxClientSockets(openFileLimit()) * SOCKETS_SHARE;
  return Math.min(MAX_CONNECTIONS, Math.floor(sockets / 2));
}

function targetOf(to: string): Target {
  try {
    const { host, port } = splitHostPort(to);
    if (host !== '' && port > 0) return { host, port };
  } catch {
    // Rejected like an address without a host.
  }
  throw new InvalidError('to', 'use host:port, for example 127.0.0.1:8080', to);
}
