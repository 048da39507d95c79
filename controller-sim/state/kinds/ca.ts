// Third-party certificate authorities.

import type { Vouching } from '../entity.ts';
import { certificates, flag, integer, name, oneOf, optional, orNull, shape, text, texts } from '../fields.ts';
import { kind } from '../kind.ts';

/** The part of a certificate that identifies an external identity. */
export interface ExternalIdClaim {
  readonly location: 'COMMON_NAME' | 'SAN_URI' | 'SAN_EMAIL';
  readonly matcher: 'ALL' | 'PREFIX' | 'SUFFIX' | 'SCHEME';
  readonly matcherCriteria: string;
  readonly parser: 'NONE' | 'SPLIT';
  readonly parserCriteria: string;
  readonly index: number;
}

/** A third-party authority whose certificates identities may enroll and log in with. */
export interface CertificateAuthority extends Vouching {
  readonly certPem: string;
  readonly fingerprint: string;
  readonly isVerified: boolean;
  readonly verificationToken: string;
  readonly isAuthEnabled: boolean;
  readonly isAutoCaEnrollmentEnabled: boolean;
  readonly isOttCaEnrollmentEnabled: boolean;
  readonly identityRoles: readonly string[];
  readonly identityNameFormat: string;
  readonly externalIdClaim: ExternalIdClaim | null;
}

export const ca = kind<CertificateAuthority>()({
  words: 'certificate authority',
  plural: 'cas',
  store: 'cas',
  unique: ['name', 'fingerprint'],
  // A verified authority has no `verify` link. Its token is for clients that enroll without an administrator.
  lists: ({ isVerified, isAutoCaEnrollmentEnabled }) => [
    ...(isAutoCaEnrollmentEnabled ? ['jwt'] : []),
    ...(isVerified ? [] : ['verify']),
  ],
  isReferredWithLists: true,
  fields: {
    name,
    vouchesForAdmins: optional(flag),
    certPem: certificates,
    fingerprint: text,
    isVerified: flag,
    verificationToken: text,
    isAuthEnabled: flag,
    isAutoCaEnrollmentEnabled: flag,
    isOttCaEnrollmentEnabled: flag,
    identityRoles: texts,
    identityNameFormat: text,
    externalIdClaim: orNull(
      shape({
        location: oneOf('COMMON_NAME', 'SAN_URI', 'SAN_EMAIL'),
        matcher: oneOf('ALL', 'PREFIX', 'SUFFIX', 'SCHEME'),
        matcherCriteria: text,
        parser: oneOf('NONE', 'SPLIT'),
        parserCriteria: text,
        index: integer,
      }),
    ),
  },
  isConfigured: true,
});
