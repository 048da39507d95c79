// Links to other routers: the registry that dials them, the listeners that accept them, and the reports about both to
// controllers.

import { listening } from '#lib/net/listening.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import type { LinkConfig } from '../config/router-config.ts';
import type { Controllers } from '../control/controllers.ts';
import { onFault } from '../control/messages/fault.ts';
import { onPeerStateChanges } from '../control/messages/peer-state-changes.ts';
import { verifyRouter } from '../control/messages/verify-router.ts';
import type { LinkInit } from '../link/link.ts';
import type { LinkChannelSettings } from '../link/link-dialer.ts';
import { LinkListener } from '../link/link-listener.ts';
import { LinkRegistry } from '../link/link-registry.ts';
import { LinkReporter } from '../link/link-reporter.ts';
import { WantedLinks } from '../link/wanted-links.ts';
import { dialFailureReason } from '../metrics/dial-failures.ts';
import { meteredQueue } from '../metrics/metered-queue.ts';
import { PoolFigures } from '../metrics/pool-figures.ts';
import type { Circuits } from './circuits.ts';
import type { RouterContext } from './context.ts';
import { httpProxy, linkChannelSettings, linkDialerSettings, linkListenerSettings } from './settings.ts';
import type { TlsPorts } from './tls-ports.ts';

export interface Links {
  readonly registry: LinkRegistry;
  readonly wanted: WantedLinks;
  readonly reporter: LinkReporter;
  readonly settings: LinkChannelSettings;
}

export function assembleLinks(
  context: RouterContext,
  controllers: Controllers,
  { forwarder, onUnroutable }: Circuits,
): Links {
  const { config, clock, io, random, identity, metrics } = context;
  const log = context.component('link');
  const { linkDialQueueLength, linkDialWorkerCount } = config.forwarder;
  const reporter = new LinkReporter({ clock, log, controllers, faults: metrics.meter('faults.link') });
  const registry = new LinkRegistry({ clock, log, forwarder, metrics, reporter, onUnroutable });
  const settings = linkChannelSettings(config, new BufferBudget());
  const dial = { io, log, random, identity, proxy: httpProxy(config.proxy), settings };
  const dialQueue = meteredQueue(metrics, clock, 'pool.link.dialer', linkDialQueueLength, linkDialWorkerCount);
  const onDialFailed = (error: unknown) => context.dialFailures.count('link', dialFailureReason(error));
  const wanted = new WantedLinks(
    { clock, log, random, registry, dial, dialQueue, onDialFailed },
    config.link.dialers.map((dialer) => linkDialerSettings(config.link, dialer)),
  );
  context.own(registry);
  context.own(dialQueue);
  context.own(wanted);
  controllers.on(ControlType.PeerStateChanges, onPeerStateChanges(wanted));
  controllers.on(ControlType.Fault, onFault(registry));
  controllers.onConnect((controller) => reporter.refresh(controller, () => registry.links));
  return { registry, wanted, reporter, settings };
}

export type OpenLinkListener = (listener: LinkConfig['listeners'][number], key: string) => Promise<LinkListener>;

/** Opens a listener and adds it to `listeners`; `key` is its key in the configuration. Rejects with ListenError. */
export function linkListenerOpener(
  context: RouterContext,
  controllers: Controllers,
  { registry, settings }: Links,
  ports: TlsPorts,
  listeners: LinkListener[],
): OpenLinkListener {
  const { config, clock, io, identity, owned, metrics } = context;
  const log = context.component('link');
  let pool: PoolFigures | undefined;
  owned.defer(() => {
    for (const listener of listeners) listener.close();
  });
  return async (listener, key) => {
    pool ??= new PoolFigures(metrics, clock, 'pool.listener.link', () =>
      listeners.reduce((sum, { settings }) => sum + settings.maxOutstandingConnects, 0),
    );
    const figures = pool;
    const components = {
      io,
      log,
      protocol: config.transport.protocol,
      identity,
      settings,
      verifyRouter: (routerId: string, fingerprints: string[]) => verifyRouter(controllers, routerId, fingerprints),
      onHello: () => figures.begin(),
      onLink: (init: LinkInit) => void registry.register(init),
    };
    const { host, port: wanted } = listener.bind;
    const opened = await listening({ key: `${key}.bind`, network: 'tcp', host, port: wanted }, async () => {
      const port = await ports.at(host, wanted);
      return new LinkListener({ ...components, port }, linkListenerSettings(listener, port.address.port));
    });
    listeners.push(opened);
    const { bind, advertise, groups } = opened.settings;
    log.info({ bind, advertise, groups }, 'link listener open');
    return opened;
  };
}
