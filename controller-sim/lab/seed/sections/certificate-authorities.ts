// Third-party certificate authorities.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { createCa, deleteCa, updateCa } from '../../../entities/ca.ts';
import type { Section } from '../section.ts';

/** An export of the reference has null for an empty list. */
const DEFAULTS = {
  identityRoles: [],
  isAuthEnabled: false,
  isAutoCaEnrollmentEnabled: false,
  isOttCaEnrollmentEnabled: false,
};

export const certificateAuthorities: Section<'ca'> = {
  kind: 'ca',
  bodyType: 'caCreate',
  body: (entry) => ({ ...DEFAULTS, ...withoutNulls(entry) }),
  create: (transaction, id, body) => createCa(transaction, id, body, true),
  update: (transaction, ca, body) => updateCa(transaction, ca, body, true),
  fixed: ['certPem'],
  remove: deleteCa,
  complete: (transaction, id, { isVerified }) => {
    if (isVerified === true) transaction.patch('ca', id, { isVerified: true });
  },
  entry: (ca) => ({
    certPem: ca.certPem,
    externalIdClaim: ca.externalIdClaim,
    identityNameFormat: ca.identityNameFormat,
    identityRoles: ca.identityRoles,
    isAuthEnabled: ca.isAuthEnabled,
    isAutoCaEnrollmentEnabled: ca.isAutoCaEnrollmentEnabled,
    isOttCaEnrollmentEnabled: ca.isOttCaEnrollmentEnabled,
    isVerified: ca.isVerified,
  }),
};
