// Sessions of logins.

import type { Entity } from '../entity.ts';
import { kind } from '../kind.ts';

export interface ApiSession extends Entity {
  readonly token: string;
  readonly identityId: string;
  /** Empty if the proof was a token of another issuer. */
  readonly authenticatorId: string;
  /** Ids of config types, or `all`. */
  readonly configTypes: readonly string[];
  readonly ipAddress: string;
  readonly lastActivityAt: string;
  /** Fingerprints of the certificates to which the session is bound. */
  readonly fingerprints: readonly string[];
  /** Whether the session requires a one-time password; `isMfaComplete` says whether it was given. */
  readonly isMfaRequired: boolean;
  readonly isMfaComplete: boolean;
  /** The signer whose token must accompany this session; null if none is required. */
  readonly requiredSignerId: string | null;
  /** The login used a certificate of this network. */
  readonly isCertExtendable: boolean;
  readonly improperClientCertChain: boolean;
}

export const apiSession = kind<ApiSession>()({
  plural: 'api-sessions',
  store: 'apiSessions',
  unique: ['token'],
  references: ['authenticatorId'],
  refers: [{ key: 'identityId', to: 'identity', form: 'id', repair: 'delete', onDelete: 'delete' }],
  secrets: ['token'],
  lists: ['sessions'],
  isReferredWithLists: true,
});
