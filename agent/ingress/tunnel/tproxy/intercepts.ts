// The intercepts that the data model asks for: one for each service that the router's identity may dial and that says what is
// intercepted.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { DataModel } from '../../../access/data-model.ts';
import { readInterceptConfig } from './intercept-config.ts';
import type { Intercept } from './intercept-table.ts';

/** Services at once. */
const MOST_SERVICES = 5_000;

/** Services whose configuration cannot be used are logged and left out. */
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
          'addresses cannot be intercepted, only IPv4 networks can',
        );
      intercepts.push({ ...config, id, service: name });
    } catch (error) {
      log.warn({ service: name, reason: describeError(error) }, 'service cannot be intercepted');
    }
    if (intercepts.length < MOST_SERVICES) continue;
    log.error({ most: MOST_SERVICES }, 'further services are not intercepted: too many');
    break;
  }
  return intercepts;
}
