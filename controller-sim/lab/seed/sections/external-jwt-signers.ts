// Issuers of tokens outside of the network.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { Body } from '../../../entities/body.ts';
import { createSigner, updateSigner } from '../../../entities/external-jwt-signer.ts';
import type { Entry, Refer, Section } from '../section.ts';

export const externalJwtSigners: Section<'externalJwtSigner'> = {
  kind: 'externalJwtSigner',
  bodyType: 'externalJwtSignerCreate',
  // The auth policy of its enrollments may be one of the seed, which may refer to the signer: see apply.ts.
  body: ({ enrollAuthPolicyId, enrollToCertEnabled, enrollToTokenEnabled, ...entry }) => entry,
  create: (transaction, id, body) => createSigner(transaction, id, body, true),
  update: (transaction, signer, body) => updateSigner(transaction, signer, body, true),
  entry: (signer, names) => ({
    audience: signer.audience,
    certPem: signer.certPem,
    claimsProperty: signer.claimsProperty,
    clientId: signer.clientId,
    enabled: signer.enabled,
    enrollAttributeClaimsSelector: signer.enrollAttributeClaimsSelector || null,
    // As the reference writes it; every network has this policy under this id.
    enrollAuthPolicyId:
      signer.enrollAuthPolicyId === 'default' ? 'default' : names.one('authPolicy', signer.enrollAuthPolicyId),
    enrollNameClaimsSelector: signer.enrollNameClaimsSelector,
    enrollToCertEnabled: signer.enrollToCertEnabled,
    enrollToTokenEnabled: signer.enrollToTokenEnabled,
    externalAuthUrl: signer.externalAuthUrl,
    issuer: signer.issuer,
    jwksEndpoint: signer.jwksEndpoint,
    kid: signer.kid,
    scopes: signer.scopes,
    targetToken: signer.targetToken,
    useExternalId: signer.useExternalId,
  }),
};

/** The signer's part that refers to an auth policy; undefined without one. */
export function signerEnrollment(entry: Entry, refer: Refer): Body | undefined {
  const { enrollAuthPolicyId, enrollToCertEnabled, enrollToTokenEnabled } = withoutNulls(entry);
  const fields = withoutNulls({ enrollAuthPolicyId, enrollToCertEnabled, enrollToTokenEnabled });
  if (Object.keys(fields).length === 0) return undefined;
  const isName = typeof enrollAuthPolicyId === 'string' && enrollAuthPolicyId.startsWith('@');
  const policy = isName && { enrollAuthPolicyId: refer('authPolicy', enrollAuthPolicyId, ['enrollAuthPolicyId']) };
  return new Body({ ...fields, ...policy }, 'patch');
}
