// Builds the control channels and the view of the cluster.

import { formatAddress } from '#lib/net/address.ts';
import { listening } from '#lib/net/listening.ts';
import { isServed } from '../config/unserved.ts';
import { ClusterView } from '../control/cluster-view.ts';
import { ControlListener } from '../control/control-listener.ts';
import { Controllers } from '../control/controllers.ts';
import { EndpointsFile, endpointsPlace } from '../control/endpoints-file.ts';
import type { LinkListener } from '../link/link-listener.ts';
import { dialFailureReason } from '../metrics/dial-failures.ts';
import { PoolFigures } from '../metrics/pool-figures.ts';
import type { RouterContext } from './context.ts';
import { advertisedControlListeners, advertisedListeners, controlSettings, withPort } from './settings.ts';
import type { TlsPorts } from './tls-ports.ts';

/** The open listeners, which each hello names: they are opened later than the controllers are assembled. */
export interface OpenListeners {
  readonly link: LinkListener[];
  readonly control: ControlListener[];
}

export function assembleControllers(
  context: RouterContext,
  listeners: OpenListeners,
): { controllers: Controllers; cluster: ClusterView } {
  const { config, clock, io, random, identity, version, routerId } = context;
  const log = context.component('control');
  const endpointsFile = new EndpointsFile(endpointsPlace(config, routerId), log);
  const controllers = new Controllers(
    {
      clock,
      io,
      log,
      random,
      identity,
      endpointsFile,
      onDialFailed: (error) => context.dialFailures.count('controller', dialFailureReason(error)),
    },
    {
      ...controlSettings(config),
      version,
      ...advertised(listeners),
    },
  );
  const cluster = new ClusterView({ controllers, clock, log });
  context.own(controllers);
  context.own(cluster);
  return { controllers, cluster };
}

function advertised({ link, control }: OpenListeners) {
  return {
    linkListeners: () => advertisedListeners(link.map(({ settings }) => settings)),
    controlListeners: () => advertisedControlListeners(control.map(({ settings }) => settings)),
  };
}

/** Opens the configured listeners for controllers. Rejects with ListenError, which names the key. */
export async function openControlListeners(
  context: RouterContext,
  controllers: Controllers,
  open: OpenListeners,
  ports: TlsPorts,
): Promise<void> {
  const { config, clock, io, identity, metrics, version } = context;
  const { listeners } = config.ctrl;
  if (listeners.length === 0) return;
  const log = context.component('control');
  const hellos = listeners.reduce((sum, { options }) => sum + options.maxOutstandingConnects, 0);
  const pool = new PoolFigures(metrics, clock, 'pool.listener.ctrl', hellos);
  for (const [index, listener] of listeners.entries()) {
    if (!isServed(listener.bind)) continue;
    const settings = {
      ...controlSettings(config),
      version,
      ...advertised(open),
      helloTimeout: listener.options.connectTimeout,
      writeTimeout: listener.options.writeTimeout,
      maxOutstandingConnects: listener.options.maxOutstandingConnects,
      groups: listener.groups,
    };
    const { host, port } = listener.bind;
    const place = { key: `ctrl.listeners[${index}].bind`, network: 'tcp', host, port } as const;
    const opened = await listening(place, async () => {
      const components = { io, log, port: await ports.at(host, port), identity, controllers };
      const actual = components.port.address.port;
      const bind = formatAddress(withPort(listener.bind, actual));
      const advertise = formatAddress(withPort(listener.advertise ?? listener.bind, actual));
      return new ControlListener({ ...components, onHello: () => pool.begin() }, { ...settings, bind, advertise });
    });
    open.control.push(opened);
    context.own(opened);
    const { bind, advertise } = opened.settings;
    log.info({ bind, advertise }, 'listener for controllers open');
  }
}
