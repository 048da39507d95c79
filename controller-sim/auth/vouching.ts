// Decides which proofs log administrators in. A permission for signers, authorities or auth policies would otherwise make its owner an administrator: it
// could sign a token or a certificate with the id of one. The rule has three parts:
//
// - A signer or an authority proves something about administrators only if an administrator was the last to create or change it.
// - Only administrators change an auth policy of an administrator.
// - An edge router proves nothing about administrators when it passes on the certificate of a client.

import type { Tables } from '../state/tables.ts';
import type { AuthPolicy, Identity, Vouching } from '../state/types.ts';
import { isAdmin } from './permissions.ts';

/**
 * Whether a signer or an authority may vouch for this identity. Records without the flag were created by
 * administrators.
 */
export function mayVouchFor({ vouchesForAdmins = true }: Vouching, identity: Identity): boolean {
  return vouchesForAdmins || !isAdmin(identity);
}

/** Log message for a rejected login of an administrator. */
export const NOT_FOR_ADMINS =
  'rejected an administrator login: a caller without administrator rights last changed the signer or authority; review it and save it as an administrator';

/**
 * Log message for a login through a router's API proxy. Otherwise a router's certificate would be equivalent to any
 * administrator's.
 */
export const NOT_THROUGH_ROUTERS =
  'rejected an administrator login: the API proxy of an edge router forwarded the certificate; log in at the controller';

/** Whether the policy decides how an administrator logs in. */
export function letsAdminsIn({ identity }: Pick<Tables, 'identity'>, { id }: AuthPolicy): boolean {
  return identity.referring('authPolicyId', id).some(isAdmin);
}
