// Unroute (1006) in: the controller removed a circuit.

import { UnrouteSchema } from '#wire/gen/control_pb.js';
import type { ControlHandler } from '../controllers.ts';

export function onUnroute(
  unrouter: { unroute(circuitId: string, now: boolean): void },
  dials: { cancel(circuitId: string): void },
): ControlHandler {
  return (_controller, message) => {
    const { circuitId, now } = message.decode(UnrouteSchema);
    dials.cancel(circuitId);
    unrouter.unroute(circuitId, now);
  };
}
