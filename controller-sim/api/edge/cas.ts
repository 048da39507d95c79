// Other authorities.

import { createCa, deleteCa, updateCa } from '../../entities/ca.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { CertificateAuthority } from '../../state/types.ts';
import { field, flagField } from '../http/list.ts';
import { base } from '../http/references.ts';
import type { Resource } from '../http/resource.ts';
import { isByAdmin } from '../http/rights.ts';
import { nullWhenEmpty } from '../http/show.ts';

const CA_SYMBOLS: Symbols<CertificateAuthority> = {
  name: field('name'),
  fingerprint: field('fingerprint'),
  isVerified: flagField('isVerified'),
  verificationToken: field('verificationToken'),
  isAuthEnabled: flagField('isAuthEnabled'),
  isOttCaEnrollmentEnabled: flagField('isOttCaEnrollmentEnabled'),
  isAutoCaEnrollmentEnabled: flagField('isAutoCaEnrollmentEnabled'),
};

export const cas: Resource<'ca'> = {
  kind: 'ca',
  names: { one: 'Ca', many: 'Cas' },
  symbols: CA_SYMBOLS,
  create: (transaction, id, body, _prepared, request) => createCa(transaction, id, body, isByAdmin(request)),
  update: (transaction, ca, body, request) => updateCa(transaction, ca, body, isByAdmin(request)),
  remove: deleteCa,
  show: (ca) => ({
    ...base('ca', ca),
    name: ca.name,
    certPem: ca.certPem,
    fingerprint: ca.fingerprint,
    isVerified: ca.isVerified,
    verificationToken: ca.verificationToken,
    isAuthEnabled: ca.isAuthEnabled,
    isAutoCaEnrollmentEnabled: ca.isAutoCaEnrollmentEnabled,
    isOttCaEnrollmentEnabled: ca.isOttCaEnrollmentEnabled,
    identityRoles: nullWhenEmpty(ca.identityRoles),
    identityNameFormat: ca.identityNameFormat,
    ...(ca.externalIdClaim && { externalIdClaim: ca.externalIdClaim }),
  }),
};
