// Control channels.

import { Controllers } from '../control/controllers.ts';
import { EndpointsFile, endpointsFilePath } from '../control/endpoints-file.ts';
import type { LinkListener } from '../link/link-listener.ts';
import type { RouterContext } from './context.ts';
import { advertisedListeners, controlSettings } from './settings.ts';

/** `linkListeners` are what each hello advertises; they may be opened later. */
export function assembleControllers(context: RouterContext, linkListeners: readonly LinkListener[]): Controllers {
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
  owned.defer(() => controllers.close());
  return controllers;
}
