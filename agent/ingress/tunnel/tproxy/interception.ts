// Mode tproxy: intercepts the services that the router's identity may dial, for programs on this machine and for
// machines that route through it (reference fact: tunnel, section 3.7).
//
//   data model ─► intercepts ─► nft rules, local routes, names
//   client ─► (name server gives address) ─► rules divert ─► transparent sockets ─► service of the address ─► circuit

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { describeError, errorCode, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { OF_SUBJECTS, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import { joinHostPort, MAX_PORT } from '#lib/net/address.ts';
import { type ClientSockets, NO_DESCRIPTOR } from '#lib/net/client-sockets.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import type { Random } from '#lib/random.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { DataModel } from '../../../access/data-model.ts';
import { parseUpstream } from '../../../config/name-servers.ts';
import type { TunnelListenerOptions } from '../../../config/router-config.ts';
import { portOf } from '../../../egress/datagram.ts';
import type { InterceptionDescription } from '../../../interface/description.ts';
import type { DatagramClient } from '../../../xgress/clients/datagram-client.ts';
import type { IdleLimits } from '../../../xgress/clients/idle-sweeper.ts';
import { type ClientSocket, SocketClient } from '../../../xgress/clients/socket-client.ts';
import { DatagramSessions } from '../../listeners/datagram-sessions.ts';
import { StreamListener } from '../../listeners/stream-listener.ts';
import type { Protocol } from '../config-values.ts';
import type { ServiceDialer } from '../service-dialer.ts';
import type { ChangesMarker } from '../system/changes-marker.ts';
import type { LocalRoutes } from '../system/local-routes.ts';
import { AddressPool } from './address-pool.ts';
import { callerOf } from './caller.ts';
import { DatagramReceiver } from './datagram-receiver.ts';
import { Resolver, type ResolverOptions } from './dns/resolver.ts';
import { ExcludedAddresses } from './excluded-addresses.ts';
import { ExternalDiverter } from './external-diverter.ts';
import { type Diversion, type Diverter, Firewall } from './firewall.ts';
import { type Intercept, InterceptTable } from './intercept-table.ts';
import { readIntercepts } from './intercepts.ts';
import { type Ipv4Network, ipv4ToNumber, ipv4ToText, networkToText, parseIpv4Network } from './ipv4.ts';
import {
  boundAddress,
  closeDescriptor,
  openTransparentListener,
  openTransparentSender,
  type ReceivedDatagram,
  type SocketAddress,
} from './system-calls.ts';

export interface InterceptionComponents {
  clock: Clock;
  io: IoContext;
  log: Log;
  random: Random;
  model: Pick<DataModel, 'identities' | 'servicesFor' | 'configsFor' | 'onChange'>;
  dialer: Pick<ServiceDialer, 'dial'>;
  routes: LocalRoutes;
  marker: ChangesMarker;
  /** Id of the router, and of the identity that the tunneler uses. */
  routerId: string;
  acceptsCircuits(): boolean;
  /** Hosts that the router itself must reach. */
  peers(): Iterable<string>;
}

export type InterceptionOptions = ResolverOptions & Pick<TunnelListenerOptions, 'mode' | 'dnsSvcIpRange' | 'lanIf'>;

const LOOPBACK = '127.0.0.1';
const ALL_PORTS = [{ first: 0, last: MAX_PORT }];
const PROTOCOLS: readonly Protocol[] = ['tcp', 'udp'];
/** The range needs the network's own address, the source address of connections, and at least one for a name. */
const MAX_PREFIX_LENGTH = 30;
/** Milliseconds until failed rule changes are retried. */
const RETRY = 10_000;
/** Milliseconds between checks whether the rules still exist. */
const CHECK = 30_000;

export class Interception {
  readonly #components: InterceptionComponents;
  readonly #table = new InterceptTable();
  readonly #problems: RepeatedCondition;
  readonly #range: Ipv4Network;
  readonly #pool: AddressPool;
  readonly #resolver: Resolver;
  readonly #excluded: ExcludedAddresses;
  readonly #sessions: DatagramSessions;
  /** Closed in reverse order. */
  readonly #owned = new AsyncDisposableStack();
  /** Networks that are routed to this machine. */
  #routed: ReadonlySet<string> = new Set();
  /** Names of the services whose rules are in effect. */
  #applied: readonly string[] = [];
  #diverter: Diverter | undefined;
  #listener: StreamListener | undefined;
  /** Changes the rules, or checks them. */
  readonly #rules: CoalescedTask;
  #retry: Timer | undefined;
  #changed = false;
  #isClosed = false;

  private constructor(components: InterceptionComponents, options: InterceptionOptions, idle: IdleLimits) {
    this.#components = components;
    this.#range = serviceRange(options.dnsSvcIpRange);
    const { clock, log } = components;
    this.#problems = new RepeatedCondition(clock, OF_SUBJECTS);
    this.#rules = new CoalescedTask(log, 'interception', () => this.#reconcile(), { inNextTurn: true });
    this.#pool = new AddressPool(clock, this.#range);
    this.#resolver = new Resolver({ ...components, pool: this.#pool, table: this.#table });
    this.#sessions = new DatagramSessions(components, 'tproxy', idle);
    this.#excluded = new ExcludedAddresses({
      clock,
      peers: () => components.peers(),
      nameServers: () => options.dnsUpstream.map((text) => parseUpstream(text).host),
    });
  }

  /** Rejects with ProjectError, including the remedy, if this machine or user cannot intercept. */
  static async open(
    components: InterceptionComponents,
    options: InterceptionOptions,
    idle: IdleLimits,
  ): Promise<Interception> {
    const interception = new Interception(components, options, idle);
    try {
      await interception.#open(options);
      return interception;
    } catch (error) {
      await interception.close();
      throw cannotIntercept(error);
    }
  }

  /** The state of the interception, for diagnostics. */
  describe(): InterceptionDescription {
    return {
      services: this.#applied,
      names: this.#pool.size,
      routes: this.#components.routes.count,
      udpSessions: this.#sessions.size,
      resolvers: this.#resolver.ports,
    };
  }

  /** Stops accepting; open circuits stay. */
  closeListeners(): void {
    this.#listener?.close();
    this.#sessions.close();
  }

  /** Removes rules, routes and names. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.closeListeners();
    this.#diverter?.stop?.();
    await this.#rules.close();
    this.#retry?.cancel();
    await this.#owned.disposeAsync();
  }

  async #open(options: InterceptionOptions): Promise<void> {
    const { log, clock, routerId, routes, model, marker } = this.#components;
    const descriptor = openTransparentListener({ host: LOOPBACK, port: 0 });
    const tcp = boundAddress(descriptor).port;
    this.#listener = await this.#listen(descriptor);
    const receiver = DatagramReceiver.open({ clock, log }, LOOPBACK, (datagram) => this.#onDatagram(datagram));
    this.#owned.defer(() => receiver.close());
    this.#owned.defer(() => this.#sessions.end());
    const sockets = { tcp, udp: receiver.port };
    const program = options.mode.slice('tproxy:'.length);
    const diverter = program
      ? new ExternalDiverter({ clock, log, marker }, { program, sockets })
      : new Firewall({ clock, log, marker, routerId }, { sockets, lanInterfaces: options.lanIf });
    await diverter.open();
    this.#owned.defer(() => diverter.close());
    await diverter.apply(this.#namesDiversions()); // fails on a kernel without nft_tproxy
    this.#diverter = diverter;
    await this.#routeNames(routes);
    await this.#resolver.open(options);
    this.#owned.defer(() => this.#resolver.close());
    this.#owned.defer(model.onChange(() => this.#schedule()));
    // A check during a change would miss its rules.
    const check = clock.every('interception check', CHECK, () => this.#rules.isRunning || this.#rules.request());
    this.#owned.defer(() => check.cancel());
    this.#schedule();
    await this.#rules.settled();
    log.info({ range: networkToText(this.#range) }, 'interception open');
  }

  async #listen(descriptor: number): Promise<StreamListener> {
    try {
      return await StreamListener.open(this.#components, {
        name: 'tproxy',
        at: { fd: descriptor },
        serve: (socket, signal) => this.#serveStream(socket, signal),
      });
    } catch (error) {
      closeDescriptor(descriptor);
      throw error;
    }
  }

  /** Local programs connect from the second address of the range: replies to it are not intercepted. */
  async #routeNames(routes: LocalRoutes): Promise<void> {
    const own = ipv4ToText(this.#range.first + 1);
    routes.acquire(`${own}/32`);
    await routes.apply();
    routes.useSource(own);
    routes.acquire(networkToText(this.#range));
    await routes.apply();
  }

  async #serveStream(socket: ClientSocket, signal: AbortSignal): Promise<void> {
    const { io, log, dialer } = this.#components;
    const source = { host: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 };
    const destination = { host: socket.localAddress ?? '', port: socket.localPort ?? 0 };
    const caller = this.#callerOf('tcp', source, destination, signal);
    await dialer.dial(caller, (terms) => new SocketClient({ socket, halfClose: true, ...terms, io, log }));
  }

  #callerOf(protocol: Protocol, source: SocketAddress, destination: SocketAddress, signal: AbortSignal) {
    const { model, routerId } = this.#components;
    const address = ipv4ToNumber(destination.host);
    const name = this.#pool.nameOf(address);
    const flow = { protocol, source: ipv4ToNumber(source.host), destination: address, port: destination.port, name };
    const intercept = this.#table.find(flow);
    const identity = model.identities.get(routerId);
    if (intercept && identity) return callerOf({ intercept, identity, protocol, source, destination, name, signal });
    const where = joinHostPort(name ?? destination.host, destination.port);
    throw new ProjectError('NOT_INTERCEPTED', `no service is intercepted at ${protocol} ${where} for ${source.host}`);
  }

  #onDatagram({ data, source, destination }: ReceivedDatagram): void {
    const from = joinHostPort(source.host, source.port);
    const key = `${from} to ${joinHostPort(destination.host, destination.port)}`;
    const known = this.#sessions.get(key);
    if (known) {
      known.receive(data);
      return;
    }
    // Looks up the service first: a datagram without one must not evict a session.
    try {
      this.#callerOf('udp', source, destination, new AbortController().signal);
    } catch (error) {
      this.#components.log.debug({ source: from, error: describeError(error) }, 'datagram dropped');
      return;
    }
    this.#openSession(key, data, source, destination);
  }

  #openSession(key: string, data: Buffer, source: SocketAddress, destination: SocketAddress): void {
    const { log, dialer } = this.#components;
    let client: DatagramClient | undefined;
    let socket: UdpSocket;
    try {
      socket = openReplySocket(source, destination, this.#components.io.clientSockets);
    } catch (error) {
      log.warn({ session: key, error: describeError(error) }, 'UDP session cannot be opened');
      return;
    }
    socket.on('error', (error) => client?.fail(error));
    socket.on('message', (datagram) => client?.receive(datagram));
    client = this.#sessions.open({
      key,
      source: sourceOf(source.host),
      port: portOf(socket),
      serve: async (opened, signal) => {
        opened.receive(data);
        await dialer.dial(this.#callerOf('udp', source, destination, signal), () => opened);
      },
    });
  }

  #schedule(): void {
    this.#changed = true;
    this.#rules.request();
  }

  /** Without a change it restores rules that another program has removed. */
  async #reconcile(): Promise<void> {
    if (!this.#changed && (await this.#isIntact())) return;
    this.#changed = false;
    const { log } = this.#components;
    const intercepts = readIntercepts(this.#components, this.#problems);
    if (intercepts.some(hasRange)) await this.#excluded.refresh();
    const before = new Set(this.#applied);
    this.#table.replace(intercepts);
    if (!(await this.#resolver.update())) this.#scheduleRetry();
    const outside = (network: Ipv4Network) => this.#excluded.outside(network);
    const incomplete = await this.#apply(
      intercepts.map((each) => ({ ...each, networks: each.networks.flatMap(outside) })),
    );
    if (!incomplete) return;
    const applied = intercepts.filter(({ id }) => !incomplete.has(id)).map(({ service }) => service);
    this.#applied = applied.sort();
    for (const service of applied) if (!before.delete(service)) log.info({ service }, 'service intercepted');
    for (const service of before) log.info({ service }, 'service no longer intercepted');
  }

  /** Returns the ids of services whose rules are incomplete; undefined if the earlier rules stay in effect. */
  async #apply(intercepts: readonly Intercept[]): Promise<ReadonlySet<string> | undefined> {
    try {
      const diversions = [...this.#namesDiversions(), ...intercepts.flatMap(diversionsOf)];
      const diverted = await this.#diverter?.apply(diversions);
      await this.#route(new Set(intercepts.flatMap(({ networks }) => networks.map(networkToText))));
      if (diverted?.isRetriable) this.#scheduleRetry();
      return diverted?.incomplete ?? new Set();
    } catch (error) {
      this.#components.log.error({ error: describeError(error) }, 'interception rules could not be changed, retrying');
      this.#scheduleRetry();
      return undefined;
    }
  }

  async #isIntact(): Promise<boolean> {
    if (!this.#diverter || (await this.#diverter.isIntact()) || this.#isClosed) return true;
    this.#components.log.warn({}, 'interception rules were removed by another program, restoring');
    return false;
  }

  #scheduleRetry(): void {
    this.#retry ??= this.#components.clock.after('interception retry', RETRY, () => {
      this.#retry = undefined;
      this.#schedule();
    });
  }

  /** Diverts the whole range, so that a newly assigned address needs no rule change. */
  #namesDiversions(): Diversion[] {
    const diversion = {
      serviceId: this.#components.routerId,
      comment: 'names of services',
      addresses: [{ first: this.#range.first + 2, last: this.#range.last }],
      networks: [networkToText(this.#range)],
      ports: ALL_PORTS,
      sources: [],
      interfaces: [],
    };
    return PROTOCOLS.map((protocol) => ({ ...diversion, protocol }));
  }

  async #route(wanted: ReadonlySet<string>): Promise<void> {
    const { routes } = this.#components;
    for (const network of wanted) if (!this.#routed.has(network)) routes.acquire(network);
    for (const network of this.#routed) if (!wanted.has(network)) routes.release(network);
    this.#routed = wanted;
    await routes.apply();
  }
}

/** A socket of one session; its datagrams leave from the client's original destination. */
function openReplySocket(source: SocketAddress, destination: SocketAddress, clientSockets: ClientSockets): UdpSocket {
  const descriptor = openTransparentSender(destination);
  const socket = createSocket('udp4');
  try {
    socket.bind({ fd: descriptor });
  } catch (error) {
    closeDescriptor(descriptor);
    socket.close();
    throw error;
  }
  try {
    if (!clientSockets.admit(socket)) throw new ProjectError('OPEN_FILES', NO_DESCRIPTOR);
    socket.connect(source.port, source.host);
    return socket;
  } catch (error) {
    socket.close(); // owns the descriptor
    throw error;
  }
}

function hasRange({ networks }: Intercept): boolean {
  return networks.some(({ bits }) => bits < 32);
}

function diversionsOf({ id, service, protocols, networks, ports, sources, interfaces }: Intercept): Diversion[] {
  if (networks.length === 0) return [];
  return protocols.map((protocol) => ({
    serviceId: id,
    comment: service,
    protocol,
    addresses: networks,
    networks: networks.map(networkToText),
    ports,
    sources: sources.map(networkToText),
    interfaces,
  }));
}

/** @throws ProjectError */
function serviceRange(text: string): Ipv4Network {
  const network = parseIpv4Network(text);
  if (network && network.bits > 0 && network.bits <= MAX_PREFIX_LENGTH) return network;
  throw new ProjectError('TPROXY_RANGE', `dnsSvcIpRange ${text}: expected an IPv4 range with 4 addresses or more`);
}

function cannotIntercept(error: unknown): Error {
  const code = errorCode(error);
  const remedy =
    code === 'EPERM' || code === 'EACCES' || code === 'SYSTEM_COMMAND'
      ? '; run the router as root, or with the capabilities CAP_NET_ADMIN and CAP_NET_BIND_SERVICE, or use mode host or proxy'
      : '';
  return new ProjectError('TPROXY', `mode tproxy cannot be started: ${describeError(error)}${remedy}`, {
    cause: error,
  });
}
