// Posture checks: the common fields, and the demands of each type.

import type { PostureCheckDetail } from '#schemas/api/gen/answers.ts';
import { type PostureCheckBody, postureCheckRules } from '../../entities/posture-check.ts';
import type { FilterSymbol } from '../../filter/compile.ts';
import type { PostureCheck } from '../../state/kinds/posture-check.ts';
import { base } from '../answers/references.ts';
import { nullWhenEmpty } from '../answers/show.ts';
import type { Handlers } from '../operations/context.ts';
import { field, fieldSet } from '../operations/list.ts';
import { create, detail, list, patch, type Resource, remove, update } from '../operations/resource.ts';

/** Null for checks of other types. */
const mfaFlag = (name: 'promptOnWake' | 'promptOnUnlock'): FilterSymbol<PostureCheck> => ({
  type: 'bool',
  get: (check) => (check.typeId === 'MFA' ? check.demands[name] : null),
});

/** reference fact: an empty signer is left out; empty lists of hashes and versions are null. */
function demandsOf(check: PostureCheck): Partial<PostureCheckDetail> {
  switch (check.typeId) {
    case 'OS':
      return {
        operatingSystems: check.demands.operatingSystems.map((system) => ({
          ...system,
          versions: nullWhenEmpty(system.versions),
        })),
      };
    case 'PROCESS': {
      const { hashes, signerFingerprint, ...process } = check.demands.process;
      const signer = signerFingerprint && { signerFingerprint };
      return { process: { ...process, hashes: nullWhenEmpty(hashes), ...signer } };
    }
    case 'MFA': // reference fact: prompts that are off are left out (HTTP entities, section 17)
      return Object.fromEntries(Object.entries(check.demands).filter(([, value]) => value !== false));
    default:
      return { ...check.demands };
  }
}

export const postureChecks: Resource<'postureCheck', PostureCheckDetail, PostureCheckBody, never> = {
  ...postureCheckRules,
  symbols: {
    name: field('name'),
    typeId: field('typeId'),
    roleAttributes: fieldSet('roleAttributes'),
    promptOnWake: mfaFlag('promptOnWake'),
    promptOnUnlock: mfaFlag('promptOnUnlock'),
  },
  show: (check): PostureCheckDetail => ({
    ...base('postureCheck', check),
    name: check.name,
    typeId: check.typeId,
    version: check.version,
    roleAttributes: check.roleAttributes,
    ...demandsOf(check),
  }),
};

export const postureCheckHandlers = {
  listPostureChecks: list(postureChecks),
  createPostureCheck: create(postureChecks),
  detailPostureCheck: detail(postureChecks),
  updatePostureCheck: update(postureChecks),
  patchPostureCheck: patch(postureChecks),
  deletePostureCheck: remove(postureChecks),
} satisfies Partial<Handlers<'management'>>;
