// Rules of posture checks: the demands of each type, in the form in which they are compared (reference fact: HTTP
// entities, section 17).

import {
  type DemandsByType,
  isVersionStatement,
  type PostureCheckType,
  plainMacAddress,
  type TypedDemands,
} from '#model/posture.ts';
import type {
  OperatingSystem,
  PostureCheckCreate,
  PostureCheckPatch,
  PostureCheckUpdate,
  ProcessMulti,
} from '#schemas/api/gen/bodies.ts';
import { ApiError, badRequest, invalid } from '../errors/errors.ts';
import type { PostureCheck } from '../state/kinds/posture-check.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, roleAttributes, uniqueName } from './common.ts';
import { rules } from './rules.ts';

export type PostureCheckBody = PostureCheckCreate | PostureCheckUpdate | PostureCheckPatch;

export const POSTURE_CHECK_TYPES = ['OS', 'PROCESS', 'DOMAIN', 'MAC', 'MFA', 'PROCESS_MULTI'] as const;
/** Canonical spelling. Input is case-insensitive, since the specification uses capitals. */
export const OPERATING_SYSTEMS = ['Windows', 'WindowsServer', 'Android', 'iOS', 'Linux', 'macOS'] as const;
const SEMANTICS = { AllOf: 'AllOf', AnyOf: 'AnyOf', OneOf: 'AnyOf' };
const NO_TIMEOUT = -1;

export function createPostureCheck(transaction: Transaction, id: string, body: Body<PostureCheckBody>): void {
  transaction.put('postureCheck', {
    ...baseFields(transaction, id, body),
    name: uniqueName(transaction, 'postureCheck', body),
    roleAttributes: roleAttributes(body, []),
    version: 1,
    ...demandsOf(typeOf(body), body),
  });
}

/** A body of another type than the check's changes only its name, tags and attributes. */
export function updatePostureCheck(transaction: Transaction, check: PostureCheck, body: Body<PostureCheckBody>): void {
  const keep = body.kept(check)?.demands;
  transaction.put('postureCheck', {
    ...changedBase(transaction, check, body),
    name: uniqueName(transaction, 'postureCheck', body, check),
    roleAttributes: roleAttributes(body, check.roleAttributes),
    version: check.version + 1,
    ...(typeOf(body) === check.typeId ? demandsOf(check.typeId, body, keep) : typedDemands(check)),
  });
}

export const postureCheckRules = rules('postureCheck', { create: createPostureCheck, update: updatePostureCheck });

function typeOf({ given: { typeId } }: Body<PostureCheckBody>): PostureCheckType {
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
const DEMANDS: {
  [T in PostureCheckType]: (body: Body<PostureCheckBody>, current: DemandsByType[T] | undefined) => DemandsByType[T];
} = {
  OS: ({ given }, current) => {
    if (!given.operatingSystems) return demanded('operatingSystems', current);
    return { operatingSystems: byType(given.operatingSystems.map(operatingSystem)) };
  },
  MAC: ({ given }, current) => {
    if (!given.macAddresses) return demanded('macAddresses', current);
    return { macAddresses: sortedSet(given.macAddresses.map(plainMacAddress)) };
  },
  DOMAIN: ({ given }, current) => {
    if (!given.domains) return demanded('domains', current);
    return { domains: sortedSet(given.domains) };
  },
  MFA: ({ given }, current) => {
    const timeout = given.timeoutSeconds ?? current?.timeoutSeconds ?? 0;
    return {
      timeoutSeconds: timeout > 0 ? timeout : NO_TIMEOUT,
      promptOnWake: given.promptOnWake ?? current?.promptOnWake === true,
      promptOnUnlock: given.promptOnUnlock ?? current?.promptOnUnlock === true,
      ignoreLegacyEndpoints: given.ignoreLegacyEndpoints ?? current?.ignoreLegacyEndpoints === true,
    };
  },
  PROCESS: ({ given: { process } }, current) => {
    if (!process) return demanded('process', current);
    return {
      process: {
        osType: systemName(process.osType, 'process.osType'),
        path: process.path,
        hashes: (process.hashes ?? []).map((hash) => hash.toLowerCase()),
        signerFingerprint: (process.signerFingerprint ?? '').toLowerCase(),
      },
    };
  },
  PROCESS_MULTI: ({ given }, current) => {
    const semantic = (given.semantic && SEMANTICS[given.semantic]) ?? current?.semantic ?? 'AllOf';
    if (!given.processes) return { semantic, processes: demanded('processes', current).processes };
    return { semantic, processes: given.processes.map(multiProcess) };
  },
};

function demandsOf<T extends PostureCheckType>(
  typeId: T,
  body: Body<PostureCheckBody>,
  current?: DemandsByType[T],
): TypedDemands {
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

function operatingSystem(system: OperatingSystem, index: number): { type: string; versions: readonly string[] } {
  const versions = system.versions ?? [];
  for (const [each, statement] of versions.entries()) {
    const field = `operatingSystems[${index}].versions[${each}]`;
    if (!isVersionStatement(statement))
      throw badRequest(`the value '${statement}' for '${field}' is invalid: invalid version for os: ${statement}`);
  }
  return { type: systemName(system.type, `operatingSystems.${index}.type`), versions };
}

/** The specification's `os` is the reference's `osType`. */
function multiProcess({ osType, os, path, hashes, signerFingerprints }: ProcessMulti, index: number) {
  return {
    osType: systemName(osType ?? os ?? '', `processes.${index}.osType`),
    path,
    hashes: hashes ?? [],
    signerFingerprints: signerFingerprints ?? [],
  };
}

function systemName(given: string, field: string): string {
  const found = OPERATING_SYSTEMS.find((each) => each.toLowerCase() === given.toLowerCase());
  if (!found) throw invalid(field, `${field} in body should be one of [${OPERATING_SYSTEMS.join(' ')}]`, given);
  return found;
}
