// The outcome of a login, for the login itself and for those that observe logins.

import type { ApiErrorCode } from '../errors/errors.ts';
import type { AuthPolicy } from '../state/kinds/auth-policy.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import type { Identity } from '../state/kinds/identity.ts';

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
