// Control channels, and the view of the cluster behind them.

import { ClusterView } from '../control/cluster-view.ts';
import { Controllers } from '../control/controllers.ts';
import { EndpointsFile, endpointsFilePath } from '../control/endpoints-file.ts';
import type { LinkListener } from '../link/link-listener.ts';
import type { RouterContext } from './context.ts';
import { advertisedListeners, controlSettings } from './settings.ts';

/** `linkListeners` are what each hello advertises; they may be opened later. */
export function assembleControllers(
  context: RouterContext,
  linkListeners: readonly LinkListener[],
): { controllers: Controllers; cluster: ClusterView } {
  const { config, clock, random, identity, owned, version } = context;
  const log = context.component('control');
  const endpointsFile = new EndpointsFile(endpointsFilePath(config), log);
  const controllers = new Controllers(
    { clock, log, random, identity, endpointsFile },
    {
      ...controlSettings(config),
      version,
      linkListeners: () => advertisedListeners(linkListeners.map(({ settings }) => settings)),
    },
  );
  const cluster = new ClusterView({ controllers, clock, log });
  owned.defer(() => controllers.close());
  owned.defer(() => cluster.close());
  return { controllers, cluster };
}
