// Decides which proofs log administrators in. A permission for signers, authorities or auth policies would otherwise make its owner an administrator: it
// could sign a token or a certificate with the id of one. The rule has three parts:
//
// - A signer or an authority proves something about administrators only if an administrator was the last to create or change it.
// - Only administrators change an auth policy of an administrator.
// - An edge router proves nothing about administrators when it passes on the certificate of a client.

import type { Tables } from '../state/tables.ts';
import type { AuthPolicy, Identity, Vouching } from '../state/types.ts';
import { isAdmin } from './permissions.ts';

/** Whether a signer or an authority may prove that a client is this identity. Data of older releases was made by administrators. */
export function mayVouchFor({ vouchesForAdmins = true }: Vouching, identity: Identity): boolean {
  return vouchesForAdmins || !isAdmin(identity);
}

/** Why a login was refused, for the log. */
export const NOT_FOR_ADMINS =
  'login as an administrator refused: a caller with a permission was the last to change what vouches for it; check it and save it as an administrator';

/** Why a login through the API proxy of a router was refused: its certificate would otherwise be as good as every administrator's. */
export const NOT_THROUGH_ROUTERS =
  'login as an administrator refused: its certificate came through the API proxy of an edge router; log in at the controller';

/** Whether a policy decides how some administrator logs in. */
export function letsAdminsIn({ identity }: Pick<Tables, 'identity'>, { id }: AuthPolicy): boolean {
  return identity.referring('authPolicyId', id).some(isAdmin);
}
