// Posture checks: what every type has, beside what the own type demands.

import { createPostureCheck, deletePostureCheck, updatePostureCheck } from '../../entities/posture-check.ts';
import type { Handlers } from '../http/context.ts';
import { field, fieldSet } from '../http/list.ts';
import { base } from '../http/references.ts';
import { crud, type Resource } from '../http/resource.ts';

export const postureChecks: Resource<'postureCheck'> = {
  kind: 'postureCheck',
  names: { one: 'PostureCheck', many: 'PostureChecks' },
  symbols: {
    name: field('name'),
    typeId: field('typeId'),
    roleAttributes: fieldSet('roleAttributes'),
    promptOnWake: { type: 'bool', get: (check) => check.typeId === 'MFA' && check.demands.promptOnWake },
    promptOnUnlock: { type: 'bool', get: (check) => check.typeId === 'MFA' && check.demands.promptOnUnlock },
  },
  fixed: ['typeId'],
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
  }),
};

export const postureCheckHandlers: Handlers = crud(postureChecks);
