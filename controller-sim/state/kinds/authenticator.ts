// Proofs with which an identity logs in: a password, a certificate.

import type { Entity } from '../entity.ts';
import { certificates, flag, oneOf, optional, orNull, text, time } from '../fields.ts';
import { kind } from '../kind.ts';

export interface Authenticator extends Entity {
  readonly method: 'updb' | 'cert';
  readonly identityId: string;
  readonly username: string | null;
  /** Argon2id hash in text form; never leaves the process. */
  readonly passwordHash: string | null;
  readonly certPem: string | null;
  readonly fingerprint: string | null;
  readonly isIssuedByNetwork: boolean;
  /** The third-party authority that vouched for the certificate when it was added; missing in older data. */
  readonly caId?: string | null;
  /** An administrator requested a renewal of the certificate, optionally with a new key. */
  readonly isExtendRequested: boolean;
  readonly isKeyRollRequested: boolean;
  readonly extendRequestedAt: string | null;
  readonly lastExtendRolledKeys: boolean;
  readonly lastAuthResolvedToRoot: boolean;
  /** A new certificate that was issued and that its owner has not yet presented. */
  readonly unverifiedCertPem: string | null;
}

export const authenticator = kind<Authenticator>()({
  plural: 'authenticators',
  store: 'authenticators',
  unique: ['username', 'fingerprint'],
  refers: [{ key: 'identityId', to: 'identity', form: 'id', repair: 'delete', onDelete: 'delete' }],
  secrets: ['passwordHash'],
  fields: {
    method: oneOf('updb', 'cert'),
    identityId: text,
    username: orNull(text),
    passwordHash: orNull(text),
    certPem: orNull(certificates),
    fingerprint: orNull(text),
    isIssuedByNetwork: flag,
    caId: optional(orNull(text)),
    isExtendRequested: flag,
    isKeyRollRequested: flag,
    extendRequestedAt: orNull(time),
    lastExtendRolledKeys: flag,
    lastAuthResolvedToRoot: flag,
    unverifiedCertPem: orNull(certificates),
  },
  isConfigured: true,
});
