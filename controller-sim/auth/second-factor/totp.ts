// Time-based one-time passwords and recovery codes (reference fact: HTTP behaviour, MFA).

import { timingSafeEqual } from 'node:crypto';
import type { Random } from '#lib/random.ts';
import type { Mfa, UsedStep } from '../../state/kinds/mfa.ts';

const PERIOD = 30;
const DIGITS = 6;
/** Accepted time steps before and after the current one. */
const WINDOW = 2;
const SECRET_BYTES = 20;
const RECOVERY_CODES = 20;
const RECOVERY_CODE_LENGTH = 6;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ISSUER = 'edgeweave';

export async function newSecret(random: Random): Promise<string> {
  const { Secret } = await import('otpauth');
  return new Secret({ buffer: new Uint8Array(random.bytes(SECRET_BYTES)).buffer }).base32;
}

export function newRecoveryCodes(random: Random): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    [...random.bytes(RECOVERY_CODE_LENGTH)].map((byte) => BASE32[byte % BASE32.length]).join(''),
  );
}

/** The URL in the QR code for authenticator apps. */
export function provisioningUrl({ secret }: Mfa, name: string): string {
  const label = `${encodeURIComponent(ISSUER)}:${encodeURIComponent(name)}`;
  return `otpauth://totp/${label}?issuer=${encodeURIComponent(ISSUER)}&secret=${secret}`;
}

/** @returns the time step (number of periods since the epoch) of a one-time password that is accepted at `now` (ms) */
export async function stepOf({ secret }: Mfa, code: string, now: number): Promise<number | undefined> {
  const { Secret, TOTP } = await import('otpauth');
  const totp = new TOTP({ secret: Secret.fromBase32(secret), digits: DIGITS, period: PERIOD, algorithm: 'SHA1' });
  if (!/^\d{6}$/.test(code)) return undefined;
  const delta = totp.validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? undefined : currentStep(now) + delta;
}

/** The use of a one-time password for a login. */
export const LOGIN = 'login';

/**
 * A one-time password completes one login, and proves to one session that its owner has the app (RFC 6238, section
 * 5.2). Clients of the reference use the code of a login for the token of their session as well.
 *
 * @param by LOGIN, or the id of the session
 * @returns the uses to remember, at most two for each accepted step; undefined if the code was used before
 */
export function useStep(
  { usedSteps = [] }: Mfa,
  step: number,
  { by, now }: { by: string; now: number },
): readonly UsedStep[] | undefined {
  const isLogin = by === LOGIN;
  const before = usedSteps.find((each) => each.step === step && (each.by === LOGIN) === isLogin);
  if (before) return before.by === by && !isLogin ? usedSteps : undefined;
  return [...usedSteps.filter((each) => each.step >= currentStep(now) - WINDOW), { step, by }];
}

function currentStep(now: number): number {
  return Math.floor(now / 1_000 / PERIOD);
}

/** The matching recovery code, or undefined. The comparison with all codes takes constant time. */
export function recoveryCode({ recoveryCodes }: Mfa, code: string): string | undefined {
  const given = Buffer.from(code);
  let found: string | undefined;
  for (const each of recoveryCodes) {
    const known = Buffer.from(each);
    if (known.length === given.length && timingSafeEqual(known, given)) found = each;
  }
  return found;
}
