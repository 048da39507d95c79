// Certificate authorities of third parties.

import type { CaDetail } from '#schemas/api/gen/answers.ts';
import { type CaBody, createCa, deleteCa, updateCa, verifyCa } from '../../entities/ca.ts';
import { existing } from '../../entities/common.ts';
import { ApiError, invalid, withoutCause } from '../../errors/errors.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { CertificateAuthority } from '../../state/kinds/ca.ts';
import { base } from '../answers/references.ts';
import { nullWhenEmpty } from '../answers/show.ts';
import type { ApiRequest, Done, Handlers, Raw } from '../operations/context.ts';
import { field, flagField } from '../operations/list.ts';
import { create, detail, find, list, patch, type Resource, remove, update } from '../operations/resource.ts';
import { isByAdmin } from '../operations/rights.ts';

const CA_SYMBOLS: Symbols<CertificateAuthority> = {
  name: field('name'),
  fingerprint: field('fingerprint'),
  isVerified: flagField('isVerified'),
  verificationToken: field('verificationToken'),
  isAuthEnabled: flagField('isAuthEnabled'),
  isOttCaEnrollmentEnabled: flagField('isOttCaEnrollmentEnabled'),
  isAutoCaEnrollmentEnabled: flagField('isAutoCaEnrollmentEnabled'),
};

export const cas: Resource<'ca', CaDetail, CaBody, never> = {
  kind: 'ca',
  symbols: CA_SYMBOLS,
  create: (transaction, id, body, _prepared, request) => createCa(transaction, id, body, isByAdmin(request)),
  update: (transaction, ca, body, request) => updateCa(transaction, ca, body, isByAdmin(request)),
  remove: deleteCa,
  show: (ca): CaDetail => ({
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

export const caHandlers = {
  listCas: list(cas),
  createCa: create(cas),
  detailCa: detail(cas),
  updateCa: update(cas),
  patchCa: patch(cas),
  deleteCa: remove(cas),
  getCaJwt: caToken,
  verifyCa: verify,
} satisfies Partial<Handlers<'management'>>;

/**
 * A token that names the network and the authority, for clients that enroll with its certificates. It never changes.
 */
async function caToken(request: ApiRequest<'state' | 'tokens'>): Promise<Raw> {
  const { id } = withoutCause(() => find(request, 'ca'));
  return { raw: await request.services.tokens.authority(id), contentType: 'application/jwt' };
}

async function verify(request: ApiRequest<'state'>): Promise<Done> {
  if (!request.body) throw invalid('certificate', 'certificate in body is required', '');
  const { id } = withoutCause(() => find(request, 'ca'));
  if (typeof request.body !== 'string') {
    const message = 'the body has to be a certificate in PEM form, sent as text/plain';
    throw new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message });
  }
  const pem = request.body;
  await request.services.state.change((transaction) => verifyCa(transaction, existing(transaction, 'ca', id), pem));
  return { data: {} };
}
