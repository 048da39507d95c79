// The handler of each operation. The types of the four tables are those of operations.tsv: an operation without a
// handler, or a handler that answers anything else than its operation, does not compile.

import { type ApiName, type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { certificateHandlers } from '../caller/certificates.ts';
import { callerHandlers } from '../caller/handlers.ts';
import { clientHandlers } from '../client/handlers.ts';
import { edgeHandlers } from '../edge/handlers.ts';
import { enrollmentHandlers } from '../enrollment/handlers.ts';
import { fabricHandlers } from '../fabric/handlers.ts';
import { documentHandlers, informationHandlers } from '../information/information.ts';
import { labHandlers } from '../lab/handlers.ts';
import type { Handler, Handlers } from '../operations/context.ts';

const HANDLERS: { readonly [Api in ApiName]: Handlers<Api> } = {
  management: { ...documentHandlers, ...informationHandlers, ...callerHandlers, ...edgeHandlers },
  client: {
    ...documentHandlers,
    ...informationHandlers,
    ...callerHandlers,
    ...certificateHandlers,
    ...enrollmentHandlers,
    ...clientHandlers,
  },
  fabric: { ...documentHandlers, ...fabricHandlers },
  // Commands log in at the lab, whose requests are neither recorded nor subject to faults.
  lab: { ...documentHandlers, ...callerHandlers, ...labHandlers },
};

export interface Route {
  readonly operation: ApiOperation;
  readonly handler: Handler;
}

/** Every operation, in the order of the table. */
export function routes(): Route[] {
  return readOperations().flatMap((operation) => {
    const handlers: Readonly<Partial<Record<string, Handler>>> = HANDLERS[operation.api];
    const handler = handlers[operation.id];
    return handler ? [{ operation, handler }] : [];
  });
}
