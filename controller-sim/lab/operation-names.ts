// The names by which faults and filters of the journal select requests.

import { readOperations } from '#schemas/api/operations.ts';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

let operations: ReadonlySet<string> | undefined;

/** The ids of operations. Requests to the lab itself are neither in the journal nor affected by faults. */
export function knownOperations(): ReadonlySet<string> {
  operations ??= new Set(readOperations().flatMap(({ api, id }) => (api === 'lab' ? [] : [id])));
  return operations;
}
