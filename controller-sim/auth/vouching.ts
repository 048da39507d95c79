// Decides which proofs log administrators in. A permission for signers, authorities or auth policies would otherwise make its owner an administrator: it
// could sign a token or a certificate with the id of one. The rule has two halves:
//
// - A signer or an authority proves something of administrators only after an administrator has created or changed it.
// - Whatever lets administrators in (such a signer or authority, an auth policy of an administrator) is changed by administrators alone.

import { isAdmin } from '../request/access.ts';
import type { Tables } from '../state/tables.ts';
import type { AuthPolicy, Identity, Vouching } from '../state/types.ts';

/** Whether a signer or an authority may prove that a client is this identity. Data of older releases was made by administrators. */
export function mayVouchFor({ vouchesForAdmins = true }: Vouching, identity: Identity): boolean {
  return vouchesForAdmins || !isAdmin(identity);
}

/** Why a login was refused, for the log. */
export const NOT_FOR_ADMINS =
  'login as an administrator refused: no administrator has created or changed what vouches for it; saving it as one lifts this';

/** Whether a policy decides how some administrator logs in. */
export function letsAdminsIn({ identity }: Pick<Tables, 'identity'>, { id }: AuthPolicy): boolean {
  return identity.referring('authPolicyId', id).some(isAdmin);
}
