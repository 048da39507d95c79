// The intercepts in the data model: one for each service that the router's identity may dial and that has an intercept
// configuration.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { RepeatedCondition } from '#lib/log/repeated-condition.ts';
import type { DataModel } from '../../../access/data-model.ts';
import { readInterceptConfig } from './intercept-config.ts';
import type { Intercept } from './intercept-table.ts';

export interface InterceptsComponents {
  log: Log;
  model: Pick<DataModel, 'identities' | 'servicesFor' | 'configsFor'>;
  /** Id of the router, and of the identity that the tunneler uses. */
  routerId: string;
}

/** Limit on services. */
const MAX_SERVICES = 5_000;
/** The subject of this problem, among the ids of services. */
const TOO_MANY = 'too many services';
/** Addresses in one log line. */
const IN_LOG_LINE = 10;

/** Services with an invalid configuration are logged and skipped. */
export function readIntercepts(
  { log, model, routerId }: InterceptsComponents,
  problems: RepeatedCondition,
): Intercept[] {
  const identity = model.identities.get(routerId);
  if (!identity || identity.disabled) return [];
  const intercepts: Intercept[] = [];
  for (const { id, name, ...service } of model.servicesFor(routerId, 'dial')) {
    try {
      const config = readInterceptConfig(model.configsFor({ id, name, ...service }, identity));
      if (!config) continue;
      if (intercepts.length >= MAX_SERVICES) {
        if (problems.happened(TOO_MANY))
          log.error({ max: MAX_SERVICES }, 'too many services, further ones are not intercepted');
        break;
      }
      const { leftOut } = config;
      const addresses = leftOut.slice(0, IN_LOG_LINE);
      if (leftOut.length > 0 && problems.happened(`${id} addresses: ${leftOut.join(' ')}`))
        log.warn({ service: name, addresses }, 'addresses are not intercepted: only IPv4 networks are supported');
      intercepts.push({ ...config, id, service: name });
    } catch (error) {
      const reason = describeError(error);
      if (problems.happened(`${id}: ${reason}`)) log.warn({ service: name, reason }, 'service cannot be intercepted');
    }
  }
  problems.endRound();
  return intercepts;
}
