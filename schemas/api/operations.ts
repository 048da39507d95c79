// The operations of the APIs, a line each in operations.tsv: what the server routes, who may call, what a body must be. Everything that is
// said of operations (coverage, manual, tests of access) is made from that table.
//
//   access  none | partial (a session that still owes a second factor) | session | admin | admin.read (administrators and
//           admin_readonly) | ops | KIND.ACTION (administrators, who has the permission KIND or KIND.ACTION, and for reading admin_readonly)
//   query   known parameters; ! = required
//   body    a name in bodies.json; ? = may be left out

import { readFileSync } from 'node:fs';

export type ApiName = 'management' | 'client' | 'fabric';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiOperation {
  readonly api: ApiName;
  readonly method: Method;
  /** Below the base of the API; parameters in braces. */
  readonly path: string;
  /** Unique within its API. */
  readonly id: string;
  readonly access: string;
  readonly query: readonly { readonly name: string; readonly required: boolean }[];
  /** `name` is what refusals call it. */
  readonly body: { readonly type: string; readonly name: string; readonly optional: boolean } | undefined;
  /** Of an answer that grants the request. */
  readonly status: number;
  /** Statuses of refusals. */
  readonly refusals: readonly number[];
}

/** All operations, in the order of the table. */
export function readOperations(): ApiOperation[] {
  const text = readFileSync(new URL('operations.tsv', import.meta.url), 'utf8');
  const [, ...lines] = text.trimEnd().split('\n');
  return lines.map(readLine);
}

function readLine(line: string): ApiOperation {
  const [api, method, path = '', id = '', access = '', query = '', body = '', status, refusals = ''] = line.split('\t');
  return {
    api: api as ApiName,
    method: method as Method,
    path,
    id,
    access,
    query: list(query).map((each) => ({ name: each.replace('!', ''), required: each.endsWith('!') })),
    body: body === '-' ? undefined : readBody(body),
    status: Number(status),
    refusals: list(refusals).map(Number),
  };
}

/** `configTypeCreate` is called configType. */
function readBody(cell: string) {
  const type = cell.replace('?', '');
  return { type, name: type.replace(/(?:Create|Update|Patch)$/, ''), optional: cell.endsWith('?') };
}

function list(cell: string): string[] {
  return cell === '-' ? [] : cell.split(',');
}
