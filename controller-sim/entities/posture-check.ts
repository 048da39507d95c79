// Rules of posture checks: the demands of each type, in the form in which they are compared (reference fact: HTTP
// entities, section 17).

import { ownValue } from '#lib/own-value.ts';
import {
  type DemandsByType,
  isVersionStatement,
  type PostureCheckType,
  plainMacAddress,
  type TypedDemands,
} from '#model/posture.ts';
import { ApiError, badRequest, invalid } from '../errors/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { PostureCheck } from '../state/types.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, removeFromPolicies, roleAttributes, uniqueName } from './common.ts';

export const POSTURE_CHECK_TYPES = ['OS', 'PROCESS', 'DOMAIN', 'MAC', 'MFA', 'PROCESS_MULTI'] as const;
/** Canonical spelling. Input is case-insensitive, since the specification uses capitals. */
export const OPERATING_SYSTEMS = ['Windows', 'WindowsServer', 'Android', 'iOS', 'Linux', 'macOS'] as const;
const SEMANTICS: Readonly<Record<string, string>> = { AllOf: 'AllOf', AnyOf: 'AnyOf', OneOf: 'AnyOf' };
const NO_TIMEOUT = -1;

export function createPostureCheck(transaction: Transaction, id: string, body: Body): void {
  transaction.put('postureCheck', {
    ...baseFields(transaction, id, body),
    name: uniqueName(transaction, 'postureCheck', body),
    roleAttributes: roleAttributes(body, []),
    version: 1,
    ...demandsOf(typeOf(body), body),
  });
}

/** A body of another type than the check's changes only its name, tags and attributes. */
export function updatePostureCheck(transaction: Transaction, check: PostureCheck, body: Body): void {
  const keep = body.mode === 'patch' ? check.demands : undefined;
  transaction.put('postureCheck', {
    ...changedBase(transaction, check, body),
    name: uniqueName(transaction, 'postureCheck', body, check),
    roleAttributes: roleAttributes(body, check.roleAttributes),
    version: check.version + 1,
    ...(typeOf(body) === check.typeId ? demandsOf(check.typeId, body, keep) : typedDemands(check)),
  });
}

/** Also removes it from the policies that demand it. */
export function deletePostureCheck(transaction: Transaction, { id }: PostureCheck): void {
  removeFromPolicies(transaction, 'postureCheck', id);
  transaction.delete('postureCheck', id);
}

function typeOf(body: Body): PostureCheckType {
  const typeId = body.text('typeId');
  if (!typeId) throw invalid('typeId', 'typeId in body is required', '');
  if (!(POSTURE_CHECK_TYPES as readonly string[]).includes(typeId)) {
    throw new ApiError('COULD_NOT_PARSE_BODY', {
      code: 'UNHANDLED',
      message: `invalid typeId value: ${JSON.stringify(typeId)}`,
    });
  }
  return typeId as PostureCheckType;
}

/** Reads the demands of each type from a body. `current` supplies fields that a patch omits. */
const DEMANDS: { [T in PostureCheckType]: (body: Body, current: DemandsByType[T] | undefined) => DemandsByType[T] } = {
  OS: (body, current) => {
    if (!body.has('operatingSystems')) return demanded('operatingSystems', current);
    return { operatingSystems: byType(body.list('operatingSystems').map(operatingSystem)) };
  },
  MAC: (body, current) => {
    if (!body.has('macAddresses')) return demanded('macAddresses', current);
    return { macAddresses: sortedSet((body.texts('macAddresses') ?? []).map(plainMacAddress)) };
  },
  DOMAIN: (body, current) => {
    if (!body.has('domains')) return demanded('domains', current);
    return { domains: sortedSet(body.texts('domains') ?? []) };
  },
  MFA: (body, current) => {
    const timeout = body.whole('timeoutSeconds') ?? current?.timeoutSeconds ?? 0;
    const flag = (name: 'promptOnWake' | 'promptOnUnlock' | 'ignoreLegacyEndpoints') =>
      body.flag(name) ?? current?.[name] === true;
    return {
      timeoutSeconds: timeout > 0 ? timeout : NO_TIMEOUT,
      promptOnWake: flag('promptOnWake'),
      promptOnUnlock: flag('promptOnUnlock'),
      ignoreLegacyEndpoints: flag('ignoreLegacyEndpoints'),
    };
  },
  PROCESS: (body, current) => {
    if (!body.has('process')) return demanded('process', current);
    const process = body.part('process');
    return {
      process: {
        osType: systemName(process.text('osType') ?? '', 'process.osType'),
        path: process.text('path') ?? '',
        hashes: (process.texts('hashes') ?? []).map((hash) => hash.toLowerCase()),
        signerFingerprint: (process.text('signerFingerprint') ?? '').toLowerCase(),
      },
    };
  },
  PROCESS_MULTI: (body, current) => {
    const semantic = ownValue(SEMANTICS, body.text('semantic') ?? '') ?? current?.semantic ?? 'AllOf';
    if (!body.has('processes')) return { semantic, processes: demanded('processes', current).processes };
    return { semantic, processes: body.list('processes').map(multiProcess) };
  },
};

function demandsOf<T extends PostureCheckType>(typeId: T, body: Body, current?: DemandsByType[T]): TypedDemands {
  return { typeId, demands: DEMANDS[typeId](body, current) } as TypedDemands;
}

function typedDemands({ typeId, demands }: PostureCheck): TypedDemands {
  return { typeId, demands } as TypedDemands;
}

/** Throws ApiError if the field is missing, unless the body is a patch. */
function demanded<D>(field: string, current: D | undefined): D {
  if (!current) throw invalid(field, `${field} in body is required`, '<nil>');
  return current;
}

/** reference fact: texts are stored as a sorted set. */
function sortedSet(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

/** reference fact: sorted by type; the last of several entries with the same type wins. */
function byType<T extends { readonly type: string }>(systems: readonly T[]): readonly T[] {
  const last = new Map(systems.map((system) => [system.type, system]));
  return [...last.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

function operatingSystem(system: Body, index: number): { type: string; versions: readonly string[] } {
  const versions = system.texts('versions') ?? [];
  for (const [each, statement] of versions.entries()) {
    const field = `operatingSystems[${index}].versions[${each}]`;
    if (!isVersionStatement(statement))
      throw badRequest(`the value '${statement}' for '${field}' is invalid: invalid version for os: ${statement}`);
  }
  return { type: systemName(system.text('type') ?? '', `operatingSystems.${index}.type`), versions };
}

/** The specification's `os` is the reference's `osType`. */
function multiProcess(process: Body, index: number) {
  return {
    osType: systemName(process.text('osType') ?? process.text('os') ?? '', `processes.${index}.osType`),
    path: process.text('path') ?? '',
    hashes: process.texts('hashes') ?? [],
    signerFingerprints: process.texts('signerFingerprints') ?? [],
  };
}

function systemName(given: string, field: string): string {
  const found = OPERATING_SYSTEMS.find((each) => each.toLowerCase() === given.toLowerCase());
  if (!found) throw invalid(field, `${field} in body should be one of [${OPERATING_SYSTEMS.join(' ')}]`, given);
  return found;
}
