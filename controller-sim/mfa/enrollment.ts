// The life of a second factor, wherever it is used: begun, verified, used.

import { baseFields } from '../entities/common.ts';
import type { ApiServices } from '../request/context.ts';
import { ApiError } from '../request/errors.ts';
import type { AuthPolicy, Identity, Mfa } from '../state/types.ts';
import { isPassword, newRecoveryCodes, newSecret, recoveryCode } from './totp.ts';

export function ownMfa({ state }: ApiServices, { id }: Identity): Mfa | undefined {
  return state.tables.mfa.referring('identityId', id)[0];
}

/** Whether who logs in has to give a one-time password: the auth policy wants one, or he has a verified second factor. */
export function owesTotp(services: ApiServices, identity: Identity, { secondary }: AuthPolicy): boolean {
  return secondary.requireTotp || ownMfa(services, identity)?.isVerified === true;
}

/** Begins one. Throws ApiError when there is one already. */
export async function enrollTotp({ state, random }: ApiServices, { id: identityId }: Identity): Promise<Mfa> {
  const secret = await newSecret(random);
  return state.change((transaction) => {
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

/** Whether a code is a password of now, or a recovery code, which is used up by this. Throws ApiError after too many wrong ones. */
export async function takeCode(
  services: ApiServices,
  mfa: Mfa,
  code: string,
  options: { passwordOnly?: boolean } = {},
): Promise<boolean> {
  const { clock, codeGuesses } = services;
  codeGuesses.begin(mfa.id);
  const isRight =
    (await isPassword(mfa, code, clock.now())) ||
    (!options.passwordOnly && (await takeRecoveryCode(services, mfa, code)));
  if (isRight) codeGuesses.wasRight(mfa.id);
  return isRight;
}

async function takeRecoveryCode({ state }: ApiServices, mfa: Mfa, code: string): Promise<boolean> {
  if (recoveryCode(mfa, code) === undefined) return false;
  return state.change((transaction) => {
    const current = transaction.get('mfa', mfa.id);
    const used = current && recoveryCode(current, code);
    if (!current || used === undefined) return false;
    transaction.patch('mfa', mfa.id, { recoveryCodes: current.recoveryCodes.filter((each) => each !== used) });
    return true;
  });
}
