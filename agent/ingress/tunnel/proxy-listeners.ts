// Ports that lead to services: those that the configuration lists in proxy mode, and those of services with a
// `proxy.v1` configuration, which follow the data model. TCP connections and UDP sources become circuits (reference
// fact: tunnel, section 3.7).

import { isIP } from 'node:net';
import { describeError, ProjectError } from '#lib/errors.ts';
import { ownValue } from '#lib/json/own-value.ts';
import type { Log } from '#lib/log/log.ts';
import { OF_SUBJECTS, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import { joinHostPort } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { listening } from '#lib/net/listening.ts';
import { type OwnInterfaces, ownInterfaces } from '#lib/net/own-interfaces.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { DataModel } from '../../access/data-model.ts';
import type { ProxyDescription } from '../../interface/description.ts';
import type { DatagramClient } from '../../xgress/clients/datagram-client.ts';
import type { IdleLimits } from '../../xgress/clients/idle-sweeper.ts';
import { type ClientSocket, SocketClient } from '../../xgress/clients/socket-client.ts';
import { DatagramListener, type DatagramSource } from '../listeners/datagram-listener.ts';
import { StreamListener } from '../listeners/stream-listener.ts';
import { asRecord, type Protocol, readConnectTimeout, readPort, readProtocols } from './config-values.ts';
import type { ServiceDialer } from './service-dialer.ts';

export interface ProxyComponents {
  clock: Clock;
  io: IoContext;
  log: Log;
  model: Pick<DataModel, 'identities' | 'servicesFor' | 'configsFor' | 'onChange'>;
  dialer: Pick<ServiceDialer, 'dial'>;
  /** Id of the router, and of the identity that the tunneler uses. */
  routerId: string;
  acceptsCircuits(): boolean;
}

export interface ProxySettings {
  /** Default listen address; also sent to the host as the destination. */
  readonly host: string;
  /** Milliseconds for a circuit, unless the intercept.v1 of the service names a time. */
  readonly timeout: number;
  readonly idle: IdleLimits;
}

export interface ProxySpec {
  /** Name of the service. */
  readonly service: string;
  readonly protocol: Protocol;
  readonly host: string;
  readonly port: number;
}

/** Configurations by the names of their types. */
type Configs = ReadonlyMap<string, unknown>;

interface OpenProxy {
  readonly spec: ProxySpec;
  readonly listener: StreamListener | DatagramListener;
}

/** Limit on ports of all proxy.v1 configurations. */
const MAX_PROXIES = 1_000;
/** The subject of this problem; those of services end with a protocol. */
const TOO_MANY = 'too many services';
/** Milliseconds until ports and interfaces that were not available are tried again. */
const RETRY = 10_000;
/** Milliseconds between checks whether the interfaces that services name have other addresses. */
const INTERFACE_CHECK = 10_000;

export class ProxyListeners {
  readonly #components: ProxyComponents;
  readonly #settings: ProxySettings;
  readonly #configured: OpenProxy[] = [];
  /** Listeners of proxy.v1 services, by their configuration. */
  readonly #followed = new Map<string, OpenProxy>();
  /** Milliseconds for a circuit that services name, by service. */
  #timeouts: ReadonlyMap<string, number> = new Map();
  readonly #problems: RepeatedCondition;
  readonly #unsubscribe: () => void;
  /** Ports are opened one after the other. */
  readonly #changes: CoalescedTask;
  #retry: Timer | undefined;
  /** The addresses of interfaces that services name. */
  #interfaces: ReadonlyMap<string, string> = new Map();
  #interfaceCheck: Timer | undefined;
  #isClosed = false;

  private constructor(components: ProxyComponents, settings: ProxySettings) {
    this.#components = components;
    this.#settings = settings;
    this.#problems = new RepeatedCondition(components.clock, OF_SUBJECTS);
    this.#changes = new CoalescedTask(components.log, 'proxy.v1 services', () => this.#reconcile(), {
      inNextTurn: true,
    });
    this.#unsubscribe = components.model.onChange(() => this.#changes.request());
  }

  /**
   * Opens listeners for `services` (`name:port`, `name:port:udp`), with their keys in the configuration. Rejects with
   * ListenError.
   */
  static async open(
    components: ProxyComponents,
    settings: ProxySettings,
    services: readonly { entry: string; key: string }[],
  ): Promise<ProxyListeners> {
    const listeners = new ProxyListeners(components, settings);
    try {
      for (const { entry, key } of services) {
        const spec = readEntry(entry, settings.host);
        listeners.#configured.push({ spec, listener: await listeners.#listen(spec, key) });
      }
    } catch (error) {
      listeners.close();
      throw error;
    }
    listeners.#changes.request();
    return listeners;
  }

  /** Opens a TCP listener for a service. @returns its port; rejects with ListenError */
  async add(service: string, host: string, port: number): Promise<number> {
    if (this.#configured.length >= MAX_PROXIES)
      throw new ProjectError('TOO_MANY_PROXIES', `the router has ${MAX_PROXIES} proxies already`);
    const spec: ProxySpec = { service, protocol: 'tcp', host, port };
    const listener = await this.#listen(spec, `the proxy of ${service}`);
    this.#configured.push({ spec, listener });
    return listener.port;
  }

  /** The listeners with their actual ports. */
  describe(): ProxyDescription[] {
    return [...this.#configured, ...this.#followed.values()].map(({ spec, listener }) => ({
      service: spec.service,
      port: listener.port,
      protocol: spec.protocol,
    }));
  }

  /** Stops accepting; open circuits stay. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    void this.#changes.close();
    this.#retry?.cancel();
    this.#interfaceCheck?.cancel();
    for (const { listener } of [...this.#configured, ...this.#followed.values()]) listener.close();
  }

  async #listen(spec: ProxySpec, key: string): Promise<StreamListener | DatagramListener> {
    const { service, protocol, host, port } = spec;
    const listener = await listening<StreamListener | DatagramListener>({ key, network: protocol, host, port }, () =>
      protocol === 'udp' ? this.#listenDatagrams(spec) : this.#listenStreams(spec),
    );
    this.#components.log.info({ service, protocol, host, port: listener.port }, 'proxy listener open');
    return listener;
  }

  #listenStreams(spec: ProxySpec): Promise<StreamListener> {
    return StreamListener.open(this.#components, {
      name: spec.service,
      at: spec,
      serve: (socket, signal) => this.#serveStream(spec, socket, signal),
    });
  }

  #listenDatagrams(spec: ProxySpec): Promise<DatagramListener> {
    return DatagramListener.open(this.#components, {
      name: spec.service,
      host: spec.host,
      port: spec.port,
      family: isIP(spec.host) === 6 ? 6 : 4,
      limits: this.#settings.idle,
      serve: (client, source, signal) => this.#serveDatagrams(spec, client, source, signal),
    });
  }

  #serveStream({ service, host }: ProxySpec, socket: ClientSocket, signal: AbortSignal): Promise<void> {
    const { io, log, dialer } = this.#components;
    const caller = {
      service,
      appData: { dst_protocol: 'tcp', dst_ip: host, dst_port: String(socket.localPort) },
      local: joinHostPort(socket.localAddress ?? '', socket.localPort ?? 0),
      remote: joinHostPort(socket.remoteAddress ?? '', socket.remotePort ?? 0),
      timeout: this.#timeouts.get(service) ?? this.#settings.timeout,
      signal,
    };
    return dialer.dial(caller, (terms) => new SocketClient({ socket, halfClose: true, ...terms, io, log }));
  }

  #serveDatagrams(
    { service, host }: ProxySpec,
    client: DatagramClient,
    source: DatagramSource,
    signal: AbortSignal,
  ): Promise<void> {
    client.receive(source.first);
    const caller = {
      service,
      appData: { dst_protocol: 'udp', dst_ip: host, dst_port: String(source.localPort) },
      local: joinHostPort(host, source.localPort),
      remote: joinHostPort(source.host, source.port),
      timeout: this.#timeouts.get(service) ?? this.#settings.timeout,
      signal,
    };
    return this.#components.dialer.dial(caller, () => client);
  }

  async #reconcile(): Promise<void> {
    const services = this.#services();
    this.#timeouts = timeoutsOf(services);
    const wanted = this.#wanted(services);
    for (const [key, { spec, listener }] of this.#followed) {
      if (wanted.has(key)) continue;
      this.#followed.delete(key);
      // Open sessions would keep a UDP port, so that another service could not get it.
      if (listener instanceof DatagramListener) listener.end();
      else listener.close();
      this.#components.log.info({ service: spec.service, port: spec.port }, 'proxy listener closed');
    }
    for (const [key, spec] of wanted) {
      if (this.#isClosed || this.#followed.has(key)) continue;
      try {
        const listener = await this.#listen(spec, 'proxy.v1.port');
        if (this.#isClosed) listener.close();
        else this.#followed.set(key, { spec, listener });
      } catch (error) {
        this.#onProblem(spec, error);
      }
    }
    this.#problems.endRound();
    this.#checkInterfaces();
  }

  /** Addresses change without a change of the data model. */
  #checkInterfaces(): void {
    if (this.#isClosed || this.#interfaces.size === 0) return;
    this.#interfaceCheck ??= this.#components.clock.after('proxy.v1 interfaces', INTERFACE_CHECK, () => {
      this.#interfaceCheck = undefined;
      const current = ownInterfaces();
      const isChanged = [...this.#interfaces].some(([name, address]) => ipv4Of(name, current) !== address);
      if (isChanged) this.#changes.request();
      else this.#checkInterfaces();
    });
  }

  /** The services that this router may dial, with their configurations. */
  #services(): Map<string, Configs> {
    const { model, routerId } = this.#components;
    const identity = model.identities.get(routerId);
    if (!identity || identity.disabled) return new Map();
    const services = model.servicesFor(routerId, 'dial');
    return new Map(services.map((service) => [service.name, model.configsFor(service, identity)]));
  }

  #wanted(services: ReadonlyMap<string, Configs>): Map<string, ProxySpec> {
    const { log } = this.#components;
    const wanted = new Map<string, ProxySpec>();
    const interfaces = new Map<string, string>();
    for (const [service, configs] of services) {
      const config = configs.get('proxy.v1');
      if (config === undefined) continue;
      try {
        for (const spec of readProxyConfig(service, config, this.#settings.host, interfaces))
          wanted.set(JSON.stringify(spec), spec);
      } catch (error) {
        this.#onProblem({ service, protocol: undefined }, error);
      }
    }
    this.#interfaces = interfaces;
    if (wanted.size <= MAX_PROXIES) return wanted;
    if (this.#problems.happened(TOO_MANY))
      log.error({ proxies: wanted.size, max: MAX_PROXIES }, 'too many proxy.v1 services, further ones are ignored');
    return new Map([...wanted].slice(0, MAX_PROXIES));
  }

  /** Another program may free the port, and an interface may appear, without a change of the data model. */
  #onProblem(
    { service, protocol }: Pick<ProxySpec, 'service'> & { protocol: Protocol | undefined },
    error: unknown,
  ): void {
    const { clock, log } = this.#components;
    const reason = describeError(error);
    if (this.#problems.happened(`${service} ${protocol}: ${reason}`))
      log.error({ service, protocol, reason }, 'service cannot be proxied, retrying');
    if (this.#isClosed) return;
    this.#retry ??= clock.after('proxy.v1 retry', RETRY, () => {
      this.#retry = undefined;
      this.#changes.request();
    });
  }
}

/** The schema of the configuration has checked the form. */
function readEntry(entry: string, host: string): ProxySpec {
  const [, service = '', port = '', protocol] = /^(.+?):(\d+)(?::(tcp|udp))?$/.exec(entry) ?? [];
  return { service, host, port: Number(port), protocol: protocol === 'udp' ? 'udp' : 'tcp' };
}

/** A port is proxied whether its intercept.v1 is valid or not. */
function timeoutsOf(services: ReadonlyMap<string, Configs>): Map<string, number> {
  const timeouts = new Map<string, number>();
  for (const [service, configs] of services) {
    const intercept = configs.get('intercept.v1') as { dialOptions?: Record<string, unknown> } | undefined;
    const timeout = readConnectTimeout(intercept?.dialOptions ?? {});
    if (timeout !== undefined) timeouts.set(service, timeout);
  }
  return timeouts;
}

/** Adds the address of an interface to `interfaces`. @throws HostConfigError */
function readProxyConfig(
  service: string,
  data: unknown,
  defaultHost: string,
  interfaces: Map<string, string>,
): ProxySpec[] {
  const { port, protocols, binding } = asRecord(data, 'proxy.v1');
  const host = typeof binding === 'string' && binding !== '' ? addressOf(binding, interfaces) : defaultHost;
  return readProtocols(protocols, 'proxy.v1.protocols').map((protocol) => ({
    service,
    protocol,
    host,
    port: readPort(port, 'proxy.v1.port'),
  }));
}

/** The IPv4 address of an interface, else the text itself, which must be an IP address. */
function addressOf(binding: string, interfaces: Map<string, string>): string {
  if (isIP(binding) !== 0) return binding;
  const address = interfaces.get(binding) ?? ipv4Of(binding, ownInterfaces());
  if (address === undefined)
    throw new ProjectError('PROXY_BINDING', `proxy.v1.binding: no interface ${binding} with an IPv4 address was found`);
  interfaces.set(binding, address);
  return address;
}

function ipv4Of(name: string, interfaces: OwnInterfaces): string | undefined {
  return ownValue(interfaces, name)?.find(({ family }) => family === 'IPv4')?.address;
}
