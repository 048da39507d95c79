// Health check results of hosted services, from routers (reference fact: control channel, section 4.6).

import { HealthEventRequestSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader } from '#wire/gen/numbers.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { ControlContext, ControlHandler } from '../context.ts';

/** For a service that an SDK client hosts. */
export const onHealthEvent: ControlHandler<'state' | 'network' | 'log'> = (context, router, message) => {
  const { terminatorId, checkPassed } = message.decode(HealthEventRequestSchema);
  count(context, router, terminatorId, checkPassed);
};

/** For a service that the router itself hosts. */
export const onTunnelHealthEvent: ControlHandler<'state' | 'network' | 'log'> = (context, router, message) => {
  const terminatorId = message.string(EdgeControlHeader.TerminatorId) ?? '';
  count(context, router, terminatorId, message.bool(EdgeControlHeader.CheckPassed));
};

/** A router can report only its own terminators. */
function count(
  { state, network, log }: Pick<ControlContext, 'state' | 'network' | 'log'>,
  router: ConnectedRouter,
  id: string,
  isPassing: boolean,
): void {
  const terminator = state.tables.terminator.get(id);
  if (terminator?.routerId !== router.id) {
    log.info({ routerId: router.id, terminatorId: id }, 'health event ignored: the router has no such terminator');
    return;
  }
  network.events.emit({
    kind: 'service',
    type: `service.health_check.${isPassing ? 'passed' : 'failed'}`,
    serviceId: terminator.serviceId,
    terminatorId: '',
  });
}
