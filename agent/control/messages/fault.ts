// Fault (1004) in: controllers report only link faults; the router closes the link.

import { FaultSchema, FaultSubject } from '#wire/gen/control_pb.js';
import type { ControlHandler } from '../controllers.ts';

export function onFault(links: { faulted(linkId: string, iteration: number): void }): ControlHandler {
  return (_controller, message) => {
    const { subject, id, iteration } = message.decode(FaultSchema);
    if (subject === FaultSubject.LINK_FAULT) links.faulted(id, iteration);
  };
}
