// Types for logins: the components that they need, and the parts of a request that carry proofs.

import type { X509Certificate } from 'node:crypto';
import type { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Authority } from '../pki/authority.ts';
import type { Tokens } from '../pki/tokens.ts';
import type { CatchUp } from '../state/other-controllers.ts';
import type { State } from '../state/state.ts';
import type { Activity } from './activity.ts';
import type { Lockouts } from './lockouts.ts';
import type { LoginAttempt } from './login-attempt.ts';
import type { CodeGuesses } from './second-factor/code-guesses.ts';
import type { Jwks } from './tokens/jwks.ts';
import type { Revocations } from './tokens/revocations.ts';
import type { UnstoredSessions } from './unstored-sessions.ts';

/** Hashes and compares passwords in constant time. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** `hash` is undefined for an unknown user. */
  verify(password: string, hash: string | undefined, remoteAddress?: string): Promise<boolean>;
}

/** When sessions passed their second factor, in milliseconds: the room posture tracks it. */
export interface PassedFactors {
  stateOf(identityId: string, sessionId: string): { readonly passedMfaAt?: number };
}

export interface AuthServices {
  readonly state: State;
  readonly authority: Authority;
  readonly tokens: Tokens;
  readonly passwords: PasswordHasher;
  readonly lockouts: Lockouts;
  readonly codeGuesses: CodeGuesses;
  readonly jwks: Jwks;
  readonly revocations: Revocations;
  readonly activity: Activity;
  readonly unstored: UnstoredSessions;
  readonly posture: PassedFactors;
  /** Publishes every login, successful or failed. */
  readonly logins: Listeners<LoginAttempt>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Milliseconds. */
  readonly sessionLifetime: number;
}

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface AuthRequest<Services, Body = unknown> {
  readonly services: Services;
  readonly headers: RequestHeaders;
  /** Parsed JSON, or the text of other content types. */
  body: Body;
  /** The chain that the client presents, leaf first. Throws ApiError if an untrusted proxy forwards it. */
  readonly certificates: readonly X509Certificate[];
  /** The edge router whose API proxy forwards the request; undefined for the client's own connection. */
  readonly viaRouter: string | undefined;
  readonly remoteAddress: string;
  /** Set if the changes of other controllers were read for it. */
  caughtUp?: CatchUp | undefined;
}
