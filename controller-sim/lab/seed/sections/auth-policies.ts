// Auth policies, without the default one.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { createAuthPolicy, updateAuthPolicy } from '../../../entities/auth-policy.ts';
import { all, type Entry, type Fields, type Refer, type Section } from '../section.ts';

export const authPolicies: Section<'authPolicy'> = {
  kind: 'authPolicy',
  bodyType: 'authPolicyCreate',
  body,
  create: createAuthPolicy,
  update: updateAuthPolicy,
  isExported: ({ isSystem }) => !isSystem,
  entry: ({ primary, secondary }, names) => ({
    primary: {
      ...primary,
      extJwt: { ...primary.extJwt, allowedSigners: names.all('externalJwtSigner', primary.extJwt.allowedSigners) },
    },
    secondary: {
      requireTotp: secondary.requireTotp,
      ...(secondary.requireExtJwtSigner !== null && {
        requireExtJwtSigner: names.one('externalJwtSigner', secondary.requireExtJwtSigner),
      }),
    },
  }),
};

function body(entry: Entry, refer: Refer): Fields {
  const primary = { ...(entry.primary as Fields) };
  const extJwt = { ...(primary.extJwt as Fields) };
  const secondary: Fields = { requireTotp: false, ...withoutNulls(entry.secondary as Entry) };
  const kind = 'externalJwtSigner';
  extJwt.allowedSigners = all(kind, extJwt.allowedSigners, ['primary', 'extJwt', 'allowedSigners'], refer);
  if (secondary.requireExtJwtSigner !== undefined)
    secondary.requireExtJwtSigner = refer(kind, secondary.requireExtJwtSigner, ['secondary', 'requireExtJwtSigner']);
  return { ...entry, primary: { ...primary, extJwt }, secondary };
}
