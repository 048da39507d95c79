// The names by which faults and filters of the journal select requests.

import { BASES } from '#schemas/api/bases.ts';
import { readOperations } from '#schemas/api/operations.ts';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

let operations: ReadonlySet<string> | undefined;
let templates: readonly (readonly string[])[] | undefined;

/** The ids of operations. Requests to the lab itself are neither in the journal nor affected by faults. */
export function knownOperations(): ReadonlySet<string> {
  operations ??= new Set(readOperations().flatMap(({ api, id }) => (api === 'lab' ? [] : [id])));
  return operations;
}

/** Whether a path is that of an operation, so that its segments are names and ids. */
export function isPathOfOperation(path: string): boolean {
  templates ??= readOperations().flatMap((operation) =>
    BASES[operation.api].map((base) => `${base}${operation.path}`.split('/')),
  );
  const segments = path.split('/');
  return templates.some(
    (template) =>
      template.length === segments.length &&
      template.every((part, index) => part === segments[index] || (part.startsWith('{') && segments[index] !== '')),
  );
}
