// Removes rules, routes and names that a killed router left on this machine, before this one makes its own. It runs in
// every mode, and without a tunneler: the configuration may have changed in between.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ChangesMarker } from './system/changes-marker.ts';
import { LocalRoutes } from './system/local-routes.ts';
import { HostsFile } from './tproxy/dns/hosts-file.ts';
import { removeDiversions } from './tproxy/external-diverter.ts';
import { Firewall } from './tproxy/firewall.ts';

export interface LeftoversComponents {
  clock: Clock;
  log: Log;
  marker: ChangesMarker;
  routerId: string;
}

const NO_SOCKETS = { sockets: { tcp: 0, udp: 0 }, lanInterfaces: [] };

/** A failure is logged, and retried at the next start. */
export async function removeLeftovers(components: LeftoversComponents): Promise<void> {
  const { log, marker } = components;
  if (!marker.isSet) return;
  await removeDiversions(components);
  try {
    await new Firewall(components, NO_SOCKETS).remove();
    await new LocalRoutes(components).removeLeftovers();
    for (const path of marker.hostsFiles) await new HostsFile(path, components.routerId).write(new Map());
    marker.clear();
    log.info({}, 'changes of an earlier process to this machine reverted');
  } catch (error) {
    marker.failed();
    const remedy = 'start the router once as root, or restart this machine';
    log.error(
      { error: describeError(error), remedy },
      'changes of an earlier process to this machine cannot be reverted',
    );
  }
}
