// Builds the rooms for operators and maintenance: health, metrics, web pages, profiles, certificates, memory.

import { joinHostPort } from '#lib/net/address.ts';
import { listening } from '#lib/net/listening.ts';
import { releaseMemory, releaseTime, residentMemory, trimMemory } from '#lib/process/memory.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import { advertisedHosts, covers } from '../config/advertised.ts';
import { renewalObstacles } from '../config/renewable.ts';
import type { Controllers } from '../control/controllers.ts';
import { InterfaceReporter } from '../control/messages/interfaces.ts';
import { onSettings } from '../control/messages/settings.ts';
import { Health, type LinkDetail } from '../health/health.ts';
import { CertificateRenewal } from '../identity/renewal.ts';
import type { Link } from '../link/link.ts';
import type { PrometheusPage } from '../metrics/prometheus.ts';
import { MetricsReporter } from '../metrics/reporter.ts';
import type { Profiler } from '../profile/profiler.ts';
import type { MessageTrace } from '../trace/message-trace.ts';
import type { ApiProxy } from '../web/api-proxy.ts';
import type { WebServer } from '../web/web-server.ts';
import type { Circuits } from './circuits.ts';
import type { RouterContext } from './context.ts';
import { IdleMemory } from './idle-memory.ts';
import type { Links } from './links.ts';
import type { PageRooms } from './page-figures.ts';
import type { TlsPorts } from './tls-ports.ts';

const REMEDY = 'add the host to csr.sans, and start the router with --extend';

export interface Debugging {
  /** Continues in a new trace file after the old one was renamed. */
  reopen(): void;
  /** The router has started: profiles may be written. */
  started(): void;
}

/** Profiles and the message trace: open them before the rooms that they observe. */
export async function openDebugging(context: RouterContext): Promise<Debugging> {
  const { config, clock, owned } = context;
  const { profile, trace } = config;
  let tracing: MessageTrace | undefined;
  if (trace?.path !== undefined) {
    const { MessageTrace } = await import('../trace/message-trace.ts');
    tracing = context.own(new MessageTrace(trace.path, clock, context.component('trace')));
  }
  let profiler: Profiler | undefined;
  if (profile) {
    const { Profiler } = await import('../profile/profiler.ts');
    profiler = await Profiler.start({ clock, log: context.component('profile') }, profile);
    owned.defer(() => profiler?.stop());
  }
  return { reopen: () => tracing?.reopen(), started: () => profiler?.started() };
}

export function assembleHealth(context: RouterContext, controllers: Controllers, { registry }: Links): Health {
  const { config, clock, metrics } = context;
  const latency = (link: Link) => metrics.histogram(`link.${link.id}.latency`).snapshot().mean;
  const health = new Health(
    {
      clock,
      controllers: () => controllers.all,
      links: () => registry.links.map((link) => linkDetail(link, latency(link))),
      isDraining: () => context.isDraining,
      unconnectedSince: () => controllers.unconnectedSince,
    },
    config.healthChecks,
  );
  context.own(health);
  return health;
}

function linkDetail({ peerId, connections }: Link, latency: number): LinkDetail {
  const addresses = Object.fromEntries(
    connections.map(({ type, localAddr, remoteAddr }) => [type, { localAddr, remoteAddr }]),
  );
  return { destRouterId: peerId, latency, addresses };
}

/**
 * Opens the configured web servers, after the other listeners, whose ports they may share. Rejects with ListenError,
 * which names the key.
 */
export async function openWeb(context: RouterContext, rooms: PageRooms, ports: TlsPorts): Promise<WebServer[]> {
  const { config, clock, io } = context;
  if (config.web.length === 0) return [];
  const { WebServer } = await import('../web/web-server.ts');
  const { health } = rooms;
  const log = context.component('web');
  const portOfOthers = (host: string, port: number) => ports.opened(host, port);
  const components = { clock, io, log, health, metrics: await metricsPage(context, rooms), portOfOthers };
  const servers: WebServer[] = [];
  for (const [index, web] of config.web.entries()) {
    const key = `web[${index}]`;
    const identity = web.identity ? await context.openIdentity(web.identity, `${key}.identity`) : context.identity;
    const server = context.own(await WebServer.open({ ...components, identity }, web, key));
    servers.push(server);
  }
  return servers;
}

/** Opens the proxy to the controller's API if `edge.apiProxy` is set. Rejects with ListenError, which names the key. */
export async function openApiProxy(context: RouterContext, ports: TlsPorts): Promise<ApiProxy | undefined> {
  const { config, io, identity } = context;
  const proxy = config.edge?.apiProxy;
  if (!proxy) return undefined;
  const { ApiProxy } = await import('../web/api-proxy.ts');
  const log = context.component('api-proxy');
  const { host, port } = proxy.listener;
  const opened = await listening({ key: 'edge.apiProxy.listener', network: 'tcp', host, port }, async () => {
    return new ApiProxy({ io, log, port: await ports.at(host, port), identity }, proxy.upstream);
  });
  context.own(opened);
  log.info(
    {
      listener: opened.address,
      upstream: joinHostPort(proxy.upstream.host, proxy.upstream.port),
    },
    'API proxy open',
  );
  return opened;
}

/** Loads the code of the metrics page only if the page is configured. */
async function metricsPage(context: RouterContext, rooms: PageRooms): Promise<PrometheusPage | undefined> {
  const { config, metrics: registry } = context;
  if (!config.web.some(({ apis }) => apis.some(({ binding }) => binding === 'metrics'))) return undefined;
  const { PrometheusPage } = await import('../metrics/prometheus.ts');
  const { pageFigures, pageLinks } = await import('./page-figures.ts');
  const figures = pageFigures(context, rooms);
  const page = context.own(new PrometheusPage({ registry, figures, links: () => pageLinks(rooms.links.registry) }));
  return page;
}

/** Reports metrics and interfaces to the controllers. */
export function openReports(
  context: RouterContext,
  controllers: Controllers,
  { forwarder, ends }: Circuits,
  { registry }: Links,
): MetricsReporter {
  const { config, clock, random, metrics, routerId } = context;
  metrics.gauge('control.channels', () => controllers.all.length);
  metrics.gauge('links', () => registry.links.length);
  metrics.gauge('circuits', () => forwarder.circuits.size);
  metrics.gauge('xgress.ends', () => ends.count);
  const reporter = new MetricsReporter(
    { clock, log: context.component('metrics'), random, registry: metrics, controllers, routerId },
    config.metrics,
  );
  const log = context.component('control');
  const interfaces = new InterfaceReporter({ controllers, clock, log }, config.interfaceDiscovery);
  context.own(reporter);
  context.own(interfaces);
  controllers.on(ControlType.Settings, onSettings(controllers, log));
  return reporter;
}

/** Renews certificates before they expire, or at once with `now`. Logs obstacles to a renewal. */
export function openRenewal(
  context: RouterContext,
  controllers: Controllers,
  now: boolean,
): CertificateRenewal | undefined {
  const { config, clock, calendar, identity, owned } = context;
  const csr = config.csr ?? config.edge?.csr;
  const log = context.component('identity');
  const { validTo } = identity.certificate;
  for (const obstacle of renewalObstacles(config.identity, csr !== undefined))
    log.warn({ ...obstacle, validTo }, 'certificates cannot be renewed, the router stops working when they expire');
  owned.defer(identity.onChange(() => reportUncovered(context)));
  if (!csr) return undefined;
  const renewal = context.own(
    new CertificateRenewal({ clock, calendar, log, identity, controllers }, { identity: config.identity, csr }),
  );
  controllers.onRejected((pending) => void pending.push(renewal.tryPending()));
  renewal.start({ now });
  return renewal;
}

/** New certificates may lack advertised hosts: other routers and SDKs then reject them. */
function reportUncovered(context: RouterContext): void {
  const { config, identity } = context;
  const log = context.component('identity');
  const missing = 'no certificate is valid for the advertised host';
  for (const { path: key, host, isNeeded } of advertisedHosts(config))
    if (!identity.presented.some((certificate) => covers(certificate, host)))
      log[isNeeded ? 'error' : 'warn']({ key, host, remedy: REMEDY }, missing);
}

/** A router that does not own its process returns only its own idle buffers. */
export function openIdleMemory({ clock, io, owned }: RouterContext, ownsProcess: boolean): void {
  const processorTime = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000 - releaseTime(); // another router of this process may release, too
  };
  const { buffers } = io;
  const reliefs = ownsProcess
    ? { release: (enough: number) => releaseMemory(buffers, enough), trim: () => trimMemory(buffers) }
    : { release: () => buffers.clear(), trim: () => buffers.shed() };
  const memory = new IdleMemory({ clock, processorTime, residentMemory, ...reliefs });
  owned.defer(() => memory.close());
}
