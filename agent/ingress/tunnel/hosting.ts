// Hosts the services that the router's identity may bind: follows the data model, keeps a terminator per host
// configuration, and dials the real service for each circuit (reference fact: tunnel, section 3.4).

import { createHash } from 'node:crypto';
import { describeError, ProjectError } from '#lib/errors.ts';
import { ownValue } from '#lib/json/own-value.ts';
import type { Log } from '#lib/log/log.ts';
import { OF_SUBJECTS, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import { WorkSlots } from '#lib/queue/fair-slots.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { DataState_Identity, DataState_Service } from '#wire/gen/edge_control_pb.js';
import { TerminatorPrecedence } from '#wire/gen/edge_control_pb.js';
import { PeerDataKey, RouteErrorCode } from '#wire/gen/numbers.ts';
import type { DataModel } from '../../access/data-model.ts';
import { hostDatagrams } from '../../egress/datagram.ts';
import { dialDatagram } from '../../egress/datagram-dial.ts';
import { EgressError } from '../../egress/dial-errors.ts';
import { type DialedEgress, dialTime, type EgressRequest } from '../../egress/egress.ts';
import { hostEncryption } from '../../egress/host-encryption.ts';
import { dialSocket, dialThroughProxy, type SocketDialOptions } from '../../egress/socket-dial.ts';
import { hostSocket } from '../../egress/transport.ts';
import type { HostedHealth } from '../../interface/description.ts';
import { DatagramClient } from '../../xgress/clients/datagram-client.ts';
import type { IdleSweeper } from '../../xgress/clients/idle-sweeper.ts';
import { readAppData } from './app-data.ts';
import { HealthChecks, type HealthReport } from './health/health-checks.ts';
import {
  chooseTarget,
  type HostConfig,
  type HostPort,
  isAllowedName,
  type Precedence,
  readHostConfigs,
  type Target,
} from './host-config.ts';
import type { OwnRights } from './own-rights.ts';
import { resolverPort } from './resolver-port.ts';
import type { LocalRoutes } from './system/local-routes.ts';
import { fillTemplate } from './templates.ts';
import type { TunnelTerminator, TunnelTerminators } from './tunnel-terminators.ts';

export interface HostingComponents {
  io: IoContext;
  log: Log;
  model: DataModel;
  terminators: Pick<TunnelTerminators, 'add' | 'remove' | 'setWeight' | 'sendHealthEvent'>;
  /** Ends idle UDP sessions. */
  sweeper: IdleSweeper;
  /** For the source addresses of hosted services. */
  routes: Pick<LocalRoutes, 'acquire' | 'release' | 'apply'>;
  rights: Pick<OwnRights, 'has'>;
  /** Id of the router, and of the identity that the tunneler uses. */
  routerId: string;
}

interface Hosted {
  readonly spec: TunnelTerminator;
  readonly config: HostConfig;
}

const PRECEDENCES: Readonly<Record<TerminatorPrecedence, Precedence>> = {
  [TerminatorPrecedence.DEFAULT]: 'default',
  [TerminatorPrecedence.REQUIRED]: 'required',
  [TerminatorPrecedence.FAILED]: 'failed',
};
/** Circuits to the resolver use no descriptors without queries, so they share a part of the buffer budget. */
const RESOLVER_HOLDER = 'resolver circuits';
/** Queries of all resolver circuits at a time: each may use a descriptor. */
const MAX_LOOKUPS = 256;
const HOP_TYPE = 'xgress/tunnel';

export class Hosting {
  readonly #components: HostingComponents;
  readonly #hosted = new Map<string, Hosted>();
  readonly #problems: RepeatedCondition;
  readonly #health: HealthChecks;
  readonly #unsubscribe: () => void;
  /** Queries of resolver circuits, by the identity that dialed, or by the circuit. */
  readonly #lookups = new WorkSlots(MAX_LOOKUPS, () => new ProjectError('DISPLACED', 'another client needs the query'));
  /** Ranges of source addresses that are routed to this machine. */
  #sources: ReadonlySet<string> = new Set();
  readonly #changes: CoalescedTask;

  constructor(components: HostingComponents) {
    this.#components = components;
    this.#problems = new RepeatedCondition(components.io.clock, OF_SUBJECTS);
    this.#health = new HealthChecks(components);
    this.#changes = new CoalescedTask(components.log, 'hosted services', () => this.#reconcile(), { inNextTurn: true });
    this.#unsubscribe = components.model.onChange(() => this.#changes.request());
    this.#changes.request();
  }

  get count(): number {
    return this.#hosted.size;
  }

  /** The health checks of hosted services, for diagnostics. */
  get health(): HostedHealth[] {
    return this.#health.describe();
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#changes.close();
    await this.#health.close();
  }

  /** The dialer of the binding `tunnel`; the destination is a terminator id. */
  async dial(request: EgressRequest): Promise<DialedEgress> {
    const hosted = this.#hosted.get(request.destination);
    if (!hosted)
      throw new EgressError(
        RouteErrorCode.InvalidTerminator,
        `terminator ${request.destination} is not hosted by this router`,
      );
    const { rights } = this.#components;
    const { serviceId, serviceName } = hosted.spec;
    const right = { serviceId, permission: 'bind' } as const;
    const isGranted = rights.has(right);
    const dialed = await this.#dial(request, hosted);
    if (!isGranted || rights.has(right)) return { ...dialed, right };
    // The right was lost during the dial, after all circuits that need it had been cut.
    dialed.abandon();
    throw new EgressError(RouteErrorCode.Generic, `the router may no longer host the service ${serviceName}`);
  }

  async #dial(request: EgressRequest, { config }: Hosted): Promise<DialedEgress> {
    const appData = readAppData(request.peerData.get(PeerDataKey.AppData));
    if (appData.connType === 'resolver') return this.#serveResolver(request, config);
    const target = chooseTarget(config, appData);
    const timeout = dialTime(request, config.listen.connectTimeout);
    const options: SocketDialOptions = {
      io: this.#components.io,
      timeout,
      signal: request.signal,
      ...(target.source && { localAddress: target.source.host, localPort: target.source.port }),
    };
    return target.protocol === 'udp'
      ? this.#dialDatagrams(request, target, options)
      : this.#dialStream(request, target, options, config.proxy);
  }

  /** Serves DNS lookups of the dialing tunneler, for names that may be forwarded. */
  #serveResolver(request: EgressRequest, config: HostConfig): DialedEgress {
    const { io, log, sweeper } = this.#components;
    const peerData = new Map<number, Buffer>();
    const encryption = hostEncryption(request.peerData, peerData);
    const source = request.peerData.get(PeerDataKey.DialerIdentityId)?.toString() ?? request.circuitId;
    const port = resolverPort({
      isAllowed: (name) => isAllowedName(config, name),
      takeSlot: () => this.#lookups.take(source),
      answer: (message) => client.receive(message),
    });
    const onClosed = () => sweeper.delete(client);
    const client: DatagramClient = new DatagramClient({
      ...{ port, encryption, clock: io.clock, log, onClosed },
      holder: RESOLVER_HOLDER,
    });
    sweeper.add(client);
    return { client, peerData, hopType: HOP_TYPE, abandon: () => client.closed('cut') };
  }

  async #dialStream(
    request: EgressRequest,
    { host, port }: Target,
    options: SocketDialOptions,
    proxy: HostPort | undefined,
  ): Promise<DialedEgress> {
    const address = { type: 'tcp', host, port } as const;
    const dialed = proxy ? await dialThroughProxy(address, proxy, options) : await dialSocket(address, options);
    return hostSocket(this.#components, request, { ...dialed, halfClose: true, encryption: true, hopType: HOP_TYPE });
  }

  async #dialDatagrams(request: EgressRequest, target: Target, options: SocketDialOptions): Promise<DialedEgress> {
    const socket = await dialDatagram(target, options);
    return hostDatagrams(this.#components, request, { socket, encryption: true, peerData: true, hopType: HOP_TYPE });
  }

  #reconcile(): void {
    const wanted = this.#wanted();
    this.#problems.endRound();
    for (const [id, hosted] of this.#hosted) {
      if (wanted.has(id)) continue;
      this.#hosted.delete(id);
      this.#health.unwatch(id);
      this.#components.terminators.remove(id);
      this.#components.log.info({ service: hosted.spec.serviceName, terminatorId: id }, 'service no longer hosted');
    }
    for (const [id, hosted] of wanted) {
      const known = this.#hosted.get(id);
      this.#hosted.set(id, hosted);
      const isSameSpec = JSON.stringify(known?.spec) === JSON.stringify(hosted.spec);
      if (isSameSpec && JSON.stringify(known?.config.checks) === JSON.stringify(hosted.config.checks)) continue;
      this.#components.terminators.add(hosted.spec, { isChecked: hosted.config.checks.length > 0 });
      this.#check(hosted);
      if (!known) this.#components.log.info({ service: hosted.spec.serviceName, terminatorId: id }, 'service hosted');
    }
    const sources = [...wanted.values()].flatMap(({ config }) => config.sources);
    this.#routeSources(new Set(sources.filter((range) => !coversAll(range))));
  }

  #check({ spec, config }: Hosted): void {
    const { terminators } = this.#components;
    const { id, serviceName, cost, precedence } = spec;
    const report: HealthReport = {
      weight: (weight) => terminators.setWeight(id, weight),
      event: (isPassing) => terminators.sendHealthEvent(id, isPassing),
    };
    this.#health.watch(id, serviceName, { checks: config.checks, base: { cost, precedence }, report });
  }

  /** A socket can bind to a foreign address once a local route covers that address. */
  #routeSources(wanted: ReadonlySet<string>): void {
    const { routes, log } = this.#components;
    const before = this.#sources;
    if (wanted.size === before.size && [...wanted].every((range) => before.has(range))) return;
    for (const range of wanted) if (!before.has(range)) routes.acquire(range);
    for (const range of before) if (!wanted.has(range)) routes.release(range);
    this.#sources = wanted;
    // The routes retry a failure by themselves.
    routes.apply().catch((error: unknown) => {
      const remedy = 'allowedSourceAddresses requires Linux, the program ip and CAP_NET_ADMIN: run the router as root';
      log.error(
        { error: describeError(error), remedy },
        'source addresses of hosted services cannot be routed, retrying',
      );
    });
  }

  #wanted(): Map<string, Hosted> {
    const { model, routerId } = this.#components;
    const wanted = new Map<string, Hosted>();
    const identity = model.identities.get(routerId);
    if (!identity || identity.disabled) return wanted;
    for (const service of model.servicesFor(routerId, 'bind')) {
      for (const [index, config] of this.#configs(service, identity).entries()) {
        const spec = this.#spec(service, identity, config, index);
        wanted.set(spec.id, { spec, config });
      }
    }
    return wanted;
  }

  #configs(service: DataState_Service, identity: DataState_Identity): HostConfig[] {
    let problem: string;
    try {
      const configs = readHostConfigs(this.#components.model.configsFor(service, identity));
      if (configs.length > 0) {
        this.#reportUnrouted(service, configs);
        this.#reportTooOften(service, configs);
        return configs;
      }
      problem = 'it has no host configuration';
    } catch (error) {
      problem = describeError(error);
    }
    if (this.#problems.happened(`${service.id}: ${problem}`))
      this.#components.log.warn({ service: service.name, reason: problem }, 'service cannot be hosted');
    return [];
  }

  #reportUnrouted({ id, name: service }: DataState_Service, configs: readonly HostConfig[]): void {
    const ranges = configs.flatMap(({ sources }) => sources.filter(coversAll)).join(' ');
    if (ranges !== '' && this.#problems.happened(`${id} ranges: ${ranges}`))
      this.#components.log.warn(
        { service, ranges },
        'source addresses are not routed to this machine: the range covers all addresses',
      );
  }

  #reportTooOften({ id, name: service }: DataState_Service, configs: readonly HostConfig[]): void {
    const short = configs.flatMap(({ checks }) => checks).filter(({ tooShort }) => tooShort !== undefined);
    const [first] = short;
    if (!first) return;
    const checks = [...new Set(short.map(({ name, tooShort = 0 }) => `${name} every ${formatDuration(tooShort)}`))];
    if (!this.#problems.happened(`${id} intervals: ${checks.join(' ')}`)) return;
    const used = formatDuration(first.interval);
    this.#components.log.warn(
      { service, checks, used, remedy: `write intervals of at least ${used}` },
      'the intervals of health checks are too short, a longer one is used',
    );
  }

  #spec(service: DataState_Service, identity: DataState_Identity, config: HostConfig, index: number): TunnelTerminator {
    const { listen } = config;
    const precedence = ownValue(identity.serviceHostingPrecedences, service.id);
    const chosen = {
      cost: ownValue(identity.serviceHostingCosts, service.id) ?? listen.cost ?? identity.defaultHostingCost,
      precedence:
        precedence === undefined
          ? (listen.precedence ?? PRECEDENCES[identity.defaultHostingPrecedence])
          : PRECEDENCES[precedence],
      instanceId: listen.bindUsingEdgeIdentity ? identity.name : fillTemplate(listen.identity ?? '', identity),
    };
    const id = terminatorId([this.#components.routerId, service.id, index, ...Object.values(chosen)]);
    return { id, serviceId: service.id, serviceName: service.name, ...chosen };
  }
}

/** Whether a range has the prefix length 0. Routed to this machine, it would cut off the whole network. */
function coversAll(range: string): boolean {
  return Number(range.split('/')[1]) === 0;
}

/**
 * A restarted router finds its terminators again, unless they have changed: controllers ignore a request to create one
 * that exists, so a changed one needs another id (the reference's router also creates another one).
 */
function terminatorId(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 22);
}
