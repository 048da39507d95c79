// Issuers of tokens outside of the network.

import type { Vouching } from '../entity.ts';
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
      mend: { put: 'default' },
      onDelete: { field: 'enrollAuthPolicyId', by: 'externalJwtSigner' },
    },
  ],
  isConfigured: true,
});
