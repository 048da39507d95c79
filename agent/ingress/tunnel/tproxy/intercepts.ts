// The intercepts in the data model: one for each service that the router's identity may dial and that has an intercept
// configuration.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { DataModel } from '../../../access/data-model.ts';
import { readInterceptConfig } from './intercept-config.ts';
import type { Intercept } from './intercept-table.ts';

/** Limit on services. */
const MOST_SERVICES = 5_000;

/** Services with an invalid configuration are logged and skipped. */
export function readIntercepts(model: DataModel, routerId: string, log: Log): Intercept[] {
  const identity = model.identities.get(routerId);
  if (!identity || identity.disabled) return [];
  const intercepts: Intercept[] = [];
  for (const { id, name, ...service } of model.servicesFor(routerId, 'dial')) {
    try {
      const config = readInterceptConfig(model.configsFor({ id, name, ...service }, identity));
      if (!config) continue;
      const { leftOut } = config;
      if (leftOut.length > 0)
        log.warn(
          { service: name, addresses: leftOut.slice(0, 10) },
          'addresses are not intercepted: only IPv4 networks are supported',
        );
      intercepts.push({ ...config, id, service: name });
    } catch (error) {
      log.warn({ service: name, reason: describeError(error) }, 'service cannot be intercepted');
    }
    if (intercepts.length < MOST_SERVICES) continue;
    log.error({ most: MOST_SERVICES }, 'too many services, further ones are not intercepted');
    break;
  }
  return intercepts;
}
