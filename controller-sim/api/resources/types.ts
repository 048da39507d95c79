// Types that are fixed: those of identities and of posture checks (reference facts: HTTP entities, sections 3 and 17).

import { NEVER } from '../show.ts';

const type = (list: string, id: string, name: string, createdAt = NEVER) => ({
  _links: { self: { href: `./${list}/${id}` } },
  id,
  createdAt,
  updatedAt: createdAt,
  tags: {},
  name,
});

export const IDENTITY_TYPES = ['Default', 'Router'] as const;

/** `since`: they are as old as the data. */
export function identityTypes(since: string) {
  return IDENTITY_TYPES.map((name) => type('identity-types', name, name, since));
}

const VERSIONS = {
  Android: ['10', '11', '9'],
  Linux: ['4.14', '4.19', '5.4', '5.9'],
  Windows: ['10', '2000', '7', '8', 'Vista'],
  iOS: ['11', '12'],
  macOS: ['10.15', '11.0'],
} as const;

type System = keyof typeof VERSIONS;

const checkType = (id: string, name: string, systems: readonly System[], withVersions = true) => ({
  ...type('posture-check-types', id, name),
  version: null,
  operatingSystems: systems.map((system) => ({ type: system, versions: withVersions ? VERSIONS[system] : null })),
});

export const POSTURE_CHECK_TYPES = [
  checkType('DOMAIN', 'Windows Domain Check', ['Windows']),
  checkType('MAC', 'MAC Address Check', ['Android', 'Linux', 'Windows', 'macOS']),
  checkType('MFA', 'MFA Check', ['Android', 'Linux', 'Windows', 'iOS', 'macOS'], false),
  checkType('OS', 'Operating System Check', ['Android', 'Linux', 'Windows', 'iOS', 'macOS']),
  checkType('PROCESS', 'Process Check', ['Linux', 'Windows', 'macOS']),
  checkType('PROCESS_MULTI', 'Process Multi Check', ['Linux', 'Windows', 'macOS'], false),
];
