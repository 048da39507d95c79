// Built-in types of identities and posture checks (reference facts: HTTP entities, sections 3 and 17).

import type { IdentityTypeDetail, PostureCheckTypeDetail } from '#schemas/api/gen/answers.ts';
import { IDENTITY_TYPES } from '../../entities/counts.ts';
import { notFound } from '../../errors/errors.ts';
import { NEVER } from '../answers/show.ts';
import type { ApiRequest, ApiServices, Data, Handlers, Page } from '../operations/context.ts';
import { listFixed } from '../operations/list.ts';

const type = (list: string, id: string, name: string, createdAt = NEVER) => ({
  _links: { self: { href: `./${list}/${id}` } },
  id,
  createdAt,
  updatedAt: createdAt,
  tags: {},
  name,
});

/** Created with the data, that is with the first authority. */
function identityTypes({ authority }: Pick<ApiServices, 'authority'>): ReturnType<typeof type>[] {
  const since = (authority.roots[0] ?? authority.serverCertificate).validFromDate.toISOString();
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

const POSTURE_CHECK_TYPES = [
  checkType('DOMAIN', 'Windows Domain Check', ['Windows']),
  checkType('MAC', 'MAC Address Check', ['Android', 'Linux', 'Windows', 'macOS']),
  checkType('MFA', 'MFA Check', ['Android', 'Linux', 'Windows', 'iOS', 'macOS'], false),
  checkType('OS', 'Operating System Check', ['Android', 'Linux', 'Windows', 'iOS', 'macOS']),
  checkType('PROCESS', 'Process Check', ['Linux', 'Windows', 'macOS']),
  checkType('PROCESS_MULTI', 'Process Multi Check', ['Linux', 'Windows', 'macOS'], false),
];

export const typeHandlers = {
  listIdentityTypes: ({ services, query }: ApiRequest<'authority'>): Page<IdentityTypeDetail> => ({
    page: listFixed(identityTypes(services), query),
  }),
  detailIdentityType: ({ services, params }: ApiRequest<'authority'>): Data<IdentityTypeDetail> => ({
    data: one(identityTypes(services), 'identityType', params.id),
  }),
  listPostureCheckTypes: ({ query }: ApiRequest<never>): Page<PostureCheckTypeDetail> => ({
    page: listFixed(POSTURE_CHECK_TYPES, query),
  }),
  detailPostureCheckType: ({ params }: ApiRequest<never>): Data<PostureCheckTypeDetail> => ({
    data: one(POSTURE_CHECK_TYPES, 'postureCheckType', params.id),
  }),
} satisfies Partial<Handlers<'management'>>;

function one<T extends { readonly id: string }>(types: readonly T[], singular: string, id = ''): T {
  const found = types.find((type) => type.id === id);
  if (!found) throw notFound(singular, id);
  return found;
}
