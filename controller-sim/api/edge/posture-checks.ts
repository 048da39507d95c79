// Posture checks: the common fields, and the demands of each type.

import { createPostureCheck, deletePostureCheck, updatePostureCheck } from '../../entities/posture-check.ts';
import type { FilterSymbol } from '../../filter/compile.ts';
import type { PostureCheck } from '../../state/types.ts';
import type { Handlers } from '../http/context.ts';
import { field, fieldSet } from '../http/list.ts';
import { base } from '../http/references.ts';
import { crud, type Resource } from '../http/resource.ts';

/** Null for checks of other types. */
const mfaFlag = (name: 'promptOnWake' | 'promptOnUnlock'): FilterSymbol<PostureCheck> => ({
  type: 'bool',
  get: (check) => (check.typeId === 'MFA' ? check.demands[name] : null),
});

export const postureChecks: Resource<'postureCheck'> = {
  kind: 'postureCheck',
  names: { one: 'PostureCheck', many: 'PostureChecks' },
  symbols: {
    name: field('name'),
    typeId: field('typeId'),
    roleAttributes: fieldSet('roleAttributes'),
    promptOnWake: mfaFlag('promptOnWake'),
    promptOnUnlock: mfaFlag('promptOnUnlock'),
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
    // Prompts that are off are omitted (reference fact: HTTP entities, section 17).
    ...Object.fromEntries(Object.entries(check.demands).filter(([, value]) => value !== false)),
  }),
};

export const postureCheckHandlers: Handlers = crud(postureChecks);
