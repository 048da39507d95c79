// Kinds of third-party authorities and issuers, and auth policies.

import { makeAuthority } from '../clients/certificates.ts';
import { type Kind, type Known, LOGINS, NOTHING, TAGS, UNIQUE, UPDB } from './kind.ts';

const pemOf = async (name: string) => (await makeAuthority(name)).certificate.toString('pem');
const [AUTHORITY, THIRD, OTHER] = [await pemOf('authority'), await pemOf('third'), await pemOf('other')];

export function authorityKinds(ids: Known): Kind[] {
  return [
    {
      path: '/auth-policies',
      create: { name: 'strict', ...LOGINS, tags: TAGS },
      required: ['name', 'primary', 'secondary'],
      patch: { primary: { updb: { minPasswordLength: 12 } } },
      put: {
        name: 'strict 2',
        primary: { ...LOGINS.primary, updb: { ...UPDB, allowed: false } },
        secondary: { requireTotp: true },
      },
      cleared: { tags: {} },
      duplicate: UNIQUE,
      rejections: [
        [{ primary: { updb: UPDB, extJwt: LOGINS.primary.extJwt } }, 400, 'COULD_NOT_VALIDATE', 'primary.cert'],
        [
          { primary: { ...LOGINS.primary, extJwt: { allowed: true, allowedSigners: [NOTHING] } } },
          404,
          'NOT_FOUND',
          'primary.extJwt.allowedExtJwtSigners[0]',
        ],
        [
          { secondary: { requireTotp: false, requireExtJwtSigner: NOTHING } },
          404,
          'NOT_FOUND',
          'secondary.requiredExtJwtSigner',
        ],
      ],
    },
    {
      path: '/cas',
      create: {
        name: 'authority',
        certPem: AUTHORITY,
        isAuthEnabled: true,
        isAutoCaEnrollmentEnabled: true,
        isOttCaEnrollmentEnabled: true,
        identityRoles: ['from-ca'],
        identityNameFormat: '[commonName]',
        externalIdClaim: {
          location: 'SAN_URI',
          matcher: 'SCHEME',
          matcherCriteria: 'spiffe',
          parser: 'SPLIT',
          parserCriteria: '/',
          index: 1,
        },
        tags: TAGS,
      },
      expected: { isVerified: false, verificationToken: /^[0-9a-f-]{36}$/, fingerprint: /^[0-9a-f]{40}$/ },
      required: [
        'certPem',
        'identityRoles',
        'isAuthEnabled',
        'isAutoCaEnrollmentEnabled',
        'isOttCaEnrollmentEnabled',
        'name',
      ],
      // A patch without a claim removes it.
      patch: { isAuthEnabled: false, externalIdClaim: {} },
      put: {
        name: 'authority 2',
        isAuthEnabled: false,
        isAutoCaEnrollmentEnabled: false,
        isOttCaEnrollmentEnabled: false,
        identityRoles: [],
        identityNameFormat: '',
      },
      cleared: { identityRoles: null, identityNameFormat: '[caName]-[commonName]', tags: {} },
      conflicts: [
        [{ name: 'other' }, 400, 'COULD_NOT_VALIDATE', 'certificate already used as CA'],
        [{ certPem: THIRD }, 400, 'COULD_NOT_VALIDATE', 'name must be unique'],
      ],
      rejections: [
        [{ certPem: 'junk' }, 400, 'COULD_NOT_VALIDATE', 'certPem'],
        [
          {
            name: 'x',
            certPem: OTHER,
            externalIdClaim: {
              location: 'MOON',
              matcher: 'ALL',
              matcherCriteria: '',
              parser: 'NONE',
              parserCriteria: '',
              index: 0,
            },
          },
          400,
          'COULD_NOT_VALIDATE',
          'externalIdClaim.location',
        ],
      ],
    },
    {
      path: '/external-jwt-signers',
      create: {
        name: 'issuer',
        issuer: 'https://issuer',
        audience: 'us',
        enabled: true,
        jwksEndpoint: 'https://issuer/keys',
        kid: 'k1',
        claimsProperty: 'email',
        useExternalId: true,
        externalAuthUrl: 'https://issuer/login',
        clientId: 'client',
        scopes: ['openid'],
        targetToken: 'ID',
        enrollToCertEnabled: true,
        enrollAuthPolicyId: ids.authPolicy,
        tags: TAGS,
      },
      required: ['name', 'issuer', 'audience', 'enabled'],
      patch: { enabled: false },
      put: {
        name: 'issuer 2',
        issuer: 'https://issuer2',
        audience: 'a',
        enabled: true,
        jwksEndpoint: 'https://issuer/keys',
      },
      cleared: {
        kid: null,
        claimsProperty: '/sub',
        useExternalId: false,
        clientId: null,
        targetToken: 'ACCESS',
        tags: {},
      },
      duplicate: UNIQUE,
      conflicts: [
        [{ name: 'x', kid: 'x' }, 400, 'COULD_NOT_VALIDATE', 'issuer'],
        [
          { name: 'x', kid: 'x', issuer: '', audience: 'x', enabled: true, jwksEndpoint: 'https://x' },
          400,
          'COULD_NOT_VALIDATE',
          'issuer',
        ],
        [{ name: 'x', issuer: 'x' }, 400, 'COULD_NOT_VALIDATE', 'kid'],
      ],
      rejections: [
        [{ jwksEndpoint: 'not a place' }, 400, 'COULD_NOT_VALIDATE', 'jwksEndpoint'],
        [{ jwksEndpoint: undefined }, 400, 'INVALID_FIELD', 'certPem'],
        [{ certPem: 'x' }, 400, 'INVALID_FIELD', 'jwksEndpoint'],
        [{ jwksEndpoint: undefined, certPem: 'x' }, 400, 'INVALID_CERT_PEM'],
        [
          { name: 'x', issuer: 'x', kid: 'x', enrollAuthPolicyId: NOTHING },
          400,
          'COULD_NOT_VALIDATE',
          'enrollAuthPolicyId',
        ],
      ],
    },
  ];
}
