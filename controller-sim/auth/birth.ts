// The token of a session names the index of the data that contains the session, if several controllers share the data.
// A controller whose data has a lower index must not reject the token: the session may exist.

import type { State } from '../state/state.ts';
import type { Transaction } from '../state/transaction.ts';

/** The claim in tokens of the OIDC API. Its name does not occur in the reference. */
export const BIRTH_CLAIM = 'z_edi';
/** Index at the end of an opaque token. */
const OPAQUE = /^[\da-f]{64}-(\d{1,19})$/;
/** Characters of the claims of a token, beyond which none are looked for. */
const MAX_CLAIMS_LENGTH = 64 * 1024;

/** The token of a session that `transaction` stores. */
export function newSessionToken({ state }: { readonly state: State }, transaction: Transaction): string {
  const secret = state.ids.secret();
  return state.others ? `${secret}-${transaction.index}` : secret;
}

/** The claims of a token that is signed now. */
export function birthClaims(state: State): { readonly [BIRTH_CLAIM]?: number } {
  return state.others ? { [BIRTH_CLAIM]: Number(state.index) } : {};
}

/** The newest birth of tokens, which may be forged; 0 if none names one. */
export function birthOf(tokens: readonly string[]): bigint {
  let newest = 0n;
  for (const birth of tokens.map(birthOfToken)) if (birth > newest) newest = birth;
  return newest;
}

function birthOfToken(token: string): bigint {
  const [, opaque] = OPAQUE.exec(token) ?? [];
  if (opaque !== undefined) return BigInt(opaque);
  const [, claims = '', signature] = token.split('.', 3);
  if (signature === undefined || claims.length > MAX_CLAIMS_LENGTH) return 0n;
  try {
    const birth: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString())?.[BIRTH_CLAIM];
    return typeof birth === 'number' && Number.isSafeInteger(birth) && birth > 0 ? BigInt(birth) : 0n;
  } catch {
    return 0n; // another kind of token
  }
}
