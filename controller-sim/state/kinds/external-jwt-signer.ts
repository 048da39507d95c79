// Issuers of tokens outside of the network.

import type { Vouching } from '../entity.ts';
import { certificates, flag, name, oneOf, optional, orNull, text, texts } from '../fields.ts';
import { kind } from '../kind.ts';

export interface ExternalJwtSigner extends Vouching {
  readonly issuer: string;
  readonly audience: string;
  readonly enabled: boolean;
  /** Address of its keys; the alternative is a certificate. */
  readonly jwksEndpoint: string | null;
  readonly certPem: string | null;
  readonly fingerprint: string | null;
  readonly commonName: string;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly kid: string | null;
  readonly claimsProperty: string;
  readonly useExternalId: boolean;
  readonly externalAuthUrl: string | null;
  readonly clientId: string | null;
  readonly scopes: readonly string[];
  readonly targetToken: 'ACCESS' | 'ID';
  readonly enrollToCertEnabled: boolean;
  readonly enrollToTokenEnabled: boolean;
  readonly enrollAuthPolicyId: string;
  readonly enrollNameClaimsSelector: string;
  readonly enrollAttributeClaimsSelector: string;
}

export const externalJwtSigner = kind<ExternalJwtSigner>()({
  words: 'external JWT signer',
  plural: 'external-jwt-signers',
  store: 'externalJwtSigners',
  unique: ['name', 'issuer', 'kid', 'fingerprint'],
  refers: [
    {
      key: 'enrollAuthPolicyId',
      to: 'authPolicy',
      form: 'id',
      repair: { put: 'default' },
      onDelete: { field: 'enrollAuthPolicyId', by: 'externalJwtSigner' },
    },
  ],
  fields: {
    name,
    vouchesForAdmins: optional(flag),
    issuer: text,
    audience: text,
    enabled: flag,
    jwksEndpoint: orNull(text),
    certPem: orNull(certificates),
    fingerprint: orNull(text),
    commonName: text,
    notBefore: text,
    notAfter: text,
    kid: orNull(text),
    claimsProperty: text,
    useExternalId: flag,
    externalAuthUrl: orNull(text),
    clientId: orNull(text),
    scopes: texts,
    targetToken: oneOf('ACCESS', 'ID'),
    enrollToCertEnabled: flag,
    enrollToTokenEnabled: flag,
    enrollAuthPolicyId: text,
    enrollNameClaimsSelector: text,
    enrollAttributeClaimsSelector: text,
  },
  demand: ({ jwksEndpoint, certPem }) =>
    (jwksEndpoint === null) === (certPem === null) ? 'it needs either jwksEndpoint or certPem' : undefined,
  isConfigured: true,
});
