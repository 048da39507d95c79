// Life cycle of a second factor: enroll, verify, authenticate, remove.

import { baseFields, existing } from '../../entities/common.ts';
import { ApiError } from '../../errors/errors.ts';
import type { AuthPolicy } from '../../state/kinds/auth-policy.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Mfa } from '../../state/kinds/mfa.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { AuthServices } from '../request.ts';
import { newRecoveryCodes, newSecret, recoveryCode, stepOf, useStep } from './totp.ts';

export function ownMfa({ state }: Pick<AuthServices, 'state'>, { id }: Identity): Mfa | undefined {
  return state.tables.mfa.referring('identityId', id)[0];
}

/**
 * Whether a login needs a one-time password: the auth policy requires it, or the identity has a verified second factor.
 */
export function owesTotp(
  services: Pick<AuthServices, 'state'>,
  identity: Identity,
  { secondary }: AuthPolicy,
): boolean {
  return secondary.requireTotp || ownMfa(services, identity)?.isVerified === true;
}

/** Enrolls a second factor. Rejects with ApiError if one exists, or if the identity was deleted meanwhile. */
export async function enrollTotp(
  { state, random }: Pick<AuthServices, 'state' | 'random'>,
  { id: identityId }: Identity,
): Promise<Mfa> {
  const secret = await newSecret(random);
  return state.change((transaction) => {
    existing(transaction, 'identity', identityId);
    if (transaction.tables.mfa.referring('identityId', identityId).length > 0) throw new ApiError('MFA_EXISTS');
    const mfa: Mfa = {
      ...baseFields(transaction, state.ids.long()),
      identityId,
      isVerified: false,
      secret,
      recoveryCodes: newRecoveryCodes(random),
    };
    transaction.put('mfa', mfa);
    return mfa;
  });
}

export interface CodeOptions {
  /** Recovery codes are not accepted. */
  readonly passwordOnly?: boolean;
  /** LOGIN or the id of a session, which may use a one-time password once. Without it the use is not recorded. */
  readonly by?: string;
  /** The action that the code authorizes. It runs in the transaction that uses the code. */
  readonly act?: (transaction: Transaction, mfa: Mfa) => void;
}

/**
 * Checks a one-time password or a recovery code. A recovery code can be used once. A one-time password completes one
 * login and serves one session. Other uses are not recorded: clients of the reference log in with the code that has
 * just verified their enrollment.
 *
 * @returns false for a code that is wrong or was used before, or if the second factor has changed meanwhile
 * @throws ApiError after too many wrong codes
 */
export async function redeemCode(
  services: Pick<AuthServices, 'state' | 'clock' | 'codeGuesses'>,
  mfa: Mfa,
  code: string,
  { passwordOnly = false, by, act }: CodeOptions = {},
): Promise<boolean> {
  const { state, clock, codeGuesses } = services;
  await codeGuesses.begin(mfa.id);
  const step = await stepOf(mfa, code, clock.now());
  const useUp = (transaction: Transaction, current: Mfa): boolean => {
    if (step !== undefined) {
      if (by === undefined) return true;
      const usedSteps = useStep(current, step, { by, now: clock.now() });
      if (usedSteps) transaction.patch('mfa', mfa.id, { usedSteps });
      return usedSteps !== undefined;
    }
    const recovery = passwordOnly ? undefined : recoveryCode(current, code);
    if (recovery === undefined) return false;
    const recoveryCodes = current.recoveryCodes.filter((each) => each !== recovery);
    transaction.patch('mfa', mfa.id, { recoveryCodes });
    return true;
  };
  const isRight = await state.change((transaction) => {
    const current = transaction.get('mfa', mfa.id);
    if (!current || current.secret !== mfa.secret || current.isVerified !== mfa.isVerified) return false;
    if (!useUp(transaction, current)) return false;
    act?.(transaction, current);
    return true;
  });
  if (isRight) codeGuesses.wasRight(mfa.id);
  return isRight;
}

/** Removes a second factor that was never verified, without a code. @returns false if it was verified meanwhile */
export function abandonTotp({ state }: Pick<AuthServices, 'state'>, { id }: Mfa): Promise<boolean> {
  return state.change((transaction) => {
    if (transaction.get('mfa', id)?.isVerified) return false;
    transaction.delete('mfa', id);
    return true;
  });
}
