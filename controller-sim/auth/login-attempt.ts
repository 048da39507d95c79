// The outcome of a login, for the login itself and for those that observe logins.

import type { ApiErrorCode } from '../errors/errors.ts';
import type { Authenticator, AuthPolicy, Identity } from '../state/types.ts';

/** The identity that a caller has proven, and the proof. */
export interface Proven {
  readonly identity: Identity;
  readonly policy: AuthPolicy;
  /** Undefined for the token of another issuer. */
  readonly authenticator?: Authenticator;
  /** Id of the token's signer. */
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
