// Second factors: the secret of an app for one-time passwords, and recovery codes.

import type { Entity } from '../entity.ts';
import { flag, integer, listOf, optional, shape, text, texts } from '../fields.ts';
import { kind } from '../kind.ts';

/** The use of a one-time password. */
export interface UsedStep {
  /** Periods of the clock since the epoch. */
  readonly step: number;
  /** `login`, or the id of the session that has a token for it. */
  readonly by: string;
}

export interface Mfa extends Entity {
  readonly identityId: string;
  readonly isVerified: boolean;
  /** Base32; leaves the process only in its owner's provisioning URL. */
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  /** Used one-time passwords that would still be accepted. Missing in older data. */
  readonly usedSteps?: readonly UsedStep[];
}

export const mfa = kind<Mfa>()({
  singular: 'MFA enrollment',
  plural: 'mfas',
  store: 'mfas',
  refers: [{ key: 'identityId', to: 'identity', form: 'id', repair: 'delete', onDelete: 'delete' }],
  secrets: ['secret', 'recoveryCodes'],
  fields: {
    identityId: text,
    isVerified: flag,
    secret: text,
    recoveryCodes: texts,
    usedSteps: optional(listOf(shape({ step: integer, by: text }))),
  },
  isConfigured: true,
});
