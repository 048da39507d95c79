// Circuits without recent traffic at a router: those that do not run through it are removed from it, and those that
// exceed the idle limit end (reference fact: control channel, section 4.5).

import { ownValue } from '#lib/json/own-value.ts';
import { CircuitConfirmationSchema } from '#wire/gen/control_pb.js';
import type { ControlHandler } from '../context.ts';

const NANOSECONDS = 1_000_000n;

export const onCircuitConfirmation: ControlHandler<'network' | 'state'> = ({ network, state }, router, message) => {
  const { circuitIds, idleTimes } = message.decode(CircuitConfirmationSchema);
  // Stray circuits beyond the router's queue remain: the router asks for them again.
  let canUnroute = true;
  for (const id of new Set([...circuitIds, ...Object.keys(idleTimes)])) {
    if (network.circuits.isStray(id, router.id)) {
      if (canUnroute) canUnroute = network.circuits.unroute(router.id, id, true);
      continue;
    }
    const circuit = network.circuits.get(id);
    if (!circuit) continue;
    const max = state.tables.service.get(circuit.serviceId)?.maxIdleTimeMillis ?? 0;
    const idle = Number((ownValue(idleTimes, id) ?? 0n) / NANOSECONDS);
    const isEnd = [circuit.path.routers[0], circuit.path.routers.at(-1)].includes(router.id);
    if (max > 0 && idle >= max && isEnd) network.circuits.remove(id, { now: true });
  }
};
