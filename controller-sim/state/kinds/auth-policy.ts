// Auth policies: the proofs that a login needs.

import type { Named } from '../entity.ts';
import { flag, integer, name, orNull, shape, text, texts } from '../fields.ts';
import { kind } from '../kind.ts';

export interface AuthPolicy extends Named {
  readonly primary: {
    readonly cert: { readonly allowed: boolean; readonly allowExpiredCerts: boolean };
    readonly extJwt: { readonly allowed: boolean; readonly allowedSigners: readonly string[] };
    readonly updb: {
      readonly allowed: boolean;
      readonly minPasswordLength: number;
      readonly maxAttempts: number;
      readonly lockoutDurationMinutes: number;
      readonly requireMixedCase: boolean;
      readonly requireNumberChar: boolean;
      readonly requireSpecialChar: boolean;
    };
  };
  readonly secondary: { readonly requireTotp: boolean; readonly requireExtJwtSigner: string | null };
}

export const authPolicy = kind<AuthPolicy>()({
  plural: 'auth-policies',
  store: 'authPolicies',
  unique: ['name'],
  derived: {
    signers: ({ primary, secondary }) => [
      ...primary.extJwt.allowedSigners,
      ...(secondary.requireExtJwtSigner === null ? [] : [secondary.requireExtJwtSigner]),
    ],
  },
  refers: [
    {
      key: 'primary.extJwt.allowedSigners',
      index: 'signers',
      to: 'externalJwtSigner',
      form: 'ids',
      repair: 'remove',
      onDelete: { field: 'primary.extJwt.allowedSigners', by: 'authPolicy' },
    },
    {
      key: 'secondary.requireExtJwtSigner',
      index: 'signers',
      to: 'externalJwtSigner',
      form: 'id',
      // A missing signer blocks every login; removing the requirement would permit every login.
      repair: 'report',
      onDelete: { field: 'secondary.requireExtJwtSigner', by: 'authPolicy' },
    },
  ],
  fields: {
    name,
    primary: shape({
      cert: shape({ allowed: flag, allowExpiredCerts: flag }),
      extJwt: shape({ allowed: flag, allowedSigners: texts }),
      updb: shape({
        allowed: flag,
        minPasswordLength: integer,
        maxAttempts: integer,
        lockoutDurationMinutes: integer,
        requireMixedCase: flag,
        requireNumberChar: flag,
        requireSpecialChar: flag,
      }),
    }),
    secondary: shape({ requireTotp: flag, requireExtJwtSigner: orNull(text) }),
  },
  isConfigured: true,
});
