// A result of a Route that nobody waits for: it came after the time limit, or after the circuit was removed. The
// Unroute may have reached the router before it set up the circuit, so it gets another one (reference fact: control
// channel, section 4.4).

import type { ControlHandler } from '../context.ts';

export const onRouteResult: ControlHandler<'network'> = ({ network }, router, message) => {
  const circuitId = message.body.toString();
  if (network.circuits.isStray(circuitId, router.id)) network.circuits.unroute(router.id, circuitId, true);
};
