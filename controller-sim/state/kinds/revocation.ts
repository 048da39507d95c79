// Revocations of tokens.

import type { Entity } from '../entity.ts';
import { kind } from '../kind.ts';

/** Tokens revoked before they expire. */
export interface Revocation extends Entity {
  readonly type: 'JTI' | 'IDENTITY' | 'API_SESSION';
  readonly expiresAt: string;
  /** Until then, the refresh token with this id is still accepted. Nobody revoked it: its client used it. */
  readonly reusableUntil?: string;
}

export const revocation = kind<Revocation>()({
  plural: 'revocations',
  store: 'revocations',
});
