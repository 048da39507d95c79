// The operations of the APIs: routes, access, and bodies. Those of the reference's APIs have one line each in
// operations.tsv, those of the lab follow from its functions (schemas/lab/). Coverage, manual and access tests are
// generated from this list.
//
//   access  none | partial (a session whose second factor is still missing) | session | admin
//           admin.read (administrators and admin_readonly) | ops
//           KIND.ACTION (administrators, identities with the permission KIND or KIND.ACTION, and for reading
//           admin_readonly)
//   query   known parameters; ! = required
//   body    a name in bodies.json, or a content type, or both; ? = optional
//   answer  the successful answer: a name in answers.json for the data within the envelope, NAME* for a page of them,
//           - for no data, bare:NAME for a body without envelope; a content type instead, or as an alternative
//   status  of that answer; 501 for operations that the reference names but does not serve (reference fact: HTTP
//           entities, sections 9 and 16)

import { readFileSync } from 'node:fs';
import type { LabFunction, QueryType } from '../lab/function.ts';
import { LAB_FUNCTIONS } from '../lab/functions.ts';
import type { AccessLevel, OperationId } from './gen/operation-types.ts';

/** `lab` is the simulator's own: what tests need beside the APIs of a controller. */
export type ApiName = 'management' | 'client' | 'fabric' | 'lab';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiOperation {
  readonly api: ApiName;
  readonly method: Method;
  /** Below the base path of the API; parameters in braces. */
  readonly path: string;
  /** Unique within its API. */
  readonly id: OperationId;
  readonly access: AccessLevel;
  readonly query: readonly QueryParameter[];
  /** `name` is the name of the body in errors. */
  readonly body: { readonly type: string; readonly name: string; readonly optional: boolean } | undefined;
  /** Content types of bodies other than JSON. */
  readonly bodyForms: readonly string[];
  readonly answer: ApiAnswer;
  /** Status of a successful answer. */
  readonly status: number;
  /** Statuses of errors. */
  readonly rejections: readonly number[];
  /** The function of the lab that it is. */
  readonly lab?: LabFunction;
}

export interface QueryParameter {
  readonly name: string;
  readonly required: boolean;
  /** Texts have the form that their operation expects; the lab's have types. */
  readonly type: QueryType;
}

export interface ApiAnswer {
  /**
   * JSON: no data, data, or a page of data within the envelope, or a body without envelope; undefined for other content
   * types.
   */
  readonly kind: 'none' | 'data' | 'page' | 'bare' | undefined;
  /** A name in answers.json. */
  readonly type: string;
  /** Content types of answers other than JSON. */
  readonly forms: readonly string[];
}

const CHECKS = { OS: 'OperatingSystem', MAC: 'MacAddress', DOMAIN: 'Domain', PROCESS: 'Process' };
/** Posture checks and their responses have one schema for each `typeId`. */
const VARIANTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  postureCheck: { ...CHECKS, MFA: 'Mfa', PROCESS_MULTI: 'ProcessMulti' },
  postureResponse: { ...CHECKS, ENDPOINT_STATE: 'EndpointState' },
};

/** The types of a body by its `typeId`, as names in bodies.json; undefined for a type without variants. */
export function variantsOf(type: string): ReadonlyMap<string, string> | undefined {
  const [, kind = '', action] = /^(postureCheck|postureResponse)(Create|Update|Patch)$/.exec(type) ?? [];
  const variants = VARIANTS[kind];
  return variants && new Map(Object.entries(variants).map(([typeId, name]) => [typeId, `${kind}${name}${action}`]));
}

/** All operations, in the order of the table, then those of the lab. */
export function readOperations(): ApiOperation[] {
  const text = readFileSync(new URL('operations.tsv', import.meta.url), 'utf8');
  const [, ...lines] = text.trimEnd().split('\n');
  return [...lines.map((line) => readCells(line.split('\t'))), ...LAB_FUNCTIONS.map(operationOf)];
}

function operationOf(lab: LabFunction): ApiOperation {
  const { id, route, access, query = {}, required, body = '-', answer = '-', status = 200, rejections } = lab;
  const names = Object.keys(query).map((name) => `${name}${required?.includes(name) ? '!' : ''}`);
  const cells = [
    'lab',
    ...route.split(' '),
    id,
    access,
    names.join(',') || '-',
    body,
    answer,
    String(status),
    rejections.join(',') || '-',
  ];
  const types = Object.values(query);
  const operation = readCells(cells);
  return { ...operation, query: operation.query.map((each, at) => ({ ...each, type: types[at] ?? each.type })), lab };
}

function readCells(cells: readonly string[]): ApiOperation {
  const [api, method, path = '', id = '', access = '', query = '', body = '', answer = '', status, rejections = ''] =
    cells;
  const [bodyType] = list(body).filter((each) => !isForm(each));
  return {
    api: api as ApiName,
    method: method as Method,
    path,
    id: id as OperationId,
    access: access as AccessLevel,
    query: list(query).map((each) => ({ name: each.replace('!', ''), required: each.endsWith('!'), type: 'string' })),
    body: bodyType === undefined ? undefined : readBody(id, bodyType),
    bodyForms: list(body).filter(isForm),
    answer: readAnswer(answer),
    status: Number(status),
    rejections: list(rejections).map(Number),
  };
}

/** reference fact: names of bodies in errors by operation or type, where they are not those of their types. */
const BODY_NAMES: Readonly<Record<string, string>> = {
  authenticateMfa: 'mfaAuth',
  createMfaRecoveryCodes: 'mfaValidation',
  currentApiSessionCertificate: 'sessionCertificate',
  disableParams: 'disable',
  edgeRouterPolicy: 'policy',
  enrollmentRefresh: 'refresh',
  fabricRouter: 'router',
  fabricService: 'service',
  fabricTerminator: 'terminator',
  identityExtendEnrollmentRequest: 'extend',
  identityExtendValidateEnrollmentRequest: 'extend',
  inspectRequest: 'request',
  postureResponses: 'postureResponse',
  serviceConfigsAssignList: 'serviceConfigs',
  serviceEdgeRouterPolicy: 'policy',
  servicePolicy: 'policy',
  verifyMfa: 'mfaValidation',
};

/** The name of the body `configTypeCreate` is configType. */
function readBody(id: string, cell: string) {
  const type = cell.replace('?', '');
  const stem = type.replace(/(?:Create|Update|Patch)$/, '');
  const name = BODY_NAMES[id] ?? BODY_NAMES[stem] ?? stem;
  return { type, name, optional: cell.endsWith('?') };
}

function readAnswer(cell: string): ApiAnswer {
  const [json = ''] = cell.split(',').filter((each) => !isForm(each));
  const kinds = { '': undefined, '-': 'none' } as const;
  return {
    kind:
      json in kinds
        ? kinds[json as keyof typeof kinds]
        : json.startsWith('bare:')
          ? 'bare'
          : json.endsWith('*')
            ? 'page'
            : 'data',
    type: json.replace(/^bare:|\*$/g, ''),
    forms: list(cell).filter(isForm),
  };
}

/** Whether the cell is a content type. */
function isForm(cell: string): boolean {
  return cell.includes('/');
}

function list(cell: string): string[] {
  return cell === '-' ? [] : cell.split(',');
}
