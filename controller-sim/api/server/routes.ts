// Joins the table of operations with its handlers.

import { type ApiName, type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { clientHandlers } from '../client/handlers.ts';
import { edgeHandlers } from '../edge/handlers.ts';
import { enrollmentHandlers } from '../enrollment/handlers.ts';
import { fabricHandlers } from '../fabric/handlers.ts';
import type { Handler, Handlers } from '../http/context.ts';
import { documentHandlers, informationHandlers } from '../information/information.ts';
import { labHandlers } from '../lab/handlers.ts';
import { certificateHandlers } from '../own/certificates.ts';
import { ownHandlers } from '../own/handlers.ts';

const HANDLERS: Readonly<Record<ApiName, Handlers>> = {
  management: { ...documentHandlers, ...informationHandlers, ...ownHandlers, ...edgeHandlers },
  client: {
    ...documentHandlers,
    ...informationHandlers,
    ...ownHandlers,
    ...certificateHandlers,
    ...enrollmentHandlers,
    ...clientHandlers,
  },
  fabric: { ...documentHandlers, ...fabricHandlers },
  // Commands log in at the lab, whose requests are neither recorded nor subject to faults.
  lab: { ...documentHandlers, ...ownHandlers, ...labHandlers },
};

export interface Route {
  readonly operation: ApiOperation;
  readonly handler: Handler;
}

/** Every operation with a handler, in the order of the table. */
export function routes(): Route[] {
  return readOperations().flatMap((operation) => {
    const handler = HANDLERS[operation.api][operation.id];
    return handler ? [{ operation, handler }] : [];
  });
}
