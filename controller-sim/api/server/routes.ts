// Which handler answers which operation of the table.

import { type ApiName, type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { clientHandlers } from '../client/handlers.ts';
import { managementHandlers } from '../edge/handlers.ts';
import { fabricHandlers } from '../fabric/handlers.ts';
import type { Handler, Handlers } from '../http/context.ts';

const HANDLERS: Readonly<Record<ApiName, Handlers>> = {
  management: managementHandlers,
  client: clientHandlers,
  fabric: fabricHandlers,
};

export interface Route {
  readonly operation: ApiOperation;
  readonly handler: Handler;
}

/** Every operation that is served, in the order of the table. */
export function routes(): Route[] {
  return readOperations().flatMap((operation) => {
    const handlers = HANDLERS[operation.api];
    const handler = Object.hasOwn(handlers, operation.id) ? handlers[operation.id] : undefined;
    return handler ? [{ operation, handler }] : [];
  });
}
