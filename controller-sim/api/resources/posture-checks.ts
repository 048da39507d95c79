// Posture checks: what every type has, beside what the own type demands.

import { createPostureCheck, deletePostureCheck, updatePostureCheck } from '../../entities/posture-check.ts';
import type { FilterSymbol } from '../../filter/compile.ts';
import type { PostureCheck } from '../../state/types.ts';
import { field, fieldSet } from '../list.ts';
import { base } from '../references.ts';
import type { Resource } from '../resource.ts';
import { nullWhenEmpty } from '../show.ts';

/** Checks of other types have no such demand. */
const demandedFlag = (name: string): FilterSymbol<PostureCheck> => ({
  type: 'bool',
  get: ({ demands }) => (typeof demands[name] === 'boolean' ? demands[name] : null),
});

/** reference fact: a process has no signer and null for hashes, a system null for versions, where nothing is demanded. */
function shownParts({ process, operatingSystems }: PostureCheck['demands']): Record<string, unknown> {
  const { hashes, signerFingerprint, ...rest } = (process ?? {}) as Partial<Process>;
  const systems = operatingSystems as readonly { readonly versions: readonly string[] }[] | undefined;
  return {
    ...(process !== undefined && {
      process: { ...rest, hashes: nullWhenEmpty(hashes ?? []), ...(signerFingerprint && { signerFingerprint }) },
    }),
    ...(systems && { operatingSystems: systems.map((each) => ({ ...each, versions: nullWhenEmpty(each.versions) })) }),
  };
}

interface Process {
  readonly hashes: readonly string[];
  readonly signerFingerprint: string;
}

export const postureChecks: Resource<'postureCheck'> = {
  kind: 'postureCheck',
  names: { one: 'PostureCheck', many: 'PostureChecks' },
  symbols: {
    name: field('name'),
    typeId: field('typeId'),
    roleAttributes: fieldSet('roleAttributes'),
    promptOnWake: demandedFlag('promptOnWake'),
    promptOnUnlock: demandedFlag('promptOnUnlock'),
  },
  create: createPostureCheck,
  update: updatePostureCheck,
  remove: deletePostureCheck,
  show: (check) => ({
    ...base('postureCheck', check),
    name: check.name,
    typeId: check.typeId,
    version: check.version,
    roleAttributes: check.roleAttributes,
    // Prompts that are off are left out (reference fact: HTTP entities, section 17).
    ...Object.fromEntries(Object.entries(check.demands).filter(([, value]) => value !== false)),
    ...shownParts(check.demands),
  }),
};
