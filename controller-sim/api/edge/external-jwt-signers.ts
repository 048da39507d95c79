// External JWT signers. Administrators see every field, clients only those that they need to log in.

import type { ClientExternalJwtSignerDetail, ExternalJwtSignerDetail } from '#schemas/api/gen/answers.ts';
import { createSigner, deleteSigner, type SignerBody, updateSigner } from '../../entities/external-jwt-signer.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { ExternalJwtSigner } from '../../state/kinds/external-jwt-signer.ts';
import { base } from '../answers/references.ts';
import { NEVER, nullWhenEmpty } from '../answers/show.ts';
import type { Handlers } from '../operations/context.ts';
import { field, flagField } from '../operations/list.ts';
import { create, detail, type Listed, list, patch, type Resource, remove, update } from '../operations/resource.ts';
import { isByAdmin } from '../operations/rights.ts';

const SYMBOLS: Symbols<ExternalJwtSigner> = {
  name: field('name'),
  issuer: field('issuer'),
  audience: field('audience'),
  kid: field('kid'),
  fingerprint: field('fingerprint'),
  certPem: field('certPem'),
  commonName: field('commonName'),
  notBefore: { type: 'datetime', get: ({ notBefore }) => dateOrNull(notBefore) },
  notAfter: { type: 'datetime', get: ({ notAfter }) => dateOrNull(notAfter) },
  enabled: flagField('enabled'),
  claimsProperty: field('claimsProperty'),
  useExternalId: flagField('useExternalId'),
  clientId: field('clientId'),
  scopes: { get: () => null }, // reference fact: typed as one text, so a list never matches
  targetToken: field('targetToken'),
  enrollToCertEnabled: flagField('enrollToCertEnabled'),
  enrollToTokenEnabled: flagField('enrollToTokenEnabled'),
  enrollNameClaimsSelector: field('enrollNameClaimsSelector'),
  enrollAttributeClaimsSelector: field('enrollAttributeClaimsSelector'),
  enrollAuthPolicyId: field('enrollAuthPolicyId'),
};

/** reference fact: the list of clients names all fields, but knows only the name and the fields of all entities. */
const CLIENT_SYMBOLS: Symbols<ExternalJwtSigner> = {
  ...Object.fromEntries(Object.keys(SYMBOLS).map((name) => [name, { isOnlyNamed: true }])),
  name: field('name'),
};

/** A signer without a certificate has no dates and answers null. */
function dateOrNull(date: string): Date | null {
  return date === NEVER ? null : new Date(date);
}

export const externalJwtSigners: Resource<'externalJwtSigner', ExternalJwtSignerDetail, SignerBody, never> = {
  kind: 'externalJwtSigner',
  symbols: SYMBOLS,
  create: (transaction, id, body, _prepared, request) => createSigner(transaction, id, body, isByAdmin(request)),
  update: (transaction, signer, body, request) => updateSigner(transaction, signer, body, isByAdmin(request)),
  remove: deleteSigner,
  show: (signer): ExternalJwtSignerDetail => ({
    ...base('externalJwtSigner', signer),
    ...forClients(signer),
    clientId: signer.clientId,
    issuer: signer.issuer,
    enabled: signer.enabled,
    jwksEndpoint: signer.jwksEndpoint,
    certPem: signer.certPem,
    fingerprint: signer.fingerprint,
    commonName: signer.commonName,
    notBefore: signer.notBefore,
    notAfter: signer.notAfter,
    kid: signer.kid,
    claimsProperty: signer.claimsProperty,
    useExternalId: signer.useExternalId,
    enrollAuthPolicyId: signer.enrollAuthPolicyId,
    enrollNameClaimsSelector: signer.enrollNameClaimsSelector,
    ...(signer.enrollAttributeClaimsSelector !== '' && {
      enrollAttributeClaimsSelector: signer.enrollAttributeClaimsSelector,
    }),
  }),
};

export const clientSigners: Listed<'externalJwtSigner', ClientExternalJwtSignerDetail, never> = {
  kind: 'externalJwtSigner',
  symbols: CLIENT_SYMBOLS,
  show: (signer): ClientExternalJwtSignerDetail => ({ ...base('externalJwtSigner', signer), ...forClients(signer) }),
};

function forClients(signer: ExternalJwtSigner) {
  const { name, audience, clientId, externalAuthUrl, scopes, targetToken } = signer;
  return {
    name,
    audience,
    ...(clientId !== null && { clientId }),
    externalAuthUrl,
    scopes: nullWhenEmpty(scopes),
    targetToken,
    ...(signer.enrollToCertEnabled && { enrollToCertEnabled: true }),
    ...(signer.enrollToTokenEnabled && { enrollToTokenEnabled: true }),
  };
}

export const externalJwtSignerHandlers = {
  listExternalJwtSigners: list(externalJwtSigners),
  createExternalJwtSigner: create(externalJwtSigners),
  detailExternalJwtSigner: detail(externalJwtSigners),
  updateExternalJwtSigner: update(externalJwtSigners),
  patchExternalJwtSigner: patch(externalJwtSigners),
  deleteExternalJwtSigner: remove(externalJwtSigners),
} satisfies Partial<Handlers<'management'>>;
