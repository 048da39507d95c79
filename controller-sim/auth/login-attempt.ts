// The outcome of a login, for the login itself and for those that observe logins.

import type { ApiErrorCode } from '../errors/errors.ts';
import type { Authenticator, AuthPolicy, Identity } from '../state/types.ts';

/** The identity that a caller has proven, and by which proof. */
export interface Proven {
  readonly identity: Identity;
  readonly policy: AuthPolicy;
  /** None for the token of another issuer. */
  readonly authenticator?: Authenticator;
  /** Whose token it was. */
  readonly signerId?: string;
  readonly isCertExtendable?: boolean;
  readonly improperClientCertChain?: boolean;
}

/** A login that succeeded (`proven`) or failed (`failure`). */
export interface LoginAttempt {
  readonly method: string;
  readonly remoteAddress: string;
  readonly proven?: Proven;
  readonly failure?: ApiErrorCode;
}
