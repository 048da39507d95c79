// Posture checks.

import { createPostureCheck, updatePostureCheck } from '../../../entities/posture-check.ts';
import type { PostureCheck } from '../../../state/kinds/posture-check.ts';
import { type Fields, filled, type Section } from '../section.ts';

export const postureChecks: Section<'postureCheck'> = {
  kind: 'postureCheck',
  bodyType: 'postureCheckCreate',
  body: ({ operatingSystems, ...entry }) => ({
    ...entry,
    ...(Array.isArray(operatingSystems) && {
      operatingSystems: operatingSystems.map((system: Fields) => ({ ...system, versions: system.versions ?? [] })),
    }),
  }),
  create: createPostureCheck,
  update: updatePostureCheck,
  fixed: ['typeId'],
  entry: (check) => ({ roleAttributes: check.roleAttributes, typeId: check.typeId, ...demands(check) }),
};

/** Without flags that are off, as the reference writes them. */
function demands(check: PostureCheck): Fields {
  if (check.typeId === 'PROCESS') return { process: filled(check.demands.process) };
  if (check.typeId === 'MFA') return filled(check.demands);
  return { ...check.demands };
}
